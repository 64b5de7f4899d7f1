"""What has to be known of a client to point it at Clew."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import ClassVar, TypeAlias

from clew.connect import jsontext
from clew.jsonio import Json

Env: TypeAlias = Mapping[str, str]
_NONE: Env = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Once:
    """A command line for one process: its arguments, what its environment has more, and files it needs by name."""

    arguments: tuple[str, ...]
    environment: Env = field(default_factory=lambda: _NONE)
    files: Env = field(default_factory=lambda: _NONE)


class Client(ABC):
    """One client. Texts are its setting file's; nothing here reads or writes."""

    name: ClassVar[str]
    title: ClassVar[str]
    program: ClassVar[str]

    @abstractmethod
    def path(self, env: Env) -> Path:
        """Its setting file, for the user whose environment this is."""

    @abstractmethod
    def connected(self, text: str, url: str, env: Env) -> str:
        """The text with Clew's base URL; raises ConfigError for one that can't be edited."""

    @abstractmethod
    def disconnected(self, text: str, before: str) -> str:
        """The text with what `connected` set as it was in `before`; everything else stays."""

    @abstractmethod
    def bases(self, text: str) -> tuple[str, ...]:
        """The base URLs that the text sets; empty where it leaves the client to its provider."""

    @abstractmethod
    def once(self, arguments: Sequence[str], url: str, env: Env, text: str, folder: Path) -> Once:
        """`arguments` (the program first) pointed at Clew for one process; `text` is the setting file's, `folder` where
        its files may lie.
        """

    def notes(self, text: str) -> tuple[str, ...]:
        """What the user should know: settings that go past the one that is written."""
        del text
        return ()


class JsonClient(Client):
    """A client whose settings are JSON, with or without comments."""

    @abstractmethod
    def values(self, url: str) -> Iterable[tuple[tuple[str, ...], str]]:
        """What is set: places in the file and their values."""

    def connected(self, text: str, url: str, env: Env) -> str:
        del env
        for path, value in self.values(url):
            text = jsontext.put(text, path, value)
        return text

    def disconnected(self, text: str, before: str) -> str:
        was = jsontext.read(before)
        for path, _ in self.values(""):
            old = at(was, path)
            if old is not None:
                text = jsontext.put(text, path, old)
            else:
                text = jsontext.remove(text, path)
                for n in range(len(path) - 1, 0, -1):  # objects that were made for it
                    if at(jsontext.read(text), path[:n]) == {} and at(was, path[:n]) is None:
                        text = jsontext.remove(text, path[:n])
        return text

    def bases(self, text: str) -> tuple[str, ...]:
        value = jsontext.read(text)
        return tuple(v for path, _ in self.values("") if isinstance(v := at(value, path), str) and v)


def at(value: Json, path: Sequence[str]) -> Json:
    """What stands at a path of keys; None where nothing does."""
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def home(env: Env) -> Path:
    """The user's home folder."""
    return Path(env["HOME"]) if env.get("HOME") else Path.home()

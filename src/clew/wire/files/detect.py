"""Which kind of session file is this: by what is in it, never by its name."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice

from clew import jsonio
from clew.errors import InputError
from clew.jsonio import Json
from clew.wire.files import chat, claude_code, codex, sharegpt
from clew.wire.files.source import Source, lenient

FORMATS = (claude_code.FORMAT, codex.FORMAT, chat.FORMAT, "openai-responses", "anthropic", sharegpt.FORMAT)
_LINES = 50  # looked at before giving up
_KNOWN = f"Clew reads {', '.join(FORMATS)}: name one where it can't be told"


@dataclass(frozen=True, slots=True)
class Kind:
    """The format's family, and whether the file is one JSON document or a value a line. `wire` is what it was named."""

    family: str  # claude-code, codex, chat, sharegpt
    document: bool
    wire: str = ""


def kind(source: Source, named: str | None) -> Kind:
    """What the file is; InputError where it can't be told, or is not what it was named."""
    if named is not None and named not in FORMATS:
        raise InputError(f"no session file format is called {named!r}", hint=f"one of {', '.join(FORMATS)}")
    found, broken = _of_lines(source)
    if named in {claude_code.FORMAT, codex.FORMAT}:
        if found is not None and found.family != named:
            raise InputError(
                f"{source.path} is no {named} file, it looks like {found.family}", hint="leave the name out"
            )
        return Kind(named, document=False)
    if named is not None:
        family = "sharegpt" if named == sharegpt.FORMAT else "chat"
        if found is not None and found.family in {claude_code.FORMAT, codex.FORMAT}:
            raise InputError(
                f"{source.path} is no {named} file, it looks like {found.family}", hint="leave the name out"
            )
        if broken:
            raise broken
        document = found.document if found is not None else _begins_as_document(source)
        return Kind(family, document, named if family == "chat" else "")
    if broken:
        raise broken
    if found is None:
        raise InputError(f"{source.path} is no session file in any known format", hint=_KNOWN)
    return found


def _of_lines(source: Source) -> tuple[Kind | None, InputError | None]:
    """What the file's first lines, or all of it as one document, look like; why it is none where it begins as one."""
    if source.size == 0:
        raise InputError(f"{source.path} is empty", hint="nothing was written to it yet")
    if source.at(0, 2) in {b"\xff\xfe", b"\xfe\xff"}:
        raise InputError(f"{source.path} is UTF-16", hint="save it as UTF-8")
    blank = True
    first_fails = False
    plain: Kind | None = None
    for i, line in enumerate(islice(source.lines(), _LINES)):
        blank = False
        try:
            value, _ = lenient(line.raw)
        except ValueError:
            first_fails = first_fails or i == 0
            continue
        if claude_code.looks_like(value):
            return Kind(claude_code.FORMAT, document=False), None
        if codex.looks_like(value):
            return Kind(codex.FORMAT, document=False), None
        plain = plain or _plain(value, document=False)
    broken = None
    if first_fails or plain is None:
        # A document over several lines; its inner lines may look like messages, so it is tried before them.
        whole, broken = _of_document(source)
        plain = whole or plain
    if plain is None and blank and source.size <= source.limits.line:
        raise InputError(f"{source.path} holds nothing but blank lines", hint="nothing was written to it yet")
    return plain, broken if plain is None else None


def _begins_as_document(source: Source) -> bool:
    return source.at(0, 4096).lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in {b"{", b"["}


def _of_document(source: Source) -> tuple[Kind | None, InputError | None]:
    if not _begins_as_document(source):
        return None, None
    try:
        return _plain(source.document(), document=True), None
    except jsonio.TooDeep:
        return None, InputError(f"{source.path} is nested too deeply", hint="no provider takes such a body")
    except ValueError as e:
        why = str(e).partition(";")[0]
        return None, InputError(
            f"{source.path} is cut off or no JSON: {why}", hint="is it whole? A log has one JSON value on each line"
        )


def _plain(value: Json, *, document: bool) -> Kind | None:
    if sharegpt.looks_like(value) or (isinstance(value, list) and value and sharegpt.looks_like(value[0])):
        return Kind("sharegpt", document=document)
    return Kind("chat", document=document) if chat.looks_like(value) else None

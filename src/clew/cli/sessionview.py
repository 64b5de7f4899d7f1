"""What the commands about stored sessions share: finding one by the beginning of its id, and how one is shown."""

from __future__ import annotations

import json
import time

import typer

from clew.errors import InputError, NotFound
from clew.recall.browse import preview
from clew.redact import redact
from clew.store.base import Store
from clew.store.records import Session, SessionFilter

_FIELDS = (
    "id", "source", "model", "workspace", "kind", "parent", "root", "shared", "length", "created", "updated", "end_reason",
)  # fmt: skip
_SHORT = 60  # characters of how a conversation began, where it has no title


def named(store: Store, text: str) -> Session:
    """The session of an id, or of the only one that begins so."""
    try:
        return store.session(text)
    except NotFound:
        found = store.sessions(SessionFilter(id_prefix=text), limit=3) if text else ()
        if len(found) == 1:
            return found[0]
        if found:
            raise InputError(f"{text!r} begins several ids", hint=", ".join(s.id for s in found)) from None
        raise


def line(s: Session, began: str = "") -> str:
    """One line of a list; `began` stands where there is no title."""
    when = time.strftime("%Y-%m-%d %H:%M", time.localtime(s.updated))
    state = f"  [{s.end_reason}]" if s.end_reason else ""
    title = redact(s.title) if s.title else began or "-"
    return f"{s.id}  {when}  {s.length:>6}  {s.source or '-':<10} {title}{state}"


def began(store: Store, s: Session) -> str:
    """How an untitled conversation began, in a few words."""
    if s.title:
        return ""
    text = preview(store, s)
    return f"“{text[: _SHORT - 1]}…”" if len(text) > _SHORT else f"“{text}”" if text else ""


def value(s: Session) -> dict[str, object]:
    return {f: getattr(s, f) for f in _FIELDS} | {"title": redact(s.title), "goal": redact(s.goal)}


def print_json(found: object) -> None:
    typer.echo(json.dumps(found, indent=2, ensure_ascii=False))

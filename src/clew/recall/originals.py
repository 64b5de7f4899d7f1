"""What a reference stands for: whole, or some of its lines."""

from __future__ import annotations

import re
from dataclasses import dataclass

from clew.errors import InputError, UnknownReference
from clew.redact import redact
from clew.store.addresses import parse
from clew.store.base import Store
from clew.transcript import REFERENCE

_RANGE = re.compile(r"\s*(\d*)\s*(-?)\s*(\d*)\s*")


@dataclass(frozen=True, slots=True)
class Recalled:
    """`text` is lines `first` to `last`, counted from 1, of `total`; 0 to 0 where there is none."""

    reference: str
    text: str
    first: int
    last: int
    total: int


def recall(
    store: Store, reference: str, *, lines: str = "", raw: bool = False, look_elsewhere: bool = False
) -> Recalled:
    """The original, masked unless `raw`: what leaves the store may end in a prompt or a log.

    `lines` is `7`, `7-20`, `7-` or `-20`. With `look_elsewhere` the error for an unknown reference says where another
    tenant has it; leave it off where tenants must not learn of one another.
    """
    try:
        original = store.original(reference)
    except UnknownReference:
        other = _elsewhere(store, reference) if look_elsewhere else None
        if other is None:
            raise
        name = f"tenant {other!r}" if other else "the tenant without a name"
        raise UnknownReference(
            f"{REFERENCE}{parse(reference)} belongs to {name}", hint="ask for that tenant: --tenant NAME"
        ) from None
    text = original.text if raw else redact(original.text, force=True)
    rows = text.splitlines(keepends=True)
    first, last = line_span(lines, len(rows))
    return Recalled(REFERENCE + original.address, "".join(rows[max(0, first - 1) : last]), first, last, len(rows))


def _elsewhere(store: Store, reference: str) -> str | None:
    for tenant in store.tenants():
        if tenant != store.tenant:
            other = store.for_tenant(tenant)
            try:
                other.original(reference)
            except UnknownReference:
                continue
            finally:
                other.close()
            return tenant
    return None


def line_span(lines: str, total: int) -> tuple[int, int]:
    """The first and last line that `lines` asks for of a text of `total`, counted from 1; all of them where it is empty."""
    if not lines.strip():
        return (1, total) if total else (0, 0)
    found = _RANGE.fullmatch(lines)
    if not found or not (found[1] or found[3]):
        raise InputError(f"{lines!r} is no range of lines", hint="7, 7-20, 7- or -20")
    first = int(found[1] or 1)
    last = int(found[3]) if found[3] else total if found[2] else first
    if not 1 <= first <= last:
        raise InputError(f"{lines!r} is no range of lines", hint="they count from 1, the first number first")
    if first > total:
        raise InputError(f"there is no line {first}", hint=f"the original has {total}")
    return first, min(last, total)

"""From one store into another, of whatever kind."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from clew.errors import Conflict, NotFound
from clew.store.base import Store
from clew.store.records import Session


@dataclass(frozen=True, slots=True)
class Copied:
    """One session and whether it was there already."""

    session: Session
    new: bool


def copy(source: Store, target: Store, tenants: Sequence[str] | None = None) -> Iterator[Copied]:
    """Every session of these tenants (all, where not given), parents first. What is there already is passed over, so a
    copy that was broken off goes on where it was; a session that is there with other messages is a Conflict.
    """
    for tenant in source.tenants() if tenants is None else tenants:
        ours, theirs = source.for_tenant(tenant), target.for_tenant(tenant)
        for session in ours.walk():
            try:
                there = theirs.session(session.id)
            except NotFound:
                theirs.load(ours.dump(session.id))
                yield Copied(session, new=True)
                continue
            if (there.length, there.chain) != (session.length, session.chain):
                raise Conflict(
                    f"{session.id!r} is in {target.url} with other messages", hint="delete or rename it there"
                )
            yield Copied(session, new=False)

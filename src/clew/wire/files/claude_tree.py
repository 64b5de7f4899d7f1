"""Which lines of a Claude Code file are the conversation: the active branch of the tree that `parentUuid` spans.

A line's parent is the line before it, so an abandoned branch (a prompt that was edited and sent again) hangs beside the
active one. But parallel tool calls fork the tree too, and both prongs were sent: those are gathered again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(slots=True, eq=False)
class Node:
    """What is remembered of a line while the tree is looked at; the line itself is read again by its offset."""

    line: int
    offset: int
    length: int
    kind: str  # user, assistant, queued, boundary, micro, other
    uuid: str
    parent: str
    logical: str = ""
    message_id: str = ""
    calls: tuple[str, ...] = ()
    results: tuple[str, ...] = ()
    side: str = ""
    summary: bool = False
    kept: tuple[str, str] = ("", "")  # of a boundary: the first and last line that stayed in view

    @property
    def spoken(self) -> bool:
        return self.kind in {"user", "assistant", "queued"}


@dataclass(slots=True)
class Branch:
    """The active branch in the file's order. `torn` are the lines whose parent is not in the file, where the branch goes
    on with the line before; `cycle` is the line whose parent comes after it, 0 where there is none.
    """

    nodes: list[Node]
    torn: list[int]
    cycle: int = 0


def active(nodes: Sequence[Node]) -> Branch:
    """The branch that ends with the last spoken line."""
    by_uuid = {n.uuid: n for n in nodes}
    earlier: dict[str, Node | None] = {}  # the spoken line before each
    leaf = None
    for n in nodes:
        earlier[n.uuid] = leaf
        leaf = n if n.spoken else leaf
    chosen: set[str] = set()
    torn: list[int] = []
    cycle = 0
    node = leaf
    while node is not None:
        chosen.add(node.uuid)
        before = by_uuid.get(node.parent) or by_uuid.get(node.logical)
        if before is None and (node.parent or node.logical or node.summary or node.kind == "boundary"):
            before = earlier[node.uuid]
            if before is not None and not node.summary and node.kind != "boundary":
                torn.append(node.line)
        if before is not None and before.uuid in chosen:
            cycle = node.line
            before = None
        node = before
    _gather(nodes, by_uuid, chosen)
    return Branch([n for n in nodes if n.uuid in chosen], torn, cycle)


def _gather(nodes: Iterable[Node], by_uuid: dict[str, Node], chosen: set[str]) -> None:
    """Adds what was sent with the branch but hangs beside it: blocks of the same message, results of its calls, and
    compactions whose preserved messages link past them.
    """
    ids = {n.message_id for n in nodes if n.uuid in chosen and n.message_id}
    calls = {c for n in nodes if n.uuid in chosen for c in n.calls}
    answered = {c for n in nodes if n.uuid in chosen for c in n.results}
    hangs_on: dict[str, str] = {}  # the nearest ancestor that could be sent; a parent stands before its children
    for n in nodes:
        parent = by_uuid.get(n.parent)
        if parent is not None:
            real = parent.spoken or parent.kind == "boundary" or parent.uuid in chosen
            hangs_on[n.uuid] = parent.uuid if real else hangs_on.get(parent.uuid, "")
        if n.uuid in chosen:
            continue
        if n.kind == "boundary" and n.kept[1] in chosen:
            chosen.add(n.uuid)
            continue
        if not (n.spoken and hangs_on.get(n.uuid) in chosen):
            continue
        same_message = n.kind == "assistant" and n.message_id in ids and not calls.intersection(n.calls)
        answers = bool(n.results) and calls.issuperset(n.results) and not answered.intersection(n.results)
        if same_message or answers or n.summary:
            chosen.add(n.uuid)
            calls.update(n.calls)
            answered.update(n.results)


def chains(nodes: Sequence[Node]) -> dict[str, list[Node]]:
    """Side chains by name: the agent's id where the file gives one, else the id of the line it started with."""
    by_uuid = {n.uuid: n for n in nodes}
    root_of: dict[str, str] = {}
    found: dict[str, list[Node]] = {}
    for node in nodes:
        name = node.side
        if name == "-":
            name = root_of[node.uuid] = _root(node, by_uuid, root_of)
        found.setdefault(name, []).append(node)
    return found


def _root(node: Node, by_uuid: dict[str, Node], root_of: dict[str, str]) -> str:
    seen = {node.uuid}
    while node.parent in by_uuid and node.parent not in seen:
        if node.parent in root_of:
            return root_of[node.parent]
        node = by_uuid[node.parent]
        seen.add(node.uuid)
    return node.uuid

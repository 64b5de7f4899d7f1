"""The machine and its failure rules as the docs show them, drawn from the tables the code runs on."""

from __future__ import annotations

from clew.engine.failures import COOLDOWNS, KEEPS_SESSION, TIMEOUTS
from clew.engine.machine import LEADS_TO


def diagram() -> str:
    """The transitions as a Mermaid state diagram; what only stays where it is, is left out."""
    arrows: dict[tuple[str, str], list[str]] = {}
    for (phase, event), leads in LEADS_TO.items():
        for to in leads:
            if to is not phase:
                arrows.setdefault((phase.value, to.value), []).append(event.__name__)
    lines = ["```mermaid", "stateDiagram-v2", "    [*] --> idle"]
    lines += [f"    {a} --> {b}: {', '.join(dict.fromkeys(names))}" for (a, b), names in sorted(arrows.items())]
    return "\n".join([*lines, "    closed --> [*]", "```"])


def table() -> str:
    """Every event in every phase: where it may lead; a dash where it can't come."""
    events = list(dict.fromkeys(event for _, event in LEADS_TO))
    phases = list(dict.fromkeys(phase for phase, _ in LEADS_TO))
    lines = ["| event | " + " | ".join(p.value for p in phases) + " |", "|---|" + "---|" * len(phases)]
    for event in events:
        cells = [", ".join(to.value for to in LEADS_TO.get((p, event), ())) or "–" for p in phases]
        lines.append(f"| {event.__name__} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def failures() -> str:
    """What each class of failure leads to once no further model is left to ask."""
    lines = ["| failure | no summary call for | then |", "|---|---|---|"]
    waits = " / ".join(f"{t:.0f}" for t in TIMEOUTS)
    rows = {"timeout": f"{waits} s, by how many came in a row"} | {k: f"{v:.0f} s" for k, v in COOLDOWNS.items()}
    for kind, wait in sorted(rows.items()):
        then = "the session stays as it is" if kind in KEEPS_SESSION else "the ledger writes the handoff"
        lines.append(f"| {kind} | {wait} | {then} |")
    return "\n".join(lines)

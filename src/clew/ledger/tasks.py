"""Tasks: the to-do lists that agents keep, whichever tool they keep them with."""

from __future__ import annotations

import re
from collections.abc import Mapping

from clew.jsonio import Json
from clew.ledger.facts import Task

_LISTS = ("todos", "plan", "tasks", "items", "steps", "todoList", "todo_list")
_WORDS = ("content", "step", "subject", "title", "text", "description", "task", "name")
_DONE = ("completed", "done", "complete", "finished", "cancelled", "canceled", "deleted")
_NUMBER = re.compile(r"(?:#|\bid:?\s*|\btask\s+)(\w+)", re.IGNORECASE)
_MARKED = re.compile(r"^\s*(?:[-*]|\d+[.)])?\s*\[( |x|X|~|-)\]\s+(.+)$", re.MULTILINE)


class Tasks:
    """A list that is sent whole replaces the one before; tasks made one by one are kept by their id."""

    def __init__(self) -> None:
        self._whole: list[Task] = []
        self._single: dict[str, Task] = {}

    def facts(self) -> tuple[Task, ...]:
        return (*self._whole, *self._single.values())

    def call(self, position: int, given: Json, result: str) -> None:
        """A call of a to-do tool ended."""
        if not isinstance(given, Mapping):
            return
        listed = next((given[k] for k in _LISTS if isinstance(given.get(k), list)), None)
        if listed is not None:
            if not given.get("merge"):
                self._whole = []
            for entry in listed:
                self._enter(position, entry)
            return
        marked = next((v for k in (*_LISTS, "content", "markdown") if isinstance(v := given.get(k), str)), "")
        if _MARKED.search(marked):
            self._whole = [Task(m[2].strip(), position, m[1] in "xX") for m in _MARKED.finditer(marked)]
            return
        self._one(position, given, result)

    def _enter(self, position: int, entry: Json) -> None:
        if isinstance(entry, str):
            self._whole.append(Task(entry, position))
        elif isinstance(entry, Mapping):
            text = next((str(entry[k]) for k in _WORDS if isinstance(entry.get(k), str)), "")
            known = next((i for i, t in enumerate(self._whole) if t.text == text), None)
            task = Task(text, position, str(entry.get("status", "")).lower() in _DONE or entry.get("done") is True)
            if text and known is None:
                self._whole.append(task)
            elif known is not None:
                self._whole[known] = task

    def _one(self, position: int, given: Mapping[str, Json], result: str) -> None:
        key = next((str(given[k]) for k in ("taskId", "task_id", "id") if given.get(k) is not None), "")
        text = next((str(given[k]) for k in ("subject", "content", "title") if isinstance(given.get(k), str)), "")
        status = str(given.get("status", "")).lower()
        known = self._single.get(key)
        if known is not None:
            done = status in _DONE if status else known.done
            self._single[key] = Task(text or known.text, position, done)
        elif text:
            made = _NUMBER.search(result)
            self._single[key or (made[1] if made is not None else str(len(self._single) + 1))] = Task(
                text, position, status in _DONE
            )

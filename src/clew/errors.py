"""One tree of errors. Each says what to do next and carries the HTTP status the gateway answers with."""

from __future__ import annotations


class ClewWarning(UserWarning):
    """Something works with less than full knowledge; the text says how to give it the rest."""


class ClewError(Exception):
    """Everything Clew raises on purpose. `hint` says what to do next."""

    status = 500
    exit_code = 1

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message} ({self.hint})" if self.hint else self.message


class ConfigError(ClewError):
    """A setting is unknown, of the wrong type, or out of range."""

    status = 400
    exit_code = 2


class InputError(ClewError):
    """A file or body can't be read as what it should be."""

    status = 400
    exit_code = 2


class WireError(InputError):
    """A message or body is not of the wire format it was said to be."""


class TooLarge(InputError):
    """A body, line or nesting is over a stated limit."""

    status = 413


class WindowTooSmall(ClewError):
    """What must be shown doesn't fit the window; the message says what is pinned."""

    status = 413


class UnknownReference(ClewError):
    """No original is known under this reference, for this tenant."""

    status = 404
    exit_code = 3


class Closed(ClewError):
    """The object was closed and can't be used any more."""

    status = 409


class ProtocolBug(ClewError):
    """An event came in a state that has no transition for it: a bug in a driver, never of the user."""


class StoreError(ClewError):
    """The store can't do what was asked; nothing acknowledged is lost."""

    status = 503
    exit_code = 4


class StoreBusy(StoreError):
    """Other writers held the store for longer than the retries last."""


class StoreFull(StoreError):
    """The disk is full or the file may not be written."""

    status = 507


class StoreCorrupt(StoreError):
    """The file is not a sound store; it was left as it is or set aside, never overwritten."""


class StoreMissing(StoreError):
    """The file was deleted or replaced underneath."""


class Conflict(StoreError):
    """What is to be written contradicts what stands there; `position` is the first message that differs, or -1."""

    status = 409

    def __init__(self, message: str, *, hint: str = "", position: int = -1) -> None:
        super().__init__(message, hint=hint)
        self.position = position


class LeaseLost(StoreError):
    """Another holder has the compaction lease, so this commit was refused."""

    status = 409


class NotFound(ClewError):
    """No session or message of this id."""

    status = 404
    exit_code = 3


class SummaryError(ClewError):
    """A summary call failed. `kind` is its class, `retry_after` what the provider asked for, in seconds."""

    status = 502

    def __init__(self, message: str, *, kind: str, hint: str = "", retry_after: float | None = None) -> None:
        super().__init__(message, hint=hint)
        self.kind = kind
        self.retry_after = retry_after

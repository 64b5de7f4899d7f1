"""Taking a leaked value out of stored bytes, however JSON spelled it."""

from __future__ import annotations

import json

from clew import jsonio, wire
from clew.errors import InputError, WireError
from clew.jsonio import Json
from clew.store.indexed import clean
from clew.transcript import Message

# JSON in a command, the command in a call's arguments, these in a message: three; one more where it's quoted.
_NESTED = 4


class Masker:
    """Puts `mask` where `secret` stands."""

    def __init__(self, secret: str, mask: str) -> None:
        if not secret:
            raise InputError("an empty value stands everywhere", hint="give the value that leaked")
        if not mask.isascii() or not mask.isprintable() or '"' in mask or "\\" in mask:
            raise InputError(
                f"{mask!r} can't be a mask",
                hint="it must read the same in a text, in JSON, and in JSON within JSON: printable ASCII",
            )
        self.secret, self.mask = secret, mask
        self.cleaned = clean(secret)  # as it stands in ids, titles, names: without what has no UTF-8 form
        self._plain = secret.encode("utf-8", "surrogatepass")
        self._mask = mask.encode()
        spelled = set(_spellings(secret))
        for _ in range(_NESTED - 1):
            spelled |= {again for s in spelled for again in _spellings(s)}
        self._spelled = [s.encode("utf-8", "surrogatepass") for s in sorted(spelled, key=len, reverse=True)]

    def text(self, text: str) -> str:
        return text.replace(self.secret, self.mask).replace(self.cleaned, self.mask)

    def plain(self, data: bytes) -> bytes:
        """Bytes of a text."""
        return data.replace(self._plain, self._mask)

    def json(self, data: bytes) -> bytes:
        """Bytes of a JSON value. All else stays to the byte, unless an unusual spelling forces it to be written anew."""
        for spelled in self._spelled:
            data = data.replace(spelled, self._mask)
        if b"\\u" in data or b"\\/" in data:
            value = jsonio.exact(data)
            masked = self.value(value)
            if masked != value:
                return jsonio.dumps(masked)
        return data

    def value(self, value: Json) -> Json:
        if isinstance(value, str):
            return self._string(value)
        if isinstance(value, list):
            return [self.value(v) for v in value]
        if isinstance(value, dict):
            return {self.text(k): self.value(v) for k, v in value.items()}
        return value

    def touches(self, dictionary: bytes) -> bool:
        """Whether a trained dictionary may hold a piece of it."""
        n = min(8, len(self._plain))
        return any(self._plain[i : i + n] in dictionary for i in range(len(self._plain) - n + 1))

    def left_in_id(self, session: str) -> str:
        """What is said where it stands in a session's id."""
        return f"the id of session {self.text(session)!r}: it can't be changed, only deleted"

    def _string(self, text: str) -> str:
        """A call's arguments are JSON within a string: there the value may be spelled in its escaped form."""
        text = self.text(text)
        for spelled in self._spelled:
            text = text.replace(spelled.decode("utf-8", "surrogatepass"), self.mask)
        return text


def _spellings(text: str) -> tuple[str, ...]:
    """How JSON writers spell a text within quotes; applied again, how they do within a text that is JSON itself."""
    written = (jsonio.dumps(text).decode(), json.dumps(text), json.dumps(text, ensure_ascii=False))
    return tuple(dict.fromkeys(w[1:-1] for w in written))


def masked_message(before: Message, raw: bytes) -> Message:
    """The message of masked bytes, under the address of the one it was: chains and references mean it still. InputError
    where it would be no message any more, or one of another shape.
    """
    try:
        read = wire.get(before.wire).message(raw)
    except WireError:
        read = None
    if read is None or (read.role, [*map(type, read.parts)]) != (before.role, [*map(type, before.parts)]):
        raise InputError(
            "the value stands in what makes messages what they are",
            hint="nothing was masked; a leaked value is longer, and stands in texts",
        )
    after = Message(read.role, read.parts, raw, read.wire, before.meta)
    after.__dict__["address"] = before.address
    return after

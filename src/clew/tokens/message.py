"""What one message costs, in parts that don't depend on what was learnt of a model: so a tally is cached, not a count.

The cache is keyed by content address, so a conversation that has grown costs only its new messages, in whichever
order and through whichever `Message` objects it comes.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from threading import Lock
from typing import NamedTuple, TypeAlias

from clew import jsonio
from clew.jsonio import Json
from clew.tokens import images, pixels
from clew.tokens.exact import count_text
from clew.tokens.families import Family
from clew.tokens.sealed import document_tokens, encrypted_tokens, signature_tokens
from clew.transcript import Image, Message, Opaque, Path, Reasoning, Text, ToolCall, ToolResult, at_path

CACHED = 50_000
_BLOB = 1024  # a string of base64 this long inside an opaque block is no text
_PICTURES = frozenset({"image", "image_url", "input_image", "computer_screenshot"})
_DOCUMENTS = frozenset({"document", "file", "input_file"})


class Tally(NamedTuple):
    """`text` in tokens of the encoding; the rest in the model's own. Reasoning apart: not everyone bills it."""

    text: int = 0
    fixed: int = 0
    thought_text: int = 0
    thought_fixed: int = 0

    def plus(self, other: Tally) -> Tally:
        return Tally(*(a + b for a, b in zip(self, other, strict=True)))


@dataclass(frozen=True, slots=True)
class _Rules:
    encoding: str
    images: str
    family: Family


_Identity: TypeAlias = tuple[int, str, str]
_Key: TypeAlias = tuple[str, str, _Rules, tuple[_Identity, ...]]


class _Cache:
    """The newest tallies, up to a bound."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._held: OrderedDict[_Key, Tally] = OrderedDict()
        self._lock = Lock()

    def __len__(self) -> int:
        return len(self._held)

    def get(self, message: Message, rules: _Rules) -> Tally:
        # What a host keeps beside the content is no part of the address.
        beside = tuple(_identity(i) for i in _stashed(message)) if message.meta else ()
        key = (message.address, message.wire, rules, beside)
        with self._lock:
            found = self._held.get(key)
            if found is not None:
                self._held.move_to_end(key)
                return found
        made = _tally(message, rules)
        with self._lock:
            self._held[key] = made
            while len(self._held) > self._size:
                self._held.popitem(last=False)
        return made


_CACHE = _Cache(CACHED)


def tally(message: Message, family: Family, image_rule: str) -> Tally:
    """What a message costs under a family's frames and a rule for pictures; cached by its content."""
    return _CACHE.get(message, _Rules(family.encoding, image_rule, family))


def _tally(message: Message, rules: _Rules) -> Tally:
    total = Tally(fixed=rules.family.message)
    own = [p for p in message.parts if not (p.at and p.at[0] in message.meta)]
    for part in own:
        total = total.plus(_part(message, part, rules))
    known = set(_identities(own))
    # The same pictures often stand in both places; they are sent once.
    beside = {_identity(i): i for i in _stashed(message)}
    fixed = sum(_picture(image, "", rules) for identity, image in beside.items() if identity not in known)
    return total.plus(Tally(fixed=fixed))


def by_part(message: Message, family: Family, image_rule: str) -> tuple[Tally, ...]:
    """What each part costs; together what `tally` says. The frame goes to the first, pictures beside to the last."""
    rules = _Rules(family.encoding, image_rule, family)
    stands = [not (p.at and p.at[0] in message.meta) for p in message.parts]
    costs = [_part(message, p, rules) if s else Tally() for p, s in zip(message.parts, stands, strict=True)]
    if not costs:
        return ()
    known = set(_identities([p for p, s in zip(message.parts, stands, strict=True) if s]))
    beside = {_identity(i): i for i in _stashed(message)}
    shown = sum(_picture(image, "", rules) for identity, image in beside.items() if identity not in known)
    costs[0] = costs[0].plus(Tally(fixed=family.message))
    costs[-1] = costs[-1].plus(Tally(fixed=shown))
    return tuple(costs)


def _part(message: Message, part: object, rules: _Rules) -> Tally:
    words, frames = rules.encoding, rules.family
    if isinstance(part, Text):
        return Tally(count_text(part.text, words))
    if isinstance(part, Image):
        return Tally(fixed=_picture(part, _detail(message, part.at), rules))
    if isinstance(part, ToolCall):
        return _call(part, words, frames)
    if isinstance(part, ToolResult):
        total = Tally(fixed=frames.result)
        for inner in part.parts:
            total = total.plus(_part(message, inner, rules))
        return total
    if isinstance(part, Reasoning):
        sealed = _sealed(at_path(jsonio.loads(message.raw), part.at), frames) if part.sealed else 0
        if sealed:
            return Tally(thought_fixed=sealed)
        return Tally(thought_text=count_text(part.text, words))
    if isinstance(part, Opaque):
        return _opaque(message, part, rules)
    return Tally()


def _call(call: ToolCall, words: str, frames: Family) -> Tally:
    """A call as its family shows it: arguments as JSON, or each apart, without the escapes, in a frame of its own."""
    given = call.input if frames.parameter and call.kind != "custom" else None
    if not isinstance(given, dict):
        return Tally(count_text(call.name, words) + count_text(call.arguments, words), frames.call)
    said = [call.name, *given]
    said += [v if isinstance(v, str) else jsonio.dumps(v).decode("utf-8", "replace") for v in given.values()]
    return Tally(sum(count_text(s, words) for s in said), frames.call + frames.parameter * len(given))


def _sealed(block: Json, frames: Family) -> int:
    """The tokens of reasoning that only its seal tells of; a list holds several."""
    if isinstance(block, list):
        return sum(_sealed(b, frames) for b in block)
    if not isinstance(block, dict):
        return 0
    for key in ("signature", "thoughtSignature"):
        if isinstance(block.get(key), str) and block[key]:
            return signature_tokens(len(block[key]), frames)
    for key in ("encrypted_content", "data"):
        if isinstance(block.get(key), str) and block[key]:
            return encrypted_tokens(len(block[key]))
    return 0


def _opaque(message: Message, part: Opaque, rules: _Rules) -> Tally:
    """A block nobody looks into: its words, the pictures in it, and a document by its length."""
    block = at_path(jsonio.loads(message.raw), part.at)
    fixed = sum(_picture(i, "", rules) for i in pictures(block))
    if part.kind in _DOCUMENTS and (length := max(map(len, _blobs(block)), default=0)):
        fixed += document_tokens(length)
    return Tally(count_text(part.text, rules.encoding) if part.text else 0, fixed)


def _picture(image: Image, detail: str, rules: _Rules) -> int:
    return images.tokens(rules.images, pixels.of_base64(image.data) if image.data else None, detail)


def _detail(message: Message, at: Path) -> str:
    if b'"detail"' not in message.raw:
        return ""
    block = at_path(jsonio.loads(message.raw), at)
    inner = block.get("image_url") if isinstance(block, dict) else None
    for holder in (block, inner):
        if isinstance(holder, dict) and isinstance(holder.get("detail"), str):
            return str(holder["detail"])
    return ""


def _stashed(message: Message) -> Iterator[Image]:
    """Pictures in provider blocks that a host keeps beside the content."""
    for value in message.meta.values():
        yield from pictures(value)
    if b"content_blocks" in message.raw:
        whole = jsonio.loads(message.raw)
        if isinstance(whole, dict):
            for key, value in whole.items():
                if key.endswith("content_blocks"):
                    yield from pictures(value)


def pictures(value: Json) -> Iterator[Image]:
    """Every picture block of any wire anywhere in a JSON value."""
    waiting = [value]
    while waiting:
        node = waiting.pop()
        if isinstance(node, list):
            waiting.extend(reversed(node))
        elif isinstance(node, dict):
            kind = node.get("type")
            if isinstance(kind, str) and kind in _PICTURES:
                yield _image(node)
            else:
                waiting.extend(reversed(node.values()))


def _image(block: dict[str, Json]) -> Image:
    source = block.get("source")
    if isinstance(source, dict):
        data, url = source.get("data"), source.get("url")
    else:
        given = block.get("image_url")
        data, url = block.get("data"), given.get("url") if isinstance(given, dict) else given
    if isinstance(url, str) and url.startswith("data:"):
        data, url = url.partition(",")[2], None
    return Image(data=data if isinstance(data, str) else "", url=url if isinstance(url, str) else "")


def _identities(parts: Iterable[object]) -> Iterator[_Identity]:
    for part in parts:
        if isinstance(part, Image):
            yield _identity(part)
        elif isinstance(part, ToolResult):
            yield from _identities(part.parts)


def _identity(image: Image) -> _Identity:
    """What tells one picture from another without reading all of it."""
    return len(image.data), image.data[-64:], image.url


def _blobs(value: Json) -> Iterator[str]:
    waiting = [value]
    while waiting:
        node = waiting.pop()
        if isinstance(node, str):
            if len(node) >= _BLOB and " " not in node[:_BLOB]:
                yield node
        elif isinstance(node, list):
            waiting.extend(node)
        elif isinstance(node, dict):
            waiting.extend(node.values())

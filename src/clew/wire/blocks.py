"""Content as the three wires spell it, read once: a string, a list of blocks, or a tool's multimodal envelope."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from clew.jsonio import Json
from clew.transcript import Image, Opaque, Path, Text

Content: TypeAlias = Text | Image | Opaque

_TEXT = frozenset({"text", "input_text", "output_text", "summary_text", "reasoning_text"})


def content(value: Json, at: Path) -> tuple[Content, ...]:
    """The parts of a content that stands at `at`; nothing for null."""
    if isinstance(value, str):
        return (Text(value, at),)
    if isinstance(value, list):
        return tuple(block(b, (*at, i)) for i, b in enumerate(value))
    if isinstance(value, dict):
        inner = value.get("content")
        if isinstance(
            inner, list
        ):  # an envelope that a host has not yet unwrapped: {"_multimodal": true, "content": …}
            return tuple(block(b, (*at, "content", i)) for i, b in enumerate(inner))
        return (block(value, at),)
    return ()


def block(value: Json, at: Path) -> Content:
    """One block; what is not known is opaque, never refused."""
    if isinstance(value, str):
        return Text(value, at)
    if not isinstance(value, dict):
        return Opaque("unknown", "", at)
    kind = value.get("type")
    text = value.get("text")
    if not isinstance(kind, str):
        return Text(text, (*at, "text")) if isinstance(text, str) else Opaque("unknown", "", at)
    if kind in _TEXT and isinstance(text, str):
        return Text(text, (*at, "text"))
    picture = _PICTURES.get(kind)
    if picture is not None:
        return picture(value, at)
    return Opaque(kind, readable(value), at)


def readable(value: Json) -> str:
    """The words of a block that Clew doesn't look into."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "\n".join(t for t in map(readable, value) if t)
    if not isinstance(value, dict):
        return ""
    found = [value[k] for k in _WORDS if isinstance(value.get(k), str) and value[k]]
    source = value.get("source")
    if isinstance(source, dict):
        if source.get("type") == "text" and isinstance(source.get("data"), str):
            found.append(source["data"])
        elif source.get("type") == "content":
            found.append(readable(source.get("content")))
    if isinstance(value.get("content"), (list, str, dict)):
        found.append(readable(value["content"]))
    if isinstance(value.get("file"), dict):
        found.append(readable(value["file"]))
    return "\n".join(t for t in found if t)


_WORDS = ("title", "filename", "tool_name", "text", "refusal", "transcript", "query", "stdout", "stderr")


def data_url(url: str, at: Path) -> Image:
    """An image from a URL, taken apart where the data stand in it."""
    if url.startswith("data:"):
        head, comma, data = url.partition(",")
        if comma and head.endswith(";base64"):
            return Image(head[5:].split(";", 1)[0], data, "", at)
    return Image("", "", url, at)


def _openai(value: dict[str, Json], at: Path) -> Image:
    url = value.get("image_url")
    if isinstance(url, dict):
        url = url.get("url")
    return data_url(url, at) if isinstance(url, str) else Image(at=at)


def _anthropic(value: dict[str, Json], at: Path) -> Image:
    source = value.get("source")
    if not isinstance(source, dict):  # the Model Context Protocol's spelling
        data, media = value.get("data"), value.get("mimeType")
        return Image(media if isinstance(media, str) else "", data if isinstance(data, str) else "", "", at)
    media, data, url = (source.get(k) for k in ("media_type", "data", "url"))
    return Image(
        media if isinstance(media, str) else "",
        data if isinstance(data, str) else "",
        url if isinstance(url, str) else "",
        at,
    )


_PICTURES: dict[str, Callable[[dict[str, Json], Path], Image]] = {
    "image_url": _openai,
    "input_image": _openai,
    "computer_screenshot": _openai,
    "image": _anthropic,
}

"""A quick estimate of text: characters weighed by kind and by the runs they stand in, with no vocabulary.

Characters / 4 is right for English prose and off by three for Chinese, base64 and digits. Here each kind of character
has a weight, and what forms runs (words, numbers, rules, indents) is weighed by its runs. The weights are a
non-negative least-squares fit against o200k_base on agent sessions and on texts in 13 languages and 25 formats;
`bench/tokens.py` prints the factors, `docs/reference/tokens.md` states them.
"""

from __future__ import annotations


def _classes() -> bytes:
    """A table from bytes to kinds: a lower, A upper, 0 digit, . punctuation, - rules, blank, newline, 1-6 beyond ASCII."""
    table = bytearray(b"." * 256)
    table[0:32] = b"!" * 32
    for kind, members in (
        (b"a", range(97, 123)),
        (b"A", range(65, 91)),
        (b"0", range(48, 58)),
        (b"-", b"-=*_#~"),
        (b" ", b" "),
        (b"\n", b"\n\r\t"),
        (b"\x01", range(0x80, 0xC0)),  # the rest of a character, which its first byte stands for
        (b"\x02", range(0xC0, 0xE0)),  # Latin with accents, Greek, Cyrillic, Hebrew, Arabic
        (b"\x03", range(0xE3, 0xF0)),  # Chinese, Japanese, Korean
        (b"\x05", b"\xe0\xe1"),  # the scripts of South and South-East Asia; Vietnamese
        (b"\x06", b"\xe2"),  # typographic signs, box drawing
        (b"\x04", range(0xF0, 0x100)),  # emoji, rare characters
    ):
        for member in members:
            table[member] = kind[0]
    return bytes(table)


_CLASSES = _classes()
_WHOLE = 1 << 18  # bytes that are weighed to the last; of more, a quarter in evenly spaced blocks
_TAKEN, _STRIDE = 1 << 11, 1 << 13


def rough_text(text: str) -> int:
    """About as many tokens as o200k_base has; for another family multiply by its ratio. Never raises."""
    sample, scale = sampled(text.encode("utf-8", "surrogatepass"))
    return round(rough_bytes(sample) * scale)


def sampled(data: bytes) -> tuple[bytes, float]:
    """What of the bytes is weighed, and what its weight is to be multiplied by."""
    if len(data) <= _WHOLE:
        return data, 1.0
    taken = b"".join(data[i : i + _TAKEN] for i in range(0, len(data), _STRIDE))
    return taken, len(data) / len(taken)


def rough_bytes(data: bytes) -> float:
    """The same for UTF-8, all of it, before rounding."""
    kinds = data.translate(_CLASSES)
    count = kinds.count
    upper, digit, mark, rule = count(b"A"), count(b"0"), count(b"."), count(b"-")
    blank, line = count(b" "), count(b"\n")
    digits3, marks2, rules4 = count(b"000"), count(b".."), count(b"----")
    lower4 = count(b"aaaa")
    beyond, weight = 0, 0.0
    if not data.isascii():
        two, three, four, south, sign = (count(k) for k in (b"\x02", b"\x03", b"\x04", b"\x05", b"\x06"))
        weight = 0.388 * two + 0.728 * three + 2.118 * four + 0.435 * south + 0.71 * sign
        beyond = two + three + four + south + sign + count(b"\x01")
    control = count(b"!")
    lower = len(kinds) - upper - digit - mark - rule - blank - line - beyond - control
    return (
        weight
        + 0.736 * lower4
        + 0.271 * (lower - 4 * lower4)
        + 0.530 * upper
        + 1.036 * digits3
        + 1.280 * (digit - 3 * digits3)
        + 0.796 * marks2
        + 0.879 * (mark - 2 * marks2)
        + 0.098 * rules4
        + 0.396 * (rule - 4 * rules4)
        + 0.042 * count(b"    ")
        + 0.291 * line
        + 0.9 * control
    )

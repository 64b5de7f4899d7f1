"""The only counter: exact where the vocabulary is public, by a corrected ratio elsewhere, rough where it must be quick.

Importing it loads no vocabulary and not tiktoken; the first exact count does.
"""

from __future__ import annotations

from clew.tokens.body import rough_body
from clew.tokens.counter import Counter, count_message, count_system, count_tools
from clew.tokens.encodings import CL100K, ENCODINGS, O200K, encoding
from clew.tokens.exact import count_text
from clew.tokens.families import FAMILIES, Family, family
from clew.tokens.images import tokens as image_tokens
from clew.tokens.pixels import of_base64 as image_size
from clew.tokens.rough import rough_text

__all__ = [
    "CL100K",
    "ENCODINGS",
    "FAMILIES",
    "O200K",
    "Counter",
    "Family",
    "count_message",
    "count_system",
    "count_text",
    "count_tools",
    "encoding",
    "family",
    "image_size",
    "image_tokens",
    "rough_body",
    "rough_text",
]

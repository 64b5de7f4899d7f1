"""What a value looks like: a secret, a stand-in for one, a reference to one, or code."""

from __future__ import annotations

import re
from functools import lru_cache

from clew.redact.lazy import lazy

_REFERENCE = lazy(
    r"""
    \$ (?: [A-Za-z_({] .* | \d | \w+:.* | $ )    # $TOKEN ${TOKEN} $(cmd) $env:TOKEN
    | %\(? [A-Za-z_]\w* \)? s? %?                # %TOKEN% %s %(name)s
    | [{]{1,3} .* [}]{0,3} | <.*                 # {{ x }} {token} <token>
    | @\w+@ | !\w+ | \#\{.*                      # @TOKEN@ !Ref #{x}
    | \.{1,2}/.* | ~/.* | [A-Za-z]:\\.*          # paths
    | .*\[ [^\]]* (?: a-z | A-Z | 0-9 ) .*       # an expression that a token matches
    | (?: arn | file | vault | ssm | op | ref | secretRef | sm | gcpsm | awssm | keyring | env | https? ) : .*
    """,
    re.VERBOSE | re.DOTALL,
)
_PATH = lazy(r"/(?:bin|etc|home|opt|tmp|usr|var|run|root|Users|mnt|srv|app|data|workspace|secrets?|proc|dev)/.*")
_CODE = lazy(
    r"(?:process\.env|os\.environ|os\.getenv|import\.meta|System\.getenv|Deno\.env|ENV\[|env\(|getenv|self\.|this\."
    r"|cls\.|config\.|cfg\.|settings\.|secrets\.|args\.|opts?\.|options\.|props\.|req\.|request\.|ctx\.|var\.|local\."
    r"|data\.|env\.|params\.|module\.|inputs?\.|github\.|vault\.|values\.|await\b|async\b|function\b|lambda\b|new\b)",
    re.IGNORECASE,
)
_STANDIN = lazy(
    r"example|placeholder|redacted|change.?me|replace|insert|sample|not.?real|\btodo\b|\bfixme\b"
    r"|\.\.\.|…|\*\*\*|•••|goes.?here|_here\b|-here\b|masked|hidden|secret.?key.?here|omitted|filtered|elided"
    r"|^test$|^tests?[_-]|^foo|^bar$|^baz$|^mock|^stub|^none$|^null$",
    re.IGNORECASE,
)
# Words as short as these come up by chance in what a machine drew, but hardly in one case.
_STANDIN_SHORT = lazy(r"your|YOUR|Your|fake|FAKE|Fake|dummy|DUMMY|Dummy|xxxx|XXXX")
# Words that stand after `password:` in code, schemas, prompts and messages.
_WORDS_AS_TEXT = """
    str string text bool boolean int integer number float any object array list dict map bytes byte char varchar unknown
    never void none null nil undefined true false yes no on off required optional default password passwd pwd pass secret
    token key value values data hidden input field label name type user username email auth basic bearer apikey api_key
    credentials credential invalid incorrect missing wrong empty set unset is not and or if else return the a an for from
    with in to of by this that enabled disabled plain plaintext encrypted hashed hash func function class self props
    public private static const let var readonly secretstr optional_str prompt confirm ok error failed valid expired
    rejected denied accepted changed updated reset removed added created generated see same must should may can will
    was were are has have access refresh session cookie code test tests testing mock fake dummy example sample foo bar baz
    abc xyz asdf literal constant column usize u8 u16 u32 u64 i32 i64 keyof typeof new await async
"""
WORDS = frozenset(_WORDS_AS_TEXT.split())
_WORD_SPLIT = lazy(r"[^A-Za-z0-9]+|(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=[0-9])(?=[A-Z][a-z]{2})")
_WORDY_PIECE = lazy(r"[A-Za-z]{2,}\d{0,3}|\d{1,4}|[A-Za-z]\d{0,4}|\d[a-z]{1,2}|v\d+|")
# A word stands apart from what is around it; four letters come up by chance.
_NOT_ISSUED = lazy(r"xxxx|(?:^|[-_.])your|your[-_.]|example-|placeholder|redacted|0000000000")
_NO_CHARACTERS = frozenset("x0*._-")
# No name of anything, but what people give for a secret while they develop.
_BOASTS = lazy(r"super[-_]?secret", re.IGNORECASE)
_VOWEL = lazy(r"[aeiouyAEIOUY]")
_CONSONANTS = lazy(r"[b-df-hj-np-tv-xzB-DF-HJ-NP-TV-XZ]{5}")


@lru_cache(maxsize=4096)
def reference(value: str) -> bool:
    """A variable, a template, a path, a call: it names where a secret is, and is none."""
    if _REFERENCE.fullmatch(value) is not None or _CODE.match(value) is not None or _PATH.fullmatch(value) is not None:
        return True
    return "${" in value or "{{" in value or "$(" in value or value.startswith(("%s", "%v", "`"))


@lru_cache(maxsize=4096)
def standin(value: str) -> bool:
    """`xxxx`, `<your key>`, `changeme`, `***`: what people write where a secret would be."""
    return (
        len(set(value)) < 3
        or _STANDIN.search(value) is not None
        or _STANDIN_SHORT.search(value) is not None
        or value.lower() in WORDS
    )


def degenerate(body: str) -> bool:
    """The body of a vendor's token that nobody could have been issued: `xxxxxxxx…`, `your-key-here`."""
    lowered = body.lower()
    return set(lowered) <= _NO_CHARACTERS or _NOT_ISSUED.search(lowered) is not None


def wordy(value: str) -> bool:
    """Made of words and small numbers, as names, labels and identifiers are: `my-secret-token`, `getUserToken2`."""
    if _BOASTS.search(value) is not None:
        return False
    pieces = [piece for piece in _WORD_SPLIT.split(value) if piece]
    if len(pieces) >= 5 and sum(map(len, pieces)) < 2.9 * len(pieces):
        return False  # words are longer than that; letters drawn in any case fall apart into such bits
    return all(_WORDY_PIECE.fullmatch(piece) is not None and _pronounceable(piece) for piece in pieces)


def _pronounceable(piece: str) -> bool:
    letters = piece.rstrip("0123456789")
    if len(letters) < 6:
        return True
    return _VOWEL.search(letters) is not None and _CONSONANTS.search(letters) is None


@lru_cache(maxsize=4096)
def opaque(value: str) -> bool:
    """Looks drawn by a machine: long enough, letters mixed with digits (or cases) in no order that words have."""
    if len(value) < 8 or " " in value or wordy(value):
        return False
    letters = sum(c.isalpha() for c in value)
    digits = sum(c.isdigit() for c in value)
    if digits and letters:
        return True
    return len(value) >= 16 and letters >= 12


def literal(value: str) -> bool:
    """Neither a reference nor a stand-in: somebody wrote the thing itself."""
    return not reference(value) and not standin(value)

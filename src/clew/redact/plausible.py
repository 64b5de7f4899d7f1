"""Whether a value that stands where a secret would stand is one."""

from __future__ import annotations

import re

from clew.redact.found import ENOUGH
from clew.redact.lazy import lazy
from clew.redact.names import Holds
from clew.redact.values import WORDS, literal, opaque, wordy

_ABOUT_SECRETS = lazy(r"pass|pwd|secret|token|key|cred|auth|user|login|input|form|field|value", re.IGNORECASE)
_IDENTIFIER = lazy(r"[A-Za-z_$][\w$]*(?:(?:\.|::|->)[A-Za-z_$][\w$]*)*")
_CALLED = lazy(r"[A-Za-z_$][\w$.:]*(?:[(\[{<]|!\().*")
# A call, a subscript, a type; but not the end of an element.
_GOES_ON = lazy(r"[(\[{]|<(?!/)")
_ENDS = lazy(r"[ \t\r]*(?:#.*|//.*|\\+[nrt].*|[\"'`].*)?")
# `correct-horse-battery`, as generators of passwords make them; keys of translations have dots.
_PASSPHRASE = lazy(r"[a-z]{3,10}(?:-[a-z]{3,10}){2,7}")
# What people think up where a password is asked for, though each word of it is about secrets.
_THOUGHT_UP = lazy(
    r"(?:(?:my|our|very|super|top|some|ultra)[-_ ]?)+secret[-_ ]?(?:password|passwd|pass|pwd|pw)?[-_ ]?\d*"
    r"|[\w-]*[A-Za-z][-_]?\d{3,}|[A-Za-z][-_]?\d{3,}[\w-]*",
    re.IGNORECASE,
)
_PATH = lazy(r"(?:/[\w .@+-]*){2,}|\\{1,2}\w.*\\.*|~.*")
# Keys that everybody may see, and names of what is kept somewhere.
_OPEN_KEY = lazy(
    r"pub|captcha|site|cache|sort|object|primary|foreign|partition|group|idempot|dedup|websocket|surrogate|row|s3|map|verif|host|etag",
    re.IGNORECASE,
)
_ALGORITHM = lazy(r"(?:sha|md|base|utf|argon|pbkdf|ntlmv|oauth|http|x|aes|rsa|ipv|v)\d", re.IGNORECASE)
_BASE64 = lazy(r"[A-Za-z0-9+/_-]{32,}={0,2}")
_KEY_HEADER = lazy(
    r"(?!.*(?:idempotency|cache|surrogate|websocket|partition|routing|deduplication|public|sort|primary|object)-)[\w-]+-key",
    re.IGNORECASE,
)
_UUID = lazy(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")


def quoted_secret(what: Holds, name: str, value: str, *, compared: bool = False, bare_list: bool = False) -> bool:
    """A string literal given to that name, compared with it, or only named after it in a list of arguments."""
    value = value if len(value) <= ENOUGH else value[:ENOUGH]
    if len(value) < 4 or not literal(value) or value.endswith((":", "...")) or value.isspace():
        return False
    if _directory(name, value):
        return False
    if compared or (bare_list and what is not Holds.PASSWORD):
        return opaque(value)
    if bare_list and what is Holds.PASSWORD:
        return not wordy(value) or (_word_with_digits(value) and _ABOUT_SECRETS.search(value) is None)
    if what is Holds.PASSWORD:
        return _password(value) or ("passphrase" in name.lower() and " " in value)
    if what is Holds.SECRET:
        return " " not in value and (not wordy(value) or _word_with_digits(value))
    if what is Holds.TOKEN:
        return opaque(value)
    if _unowned_key(name, value):
        return True
    return (
        opaque(value)
        and len(value) >= 16
        and (name.isupper() or name.lower() in {"auth", "_auth"} or _UUID.fullmatch(value) is not None)
    )


def unquoted_secret(
    what: Holds, name: str, value: str, rest: str, *, env: bool, alone: bool, spaced: bool, colon: bool
) -> bool:
    """A bare word after the separator: a configuration's value, or code."""
    value = value if len(value) <= ENOUGH else value[:ENOUGH]
    if len(value) < 4 or not literal(value) or _CALLED.fullmatch(value) is not None or _GOES_ON.match(rest) is not None:
        return False
    if _directory(name, value) or _says_its_name(name, value):
        return False
    ends = _ENDS.fullmatch(rest) is not None or (rest[:1].isspace() and not colon and not spaced)
    if what is Holds.PASSWORD:
        return _bare_password(
            value,
            env=env and name.isupper(),
            alone=alone and ends,
            tight=not spaced and (ends or rest[:1] in "&;"),
            colon=colon,
            upper=name.isupper(),
            last=ends,
        )
    if what is Holds.SECRET:
        if env:
            return (
                not wordy(value)
                or _word_with_digits(value)
                or (name.isupper() and not _ABOUT_SECRETS.search(value) and len(value) >= 6)
            )
        return name != "PASS" and not wordy(value) and len(value) >= 6 and _not_code(value)
    if what is Holds.TOKEN:
        return opaque(value) and (env or _not_code(value))
    if alone and ends and (_unowned_key(name, value) or (colon and _header_key(name, value))):
        return True
    given = (env and name.isupper()) or (name == "_auth" and (env or (alone and ends)))
    return given and opaque(value) and len(value) >= 16 and "/" not in value[:1]


def _directory(name: str, value: str) -> bool:
    """`Pwd: "/a/b/c"`: the other thing that these letters stand for."""
    return name.lower().endswith("pwd") and _PATH.fullmatch(value) is not None


def _says_its_name(name: str, value: str) -> bool:
    """`self.pass_word = pass_word`"""
    return name.lower().endswith(value.lower()) and _IDENTIFIER.fullmatch(value) is not None


def _unowned_key(name: str, value: str) -> bool:
    """A value so long and so mixed that not even a `key` can be the name of something; digests are of one case."""
    if not name.lower().endswith("key") or _OPEN_KEY.search(name) is not None:
        return False
    cases = sum(c.isupper() for c in value), sum(c.islower() for c in value), sum(c.isdigit() for c in value)
    return len(value) >= 32 and min(cases) >= 2 and _BASE64.fullmatch(value) is not None and opaque(value)


def _header_key(name: str, value: str) -> bool:
    """`Fastly-Key: …`: a header that is one vendor's own."""
    return (
        _KEY_HEADER.fullmatch(name) is not None
        and len(value) >= 20
        and opaque(value)
        and _UUID.fullmatch(value) is None
    )


def _password(value: str) -> bool:
    if " " in value:
        return (
            not wordy(value.replace(" ", "-"))
            and len(value) <= 80
            and value.count(" ") <= 4
            and not value.endswith((".", "?"))
        )
    if "\\" in value and len(value) <= 5:
        return False
    if not wordy(value) or _mixed_with_signs(value):
        return True
    if _ABOUT_SECRETS.search(value) is not None:
        made = _word_with_digits(value) and not value[-2:-1].isalpha() and value.isalnum() and len(value) >= 8
        return made or thought_up(value)
    if "|" in value:  # rules of a form: `required|min:8`
        return False
    if _PASSPHRASE.fullmatch(value) is not None and not any(word in WORDS for word in value.split("-")):
        return True
    pieces = [p for p in re.split(r"[._/:-]", value) if p]
    return len(pieces) == 1 or any(c.isdigit() for c in value)


def _bare_password(value: str, *, env: bool, alone: bool, tight: bool, colon: bool, upper: bool, last: bool) -> bool:
    plain = not wordy(value) or _mixed_with_signs(value)
    if env:
        return True
    if plain:
        return alone or (tight and not colon) or (_not_code(value) and any(c.isdigit() for c in value))
    given = ((alone and colon) or tight) and "(" not in value and len(value) >= 8
    if given and (_word_with_digits(value) or thought_up(value)):
        return True
    if colon and last and not alone and len(value) >= 6 and _word_with_digits(value) and not algorithm(value):
        return True
    if _ABOUT_SECRETS.search(value) is not None or "(" in value:
        return False
    if any(c.isdigit() for c in value):
        return alone or (tight and not colon)
    if "." in value:
        return False
    return alone and value.islower() and len(value) >= (4 if upper else 6)


def thought_up(value: str) -> bool:
    """`mysecretpassword`, `dev_password_2024`: of words about secrets, and yet given for one."""
    return _THOUGHT_UP.fullmatch(value) is not None


def algorithm(value: str) -> bool:
    """`sha256`, `base64`, `pbkdf2`: how a password is kept, not which."""
    return _ALGORITHM.match(value) is not None


def _mixed_with_signs(value: str) -> bool:
    """`Secret@123`: words and digits, joined as no name joins them."""
    return any(c.isdigit() for c in value) and any(c in "!@#$%^&*" for c in value) and any(c.isalpha() for c in value)


def _word_with_digits(value: str) -> bool:
    return any(c.isdigit() for c in value) and any(c.isalpha() for c in value) and len(re.split(r"[._/:-]", value)) == 1


def _not_code(value: str) -> bool:
    """Not an expression: a dotted path of names, an operator."""
    return "." not in value or _IDENTIFIER.fullmatch(value) is None

"""A name, a separator, a value: environment files, YAML, TOML, JSON, headers, code, query parameters and form bodies."""

from __future__ import annotations

import re

from clew.redact.blocks import goes_on_below
from clew.redact.found import ENOUGH, REACH, Span, line_start
from clew.redact.headers import authorization, cookie, secret_pair
from clew.redact.lazy import lazy
from clew.redact.names import Holds, as_query, holds
from clew.redact.plausible import quoted_secret, unquoted_secret
from clew.redact.values import literal, opaque, reference, standin

# Read backwards from the separator: closing quotes and brackets, then the name. Every run has an end, and no two of
# them share a character, so it costs the same on any text.
_NAME_BACK = lazy(r"[?|+]{0,2}[ \t]{0,40}(?P<close>(?:[Dd]5%)?[\"'`*\\\])?]{0,8})(?P<name>[A-Za-z0-9_.$\-]{1,100})")
# {"name": "DB_PASSWORD", "value": "x"}, <add key="Password" value="x"/>
_PAIRED = lazy(
    r"[\"']?([\w.\-:]{2,80})\\*[\"'],?[ \t]{0,4}\\*[\"']?(?:parameter|option)?value\\*[\"']?[ \t]{0,4}$", re.IGNORECASE
)
# `- name: DB_PASSWORD`, above `value: x`.
_NAMED_LINE = lazy(
    r"(?:[^\w\n]{0,40}\d{1,6}[:|→\t])?[\s+\->#,{]{0,80}\\{0,3}[\"']?(?:(?:Parameter|Option)?(?:name|key|Name|Key)|variable)\\{0,3}[\"']?[ \t]{0,4}[:=][ \t]{0,4}\\{0,3}[\"']?([\w.\-]{2,80})\\{0,3}[\"']?,?\s{0,8}"
)
# A JSON string that the opened one stands in ends here, whether that was closed or not.
_OUTER_END = lazy(r"(?<!\\)(?:\\\\){0,8}\"[ \t]{0,4}[,:}\]]")
_LINE_ENDS = lazy(r"\n|\\+n")
_ABOVE = 400
_AFTER = lazy(
    r"(?:(?P<typed>:[ \t]{0,4}[A-Za-z_&*][\w.\[\]<>|?, &]{0,40}=(?=[ \t]{0,4}\\{0,7}[\"'`]))|(?P<op>:=|=>|={1,3}|:|,|\(|\|\||\?\?|[oO][rR](?= ))\*{0,2})"
    r"(?P<space>[ \t]{0,40})(?P<wrap>(?:\[\]byte|[Bb]ytes|bytearray|str|String|SecretStr|Secret|Some|Buffer\.from|StringValue|String::from|(?:new )?[A-Z]\w{1,30}(?:(?:::|\.)(?:from|new|of|valueOf|fromString|decode|parse))?)\()?"
    r"(?:(?P<prefix>[rRbBuUN@]?)(?P<quote>\\{0,7}[\"'`]))?"
)
# `setPassword("x")`, `.password("x")`: a call that gives the value, not one that looks it up.
_SETS = lazy(r"(?:(?:^|[\W_])(?:set|with|add)_?|[Ss]et|[Ww]ith|\.|\bPASSWORD|\bpassword)[\w\-]{0,60}$")
# `auth=("user", "password")`, `HTTPBasicAuth("user", "password")`.
_PAIR_OF_STRINGS = lazy(
    r"=?[ \t]{0,4}\([ \t]{0,4}\\{0,7}[\"'][^\"'\\\n]{1,128}\\{0,7}[\"'][ \t]{0,4},[ \t]{0,4}\\{0,7}[\"']([^\"'\\\n]{3,256})\\{0,7}[\"']"
)
# `map[X-Api-Key:[…]]`, a header as Go prints it.
_LISTED_HEADER = lazy(r":\[([^\s\]\"'`,;<>()\[{}|\\&]{8,4096})[\] ]")
# `"old" -> "new"`, a plan's line.
_BECOMES = lazy(r"\\*\" -> \\*\"([^\"\\\n]{4,512})")
_STORED_COOKIE = lazy(r"cookie|\\*[\"']domain\\*[\"']")
_COOKIE_VALUE = lazy(r":[ \t]{0,4}\\{0,7}[\"']([^\s;\"'`,<>\\]{12,4096})")
# `BASIC_AUTH=user:password`
_USER_AND_PASSWORD = lazy(r"=[ \t]{0,4}\\{0,7}[\"']?[^\s:\"'\\$({<]{1,64}:([^\s\"'\\]{4,256})")
_VALUES = frozenset(["value", "parametervalue", "optionvalue"])
# A program or a sentence as a parameter's value.
_PROSE_ENCODED = lazy(r"[()!\[\]{}]|%(?:0[AaDd]|20|5[BbDd]|28|29|7[BbDd])")
_NUMBER_OF_A_PERSON = lazy(r"(?:\\{0,7}[\"'`])?(\+?\(?\d[\d ()./\-–]{5,20}\d)(?![\w.:/-]\w|\w)")
_BARE = lazy(r"(?:[^\s\"'`,;<>()\[\]{}|\\&]++|\\(?![nrtu\"'\\/])|&(?![\w.%\-]{1,40}=))++")
_LOOSE = lazy(r"(?:[^\s\"'`\\&]++|\\(?![nrtu\"'\\/])|&(?![\w.%\-]{1,40}=))++")
_PARAMETER = lazy(r"[^\s&\"'<>#;`\\)\]}|,]{1,4096}")
# "API key: …", where the name is two words.
_SPOKEN = lazy(r"\b(?:api|access|secret|private|encryption|auth|license|signing|account|storage)[ ]$", re.IGNORECASE)
_ENV_LEAD = lazy(r"(?:^|\\[nrt]|[\s\"'`;|&(>]|\b(?:export|set|setx|env|ENV|ARG|declare|typeset)[ \t]+|-e[ \t]*)$")
# What may stand before a name on a line of its own: indentation, a list's dash, a gutter with the line's number, a diff mark.
_LINE_LEAD = lazy(
    r"(?:[\w./\-]{1,120}[:\-])?\s*(?:\d{1,6}\s?[|:→\t-])?\s*(?:[+\->#/*]{1,2}\s+|[+\-])?[*_]{0,2}(?:export |set )?[\"']?(?:[\w.\-]+[\"']?:[ ])?$"
)


def at_separator(text: str, position: int, *, code_file: bool) -> list[Span]:
    """The secrets that follow the `=` or `:` at that place, if the name before it says that one does."""
    start = line_start(text, position, 140)
    back = _NAME_BACK.match(text[start:position][::-1])
    if back is None:
        return []
    name = back["name"][::-1].lstrip("-$.")
    begin = position - back.end()
    if text[begin - 1 : begin] == "%" and name[:2].lower() == "5b":  # `user%5Bpassword%5D`
        name = name[2:]
    if name.lower() in _VALUES:
        paired = _PAIRED.search(text, start, position) or _line_above(text, position)
        if paired is None or code_file:
            return []
        if _STORED_COOKIE.search(text, max(0, start - 60), position + REACH // 8) and (
            jar := _cookie_field(text, paired[1], position)
        ):
            return jar
        name = paired[1]
    what = holds(name)
    if what is Holds.NOTHING or (
        text.endswith("::", start, begin) and '"' in back["close"]
    ):  # `"AWS::IAM::AccessKey": …`
        return []
    after = _AFTER.match(text, position)
    if after is None or text.startswith("::", position):
        return []
    op = _op(after)
    if op in {",", "("} and after["quote"] is None:
        return []
    given = _user_and_password(text, name, position)
    if given is not None:
        return [] if code_file or not _given_password(given[1]) else [Span(*given.span(1), "code-assignment")]
    if op in {"||", "??"} and back["close"] and not back["close"].strip("\"'`\\"):
        return []  # one of a list of alternatives
    if op == "(" and not _SETS.search(text, start, begin + len(name)):
        return []
    if what is Holds.WEAK and op == ":" and _SPOKEN.search(text, start, begin) is not None:
        what = Holds.TOKEN
    if what in {Holds.AUTHORIZATION, Holds.COOKIE}:
        read = authorization if what is Holds.AUTHORIZATION else cookie
        if after["typed"]:  # `Digest username="…"` is no type
            return read(text, position + 1 + len(after["typed"][1:]) - len(after["typed"][1:].lstrip(" \t")), None)
        return read(text, after.end(), after["quote"])
    if op == "=" and not back["close"] and not after["space"] and not after["quote"]:
        parameter = _parameter(text, name, begin, after.end())
        if parameter is not None:
            return parameter
    if what is Holds.QUERY:
        return []
    if what is Holds.PHONE:
        number = op == ":" and back["close"] and after["quote"] is None  # a mark in its place would be no JSON
        return [] if code_file or number or op in {"(", ",", "==", "==="} else _phone(text, after.end())
    if after["quote"] is not None:
        return [] if code_file and not _is_header(name, op) else _quoted(text, name, what, after, back["close"], begin)
    if "-" in name and op == ":":
        listed = _LISTED_HEADER.match(text, position)
        if listed is not None and literal(listed[1]) and opaque(listed[1]):
            return [Span(listed.start(1), listed.end(1), "header")]
    return [] if code_file and not _is_header(name, op) else _unquoted(text, name, what, after, back["close"], begin)


def _user_and_password(text: str, name: str, position: int) -> re.Match[str] | None:
    """The password of a user's name and a password that `auth=` is given as two strings, or `basicAuth` as one."""
    if not name.lower().endswith("auth"):
        return None
    found = _PAIR_OF_STRINGS.match(text, position)
    if found is None and name.lower().replace("_", "").endswith("basicauth"):
        found = _USER_AND_PASSWORD.match(text, position)
    return found


def _cookie_field(text: str, name: str, position: int) -> list[Span]:
    """`{"name": "session", "value": "…", "domain": …}`, as browsers' drivers keep cookies."""
    given = _COOKIE_VALUE.match(text, position)
    if given is None or not secret_pair(name, given[1]) or not opaque(given[1][:ENOUGH]):
        return []
    return [Span(given.start(1), given.end(1), "cookie")]


def _line_above(text: str, position: int) -> re.Match[str] | None:
    """The name on the line before that of a `value:`, as Kubernetes and task definitions write them."""
    low = max(0, position - _ABOVE)
    lines = _LINE_ENDS.split(text[low:position])
    return _NAMED_LINE.fullmatch(lines[-2]) if len(lines) > 1 else None


def may_name_next(line: str) -> bool:
    """Whether that line names what the next one gives; a stream holds it until then."""
    if len(line) >= _ABOVE:
        return False
    last = _LINE_ENDS.split(line)[-1]
    return _NAMED_LINE.fullmatch(last) is not None or goes_on_below(last)


def _parameter(text: str, name: str, begin: int, value_start: int) -> list[Span] | None:
    """As a URL's or form's parameter; None when it is none."""
    lead = text[max(0, begin - 6) : begin]
    in_query = lead.endswith(("?", "&", "&amp;", "\\u0026", "%26", "%3F"))
    match = _PARAMETER.match(text, value_start)
    if match is None:
        return [] if in_query else None
    follows = (
        text.startswith("&", match.end())
        and re.match(r"&[\w.%\-]{1,60}=", text[match.end() : match.end() + 64]) is not None
    )
    if not in_query and not (follows and not name.isupper()):
        return None
    whole = match[0].rstrip(".:")
    value = whole[:ENOUGH]
    if (
        not as_query(name)
        or (holds(name) is Holds.QUERY and _PROSE_ENCODED.search(value) is not None)
        or len(value) < 4
        or value.startswith(("%7B", "%3C", "{"))
        or reference(value)
        or standin(value)
    ):
        return []
    if holds(name) not in {Holds.PASSWORD, Holds.SECRET} and (
        len(value) < 6 or (value.isalpha() and not opaque(value)) or _small_number(value)
    ):
        return []
    token = text[line_start(text, begin, 400) : begin].rsplit(None, 1)
    family = "url-query" if "?" in (token[-1] if token else "") else "form-body"
    return [Span(value_start, value_start + len(whole), family)]


def _phone(text: str, start: int) -> list[Span]:
    """A number that a name says is a person's: it need not be in international form."""
    match = _NUMBER_OF_A_PERSON.match(text, start - (text[start - 1 : start] in "\"'`"))
    if match is None or not 7 <= sum(map(str.isdigit, match[1])) <= 15:
        return []
    digits = [c for c in match[1] if c.isdigit()]
    return [Span(match.start(1), match.end(1), "phone")] if len(set(digits)) > 1 else []


def _op(after: re.Match[str]) -> str:
    return after["op"].rstrip("*") if after["op"] else "="


def _small_number(value: str) -> bool:
    return value.isdigit() and len(value) < 6


def _is_header(name: str, op: str) -> bool:
    return op == ":" and "-" in name


def _family(op: str, quote: str | None, close: str, space: str, name: str) -> str:
    if op == ":":
        if _is_header(name, op) and name.lower().startswith(("x-", "api-", "private-", "proxy-", "ocp-", "auth-")):
            return "header"
        return "json-field" if '"' in close or "'" in close else "yaml-assignment"
    if op == "=" and (quote is None or not space):
        return "env-assignment"
    return "toml-assignment" if op == "=" else "code-assignment"


def _quoted(text: str, name: str, what: Holds, after: re.Match[str], close: str, begin: int) -> list[Span]:
    quote, op = after["quote"], _op(after)
    start = after.end()
    if text.startswith(quote[-1] * 2, start) and len(quote) == 1:  # three quotes
        start += 2
    end = closing(text, start, quote)
    value = text[start:end]
    template = quote.endswith("`") or (begin > 0 and not after["prefix"] and text[after.start("quote") - 1] in "fF$")
    if template and "{" in value:
        return []
    if after["prefix"] in {"r", "R"} and what in {Holds.TOKEN, Holds.WEAK}:  # an expression
        return []
    drawn = op in {"==", "==="} or after["wrap"] is not None
    listed = op == "(" or (op == "," and not name.isupper())
    if not quoted_secret(what, name, value, compared=drawn, bare_list=listed):
        return []
    family = _family(op, quote, close, after["space"], name)
    becomes = _BECOMES.match(text, end)
    after_it = [] if becomes is None or not literal(becomes[1]) else [Span(becomes.start(1), becomes.end(1), family)]
    return [Span(start, end, family), *after_it]


def _given_password(value: str) -> bool:
    return quoted_secret(Holds.PASSWORD, "password", value, bare_list=True)


def closing(text: str, start: int, quote: str) -> int:
    """Where the string that `quote` opened ends: at its like, at the end of what it is nested in, or of the line."""
    mark, depth = quote[-1], len(quote) - 1
    limit = text.find("\n", start, start + REACH)
    limit = min(len(text), start + REACH) if limit < 0 else limit
    outer = _OUTER_END.search(text, start, limit) if mark != '"' else None
    limit = limit if outer is None else outer.start()
    position = text.find(mark, start, limit)
    while position >= 0:
        slashes = position
        while slashes > start and text[slashes - 1] == "\\":
            slashes -= 1
        if position - slashes <= depth or (position - slashes) % 2 == 0:
            return slashes if position - slashes == depth else (position if depth == 0 else slashes)
        position = text.find(mark, position + 1, limit)
    # Cut off: an escaped line end inside an outer string ends it too.
    return limit if depth == 0 else min(limit, next((p for p in (text.find("\\n", start, limit),) if p >= 0), limit))


def _unquoted(text: str, name: str, what: Holds, after: re.Match[str], close: str, begin: int) -> list[Span]:
    op, start = _op(after), after.start("wrap") if after["wrap"] else after.end()
    # A bare word after a quoted key is a number or code; after a comparison, code.
    if (op == ":" and close) or op in {"==", "==="}:
        return []
    # A part of a resource's name: `arn:aws:…:secret:prod/db`.
    if op == ":" and not after["space"] and text[begin - 1 : begin] == ":":
        return []
    line = line_start(text, begin)
    lead = text[line:begin]
    alone = len(lead) <= 160 and _LINE_LEAD.fullmatch(lead) is not None
    env = (
        op == "="
        and not after["space"]
        and (name.isupper() or alone)
        and _ENV_LEAD.search(lead[-24:]) is not None
        and not close
    )
    match = (_LOOSE if env else _BARE).match(text, start, start + REACH)
    if match is None:
        return []
    value = match[0].split("</", 1)[0].rstrip(",;") if env else match[0].rstrip(".:")
    rest = text[start + len(value) : start + len(value) + 80].split("\n", 1)[0]
    spaced = bool(after["space"])
    if not unquoted_secret(what, name, value, rest, env=env, alone=alone and not close, spaced=spaced, colon=op == ":"):
        return []
    return [Span(start, start + len(value), _family(op, None, close, after["space"], name))]

"""Secrets in URLs: user and password, webhook paths. Query parameters are assignments."""

from __future__ import annotations

import re

from clew.redact.found import Span
from clew.redact.lazy import lazy
from clew.redact.values import opaque, reference

_SCHEME_BACK = lazy(r"[A-Za-z0-9+.\-]{1,40}")
_USERINFO = lazy(r"([^\s/?#\"'<>\\`]{1,1024})@(?=[\w\[${%])")
# A database's password is often not percent-encoded, whatever the standard says.
_LOCAL = lazy(r"([^\s/?#\"'<>\\`]{1,1024})@(?=[\w\[${%/])")
_LAX = lazy(r"([^\s/?#\"'<>\\`:@]{0,128}:[^\s\"'<>\\`@]{1,512})@(?=[\w\[${%])")
_DATABASE = lazy(
    r"(?:postgres(?:ql)?|mysqlx?|mariadb|mongodb|rediss?|valkeys?|amqps?|clickhouse|mssql|sqlserver|oracle|cockroachdb|cassandra|neo4j"
    r"|bolt|kafka|nats|memcached|couchdb|db2|firebird|snowflake|redshift|elasticsearch|influxdb|sqlite|hive|presto|trino|cockroach)"
    r"(?:[+:].*)?",
    re.IGNORECASE,
)
_ORACLE = lazy(r"oracle:(?:thin|oci8?):[^\s/@\"'<>\\]{1,64}/([^\s@\"'<>\\]{2,256})@", re.IGNORECASE)
_DSN_BACK = lazy(r"([^\s\"'<>\\`:/]{1,128}):[\w.\-]{1,64}(?=[^\w:]|\Z)")
_MASKED = lazy(r"[*x•.#]+|\[.*", re.IGNORECASE)
_HOOKS = (
    lazy(r"hooks\.slack(?:-gov)?\.com/(?:services|workflows|triggers)/([\w/+\-]{20,200})"),
    lazy(r"/api/(?:v\d{1,2}/)?webhooks/\d{15,21}/([\w\-]{40,200})"),
    lazy(r"webhook\.office\.com/webhookb2/([\w/@\-]{40,300})"),
    lazy(r"hooks\.zapier\.com/hooks/catch/([\w/]{10,80})"),
    lazy(r"chat\.googleapis\.com/v1/spaces/[\w\-]{5,40}/messages\?key=([\w\-]{20,100})"),
)


def at_scheme(text: str, position: int) -> list[Span]:
    """The password (or the token) before the `@` of the URL whose `://` stands at that place."""
    scheme = _SCHEME_BACK.match(text[max(0, position - 40) : position][::-1])
    if scheme is None:
        return []
    database = _DATABASE.fullmatch(scheme[0][::-1]) is not None
    start = position + (3 if text.startswith("://", position) else 5)  # `:\/\/`
    match = (_LOCAL if database else _USERINFO).match(text, start)
    if match is None and database:
        match = _LAX.match(text, start)
        if match is not None and re.match(r"[^:]*:\d{2,5}/", match[1]) is not None:
            return []
    if match is None:
        return []
    user, colon, password = match[1].partition(":")
    if colon:
        if not password or reference(password) or _MASKED.fullmatch(password) is not None or password.startswith("%"):
            return []
        begin = start + len(user) + 1
        found = [Span(begin, begin + len(password), "database-url" if database else "url-userinfo")]
        # GitHub takes a token for the user, and anything for its password.
        return [Span(start, start + len(user), "url-userinfo"), *found] if len(user) >= 32 and opaque(user) else found
    if len(user) >= 16 and not reference(user) and opaque(user):
        return [Span(start, start + len(user), "url-userinfo")]
    return []


def at_dsn(text: str, position: int) -> list[Span]:
    """`user:password@tcp(host:3306)/name`, as Go's MySQL driver takes it."""
    match = _DSN_BACK.match(text[max(0, position - 200) : position][::-1])
    if match is None or reference(match[1][::-1]) or _MASKED.fullmatch(match[1]) is not None:
        return []
    return [Span(position - len(match[1]), position, "database-url")]


def at_oracle(text: str, position: int) -> list[Span]:
    """`jdbc:oracle:thin:user/password@…`."""
    match = _ORACLE.match(text, position)
    if match is None or reference(match[1]) or _MASKED.fullmatch(match[1]) is not None:
        return []
    return [Span(match.start(1), match.end(1), "database-url")]


def at_hook(text: str, position: int) -> list[Span]:
    """The path of a webhook: who knows it may post."""
    for hook in _HOOKS:
        match = hook.search(text, max(0, position - 12), position + 400)
        if match is not None and match.start() <= position and not reference(match[1]) and len(set(match[1])) > 8:
            return [Span(match.start(1), match.end(1), "webhook-url")]
    return []

"""The kinds of secret that are told apart."""

from __future__ import annotations

from clew.redact.vendors import INFIX, TABLE

STRUCTURAL = (
    "private-key", "env-assignment", "yaml-assignment", "toml-assignment", "json-field", "code-assignment", "header",
    "authorization", "cookie", "database-url", "url-userinfo", "url-query", "form-body", "webhook-url", "jwt",
    "command-line", "sql", "netrc", "xml-element", "table-cell", "prose", "phone", "discord-mention",
)  # fmt: skip
VENDORS = tuple(sorted({row.split()[0] for table in (TABLE, INFIX) for row in table.strip().splitlines()}))
FAMILIES = STRUCTURAL + VENDORS

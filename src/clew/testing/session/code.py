"""The code base of a made session: a shop's back office, one module and one test file for each of its domains."""

from __future__ import annotations

from clew.testing.dice import Dice

DOMAINS = (
    "orders", "invoices", "refunds", "shipments", "payments", "customers", "pallets", "coupons", "returns", "taxes",
    "ledgers", "webhooks", "products", "carts", "quotes", "suppliers", "deposits", "exports", "reports", "sessions",
    "notices", "batches", "vouchers", "parcels",
)  # fmt: skip
_VERBS = ("collect", "archive", "reconcile", "expire", "merge", "announce", "audit", "import", "summarise", "forward")
_FIELDS = ("reference", "status", "currency", "region", "channel", "note", "owner", "batch", "priority", "source")
PACKAGE = "harbour"


def singular(domain: str) -> str:
    return domain.removesuffix("es") if domain.endswith(("taxes", "batches")) else domain.removesuffix("s")


def module_path(domain: str) -> str:
    return f"{PACKAGE}/{domain}.py"


def test_path(domain: str) -> str:
    return f"tests/test_{domain}.py"


def build(dice: Dice, domains: tuple[str, ...]) -> dict[str, str]:
    """Every file of the repository before the session begins, by path."""
    files = {"README.md": _README, "pyproject.toml": _PYPROJECT, "config/limits.yaml": _LIMITS}
    for n, name in enumerate(("create_orders", "add_invoice_index", "split_addresses")):
        files[f"migrations/{n + 1:04d}_{name}.sql"] = f"-- {name.replace('_', ' ')}\nBEGIN;\n{_SQL}COMMIT;\n"
    for domain in domains:
        files[module_path(domain)] = _module(dice, domain)
        files[test_path(domain)] = _tests(dice, domain)
    return files


def _module(dice: Dice, domain: str) -> str:
    one = singular(domain)
    title = one.capitalize()
    fields = dice.shuffled(_FIELDS)[:5]
    out = [_HEAD.format(domain=domain, one=one, title=title, package=PACKAGE, limit=dice.between(20, 400))]
    out += [f"    {name}: str = {dice.pick(('', 'new', 'eu-west', 'web', 'EUR'))!r}\n" for name in fields]
    out.append(_CORE.format(domain=domain, one=one, title=title, upper=one.upper()))
    for verb in dice.shuffled(_VERBS)[: dice.between(4, 7)]:
        a, b = dice.pick(fields), dice.pick(fields)
        out.append(
            _VERB.format(verb=verb, domain=domain, one=one, title=title, a=a, b=b, days=dice.between(2, 90))
            if dice.chance(55)
            else _QUERY.format(verb=verb, domain=domain, one=one, title=title, a=a, b=b, page=dice.between(25, 500))
        )
    return "".join(out)


def _tests(dice: Dice, domain: str) -> str:
    one = singular(domain)
    out = [f"from decimal import Decimal\n\nimport pytest\n\nfrom {PACKAGE} import {domain}\n\n"]
    out.extend(
        f"\ndef test_{one}_{name}(session, make_{one}):\n"
        f"    {one} = make_{one}(quantity={dice.between(1, 9)}, price=Decimal('{dice.between(3, 99)}.{dice.between(10, 99)}'))\n"
        f"    assert {domain}.check_{name}(session, {one}) is True\n"
        for name in ("limit", "rounding", "retry", "missing", "clock")
    )
    return "".join(out)


_README = f"""# {PACKAGE}

Back office of a shop: orders in, money out. `make dev` starts it, `pytest -q` tests it.

- `{PACKAGE}/` one module a domain
- `migrations/` SQL, applied in order by the operators, once
- `config/limits.yaml` what it may spend and how long it may take
"""
_PYPROJECT = f"""[project]
name = "{PACKAGE}"
version = "3.4.1"
requires-python = ">=3.12"
dependencies = ["sqlalchemy==2.0.41", "pydantic==2.11.7", "httpx==0.28.1"]

[tool.pytest.ini_options]
testpaths = ["tests"]
"""
_LIMITS = """# Read at start; a change needs a restart.
geocoding:
  monthly_usd: 1200
  per_minute: 50
worker:
  port: 8080
  queue: default
  timeout_seconds: 30
"""
_SQL = "ALTER TABLE records ADD COLUMN IF NOT EXISTS touched_at timestamptz;\nCREATE INDEX CONCURRENTLY IF NOT EXISTS ix_touched ON records (touched_at);\n"
_HEAD = '''"""{title} records: how they are read, checked and written."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from decimal import Decimal

from {package}.core import NotFound, Session, backoff, events

log = logging.getLogger(__name__)

MAX_QUANTITY = {limit}
RETRY_LIMIT = 2
CENT = Decimal("0.01")


@dataclass(frozen=True, slots=True)
class {title}:
    id: int
    quantity: int
    price: Decimal
    created: datetime
    lines: tuple[str, ...] = field(default=())
'''
_CORE = """

def load_{one}(session: Session, {one}_id: int) -> {title}:
    row = session.one("SELECT * FROM {domain} WHERE id = %s", {one}_id)
    return {title}(**row)


def check_limit(session: Session, {one}: {title}) -> bool:
    if {one}.quantity > MAX_QUANTITY:
        log.warning("{one} %s is over the limit", {one}.id)
        return False
    return session.allows("{one}", {one}.id)


def total(session: Session, {one}: {title}) -> Decimal:
    net = {one}.price * {one}.quantity
    gross = net + net * session.rate("{domain}")
    return round(gross, 2)


def is_overdue({one}: {title}, days: int = 14) -> bool:
    return datetime.now() - {one}.created > timedelta(days=days)


def deliver(session: Session, {one}: {title}) -> bool:
    for attempt in range(RETRY_LIMIT):
        if session.post("/{domain}/events", {one}.id, timeout=5):
            return True
        backoff.sleep(attempt)
    log.error("{upper}_DELIVERY gave up on %s after %s attempts", {one}.id, RETRY_LIMIT)
    return False
"""
_VERB = """

def {verb}_{domain}(session: Session, older_than: int = {days}) -> int:
    done = 0
    for row in session.all("SELECT * FROM {domain} WHERE age(created) > %s ORDER BY {a}, id", older_than):
        {one} = {title}(**row)
        if not {one}.{a} or {one}.{b} == "locked":
            log.debug("{verb}: {one} %s skipped, {b} is %r", {one}.id, {one}.{b})
            continue
        session.save(replace({one}, {b}="{verb}"))
        events.emit("{one}.{verb}", id={one}.id, {a}={one}.{a})
        done += 1
    log.info("{verb}: %s {domain}", done)
    return done
"""
_QUERY = '''

def {verb}_by_{a}(session: Session, {a}: str, page: int = 0) -> list[{title}]:
    """The {domain} of one {a}, newest first, {page} at a time."""
    rows = session.all(
        "SELECT * FROM {domain} WHERE {a} = %s AND {b} <> 'void' ORDER BY created DESC LIMIT {page} OFFSET %s",
        {a},
        page * {page},
    )
    found = [{title}(**row) for row in rows]
    if not found and page == 0:
        events.emit("{one}.{verb}.empty", {a}={a})
    return found
'''

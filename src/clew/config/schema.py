"""The settings as frozen values: every section and key, with its default, range and meaning.

Names, ranges and defaults are those of the Hermes and HMC files that users already have, so that such a file works;
what Clew adds stands beside them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from clew.config.fields import Secret, about, setting
from clew.config.keys import build, flatten
from clew.config.layers import Layer, Plain
from clew.config.relations import broken
from clew.config.silent import Silent
from clew.errors import ConfigError

ENGINES = {"compressor": "clew", "lcm": "lossless"}

# Read and checked, since users' files have them, but acted on by nothing yet. Whoever makes one work takes it out here.
UNUSED = ("context.engine", "redaction", "silent")


def _web(value: str) -> str:
    return "" if value.startswith(("http://", "https://")) else "wants a URL that starts with http:// or https://"


def _store(value: str) -> str:
    known = ("sqlite:///", "memory:", "postgresql://", "postgres://")
    return "" if value.startswith(known) else "wants sqlite:///PATH, memory: or postgresql://HOST/NAME"


def _credential(value: Secret) -> str:
    return "" if value.text.isprintable() and " " not in value.text else "holds a space or control character"


def _upstreams(value: Mapping[str, Any]) -> str:
    for name, url in value.items():
        if not isinstance(url, str) or _web(url):
            return f"wants NAME: URL; {name!r} has no URL that starts with http:// or https://"
    return ""


def _models(value: Mapping[str, Any]) -> str:
    wrong = next((name for name, facts in value.items() if not isinstance(facts, Mapping)), None)
    return "" if wrong is None else f"wants a mapping beneath each model; {wrong!r} has none"


def unused(name: str) -> bool:
    """Whether nothing acts on the key of this dotted name yet."""
    return any(name == part or name.startswith(f"{part}.") for part in UNUSED)


@dataclass(frozen=True, slots=True)
class Compression:
    """When a conversation is compacted, what is always kept, how long a handoff may be."""

    enabled: bool = setting(True, "Compact at all; `false` stops the engine and the gateway's hygiene.")
    threshold: float = setting(
        0.50, "Compact when the prompt reaches this share of the window, less output, system and tools.", low=0, high=1
    )
    target_ratio: float = setting(0.20, "Share of the threshold that the tail may fill.", low=0.10, high=0.80)
    protect_last_n: int = setting(20, "Messages always kept at the end, where the budget allows.", low=1)
    protect_first_n: int = setting(
        3, "Messages kept at the start beyond the system prompt; 0 after the first compaction.", low=0
    )
    min_tail_messages: int = setting(3, "Messages kept at the end whatever the budget.", low=1)
    tail_soft_ceiling: float = setting(
        1.5, "The tail may pass its budget by this factor to hold the last request and the last reply.", low=1, high=4
    )
    in_place: bool = setting(
        True,
        "Keep one session id for life, as the library and the gateway always do; `false` tells a host that rotates "
        "sessions to go on in a child at a compaction.",
    )
    abort_on_summary_failure: bool = setting(
        False, "Leave the conversation as it is when no model can summarise; `false` lets the ledger write the handoff."
    )
    system_note: str = setting(
        "handoff",
        "Where the model is told that turns were compacted: in the handoff's framing, or appended to the system prompt.",
        choices=("handoff", "system"),
    )
    max_output: int | None = setting(
        None, "Tokens of the window kept free for the answer; empty: what the request or the catalogue says.", low=1
    )
    threshold_floor: int = setting(0, "Never compact below this many tokens (Hermes: 64000).", low=0)
    threshold_ceiling: int | None = setting(
        None, "Always compact at this many tokens, however large the window.", low=1000
    )
    hygiene_threshold: float = setting(
        0.85, "Share of the window at which the gateway compacts before a call, as the safety net.", low=0, high=1
    )
    hygiene_min_messages: int = setting(4, "Hygiene leaves shorter conversations alone.", low=1)
    hygiene_hard_message_limit: int = setting(
        5000, "Hygiene compacts at this many messages, whatever their size.", low=1
    )
    summary_ratio: float = setting(
        0.20, "Length of a model's handoff as a share of what it stands for.", low=0.01, high=1
    )
    summary_min_tokens: int = setting(2000, "Least budget of a model's handoff.", low=100)
    summary_max_ratio: float = setting(
        0.05, "Greatest budget of a model's handoff as a share of the window.", low=0.005, high=0.5
    )
    summary_max_tokens: int = setting(12000, "Greatest budget of a model's handoff in tokens.", low=100)
    summary_headroom: float = setting(
        1.3, "The summary call's output limit as a multiple of the budget.", low=1, high=4
    )
    ledger_max_tokens: int | None = setting(
        None,
        "About what a handoff the ledger writes may take, beyond what must be kept; empty: chosen from the window.",
        low=100,
    )
    min_saving: float = setting(0.10, "A compaction that saves a smaller share is a strike.", low=0, high=0.9)
    max_strikes: int = setting(2, "Strikes until Clew escalates and says what fills the window.", low=1)


@dataclass(frozen=True, slots=True)
class Summariser:
    """The model that writes handoffs (`auxiliary.compression`)."""

    provider: str = setting(
        "auto", "`auto`, `main` (the main model's), `openrouter`, `nous`, `anthropic`, `openai` or a base URL."
    )
    model: str | None = setting(None, "Model for handoffs; empty: the main model, or none.")
    base_url: str | None = setting(None, "An OpenAI-compatible endpoint.", check=_web, private=True)
    api_key: Secret | None = field(
        default=None,
        metadata=about("Credential, best as `${NAME}` of an environment variable; never shown.", check=_credential),
    )
    context_length: int | None = setting(None, "Window of this model; empty: from the catalogue.", low=1)
    timeout: float = setting(120.0, "Seconds a summary call may take.", low=1, high=3600)
    reasoning_effort: str | None = setting(None, "Sent with the call where the provider knows it.")
    extra_body: Mapping[str, Any] = setting({}, "Further fields of the call's body.", private=True)


@dataclass(frozen=True, slots=True)
class Auxiliary:
    """Helpers' models; Clew's is the summariser."""

    compression: Summariser = field(default_factory=Summariser)


@dataclass(frozen=True, slots=True)
class Engine:
    """Which engine decides (`context`)."""

    engine: str = setting(
        "clew",
        "`clew` (also `compressor`), `lossless` (also `lcm`), or an installed engine's name.",
        choices=("clew", "lossless"),
        others=True,
        spelled=ENGINES,
    )


@dataclass(frozen=True, slots=True)
class PromptCaching:
    """Cache breakpoints on the wire."""

    enabled: bool = setting(True, "Mark requests for the provider's cache, or send its key; `false` adds nothing.")
    cache_ttl: str = setting("5m", "How long providers keep a cached prefix.", choices=("5m", "1h"))


@dataclass(frozen=True, slots=True)
class Main:
    """The main model (`model`), for commands that aren't told one and as the summariser's fallback."""

    default: str | None = setting(None, "Name of the main model.")
    provider: str = setting("auto", "Its provider, as for the summariser.")
    base_url: str | None = setting(None, "Its endpoint.", check=_web, private=True)
    api_key: Secret | None = field(
        default=None, metadata=about("Its credential, best as `${NAME}`; never shown.", check=_credential)
    )
    context_length: int | None = setting(None, "Its window; empty: from the catalogue.", low=1)


@dataclass(frozen=True, slots=True)
class Store:
    """Where conversations are kept."""

    url: str | None = setting(
        None,
        "`sqlite:///PATH` or `memory:`; empty: `clew.db` under `CLEW_HOME`. There is no store for `postgresql://…` yet.",
        check=_store,
        private=True,
    )
    synchronous: str = setting(
        "NORMAL", "SQLite's durability: FULL survives a power cut, at a price.", choices=("NORMAL", "FULL")
    )


@dataclass(frozen=True, slots=True)
class Redaction:
    """Secrets."""

    logs: bool = setting(True, "Mask secrets in logs. Handoffs, search and the page are masked whatever this says.")
    keep_originals: bool = setting(
        True, "Store originals unmasked (masked on every way out); `false` masks them in the store too."
    )


@dataclass(frozen=True, slots=True)
class Serve:
    """The gateway (`clew serve`). Its section isn't called `gateway`, which is Hermes' own."""

    host: str = setting("127.0.0.1", "Address to listen on; a public one needs a token.")
    port: int = setting(48800, "Port to listen on; 0 takes a free one.", low=0, high=65535)
    token: Secret | None = field(
        default=None, metadata=about("Token that clients must send, best as `${NAME}`; never shown.", check=_credential)
    )
    upstreams: Mapping[str, str] = setting({}, "Providers by name: `NAME: URL`.", check=_upstreams, private=True)
    mode: str = setting(
        "compress", "`observe` shortens nothing and reports what it would have done.", choices=("compress", "observe")
    )
    recall: str = setting(
        "command",
        "How models ask for originals: `command` (a shell of the agent's own) or `tool` (offered and answered here).",
        choices=("command", "tool"),
    )
    workers: int = setting(1, "Processes.", low=1, high=256)
    max_body_mb: int = setting(64, "Largest request body.", low=1, high=1024)
    summary_wait: float = setting(
        20.0,
        "Seconds a request that can't fit waits for a summary before the ledger's handoff is used.",
        low=0,
        high=600,
    )


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that can be set. Equal settings give equal views in every process."""

    compression: Compression = field(default_factory=Compression)
    auxiliary: Auxiliary = field(default_factory=Auxiliary)
    context: Engine = field(default_factory=Engine)
    prompt_caching: PromptCaching = field(default_factory=PromptCaching)
    model: Main = field(default_factory=Main)
    silent: Silent = field(default_factory=Silent)
    store: Store = field(default_factory=Store)
    redaction: Redaction = field(default_factory=Redaction)
    serve: Serve = field(default_factory=Serve)
    models: Mapping[str, Mapping[str, Any]] = setting(
        {}, "What the catalogue doesn't know, by model name.", check=_models
    )

    def with_(self, changes: Mapping[str, Any]) -> Settings:
        """These settings with some changed, by dotted or nested key; ConfigError says what is wrong with one."""
        layer = Layer(Settings, strict=True)
        layer.walk(Plain(), changes)
        changed = build(Settings, flatten(self) | layer.values)
        problems = [*map(str, layer.problems), *(r.text for r in broken(changed) if not r.advisory and r.holds(self))]
        if problems:
            raise ConfigError("\n".join(problems))
        return changed

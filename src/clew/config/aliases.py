"""Names that other files use for Clew's keys, and names in Clew's sections that only their owner uses."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Alias:
    """Another name of a key. A deprecated one is read with a note; `variable` values name an environment variable."""

    key: str
    deprecated: bool = False
    variable: bool = False


ALIASES = {
    "compression.summary_model": Alias("auxiliary.compression.model", deprecated=True),
    "compression.summary_provider": Alias("auxiliary.compression.provider", deprecated=True),
    "compression.summary_base_url": Alias("auxiliary.compression.base_url", deprecated=True),
    "model.cache_ttl": Alias("prompt_caching.cache_ttl", deprecated=True),
    "model": Alias("model.default"),  # Hermes takes a plain name where it also takes a mapping
    "model.name": Alias("model.default"),
    "model.model": Alias("model.default"),
    "auxiliary.compression.api_key_env": Alias("auxiliary.compression.api_key", variable=True),
    "auxiliary.compression.key_env": Alias("auxiliary.compression.api_key", variable=True),
}

# Hermes' own keys inside sections that are Clew's: no slip of the user's, and nothing for Clew to do.
HERMES_ONLY = frozenset(
    {
        "compression.codex_gpt55_autoraise",
        "compression.codex_gpt55_autoraise_notice",
        "compression.codex_app_server_auto",
        "auxiliary.compression.api_mode",
        "auxiliary.compression.fallback_chain",
    }
)

# Sections Clew shares with Hermes: it reads its own keys there and leaves the others alone.
SHARED = frozenset({"", "auxiliary", "model"})

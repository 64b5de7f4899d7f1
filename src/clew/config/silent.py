"""What is shortened without a model: HMC's table of settings, under `silent`."""

from __future__ import annotations

from dataclasses import dataclass, field

from clew.config.fields import setting

LANGUAGES = ("python", "javascript", "typescript", "rust", "go")


@dataclass(frozen=True, slots=True)
class ManualMode:
    """Compaction by hand."""

    enabled: bool = setting(False, "The user drives compaction; the next key says what still runs by itself.")
    automatic_strategies: bool = setting(True, "In manual mode, let strategies without a model run.")


@dataclass(frozen=True, slots=True)
class SilentCompress:
    """When ranges are summarised in the background, and which tools are never shortened."""

    max_context_percent: float = setting(0.8, "Share of the window that starts a background summary.", low=0, high=1)
    min_context_percent: float = setting(0.4, "Share of the window to compact down to.", low=0, high=1)
    protected_tools: tuple[str, ...] = setting(
        ("write_file", "patch"), "Tools whose calls are never shortened; these two never are, listed or not."
    )


@dataclass(frozen=True, slots=True)
class Deduplication:
    """Repeated results."""

    enabled: bool = setting(True, "Replace a result that repeats another.")
    protected_tools: tuple[str, ...] = setting((), "Further tools to leave out.")


@dataclass(frozen=True, slots=True)
class PurgeErrors:
    """Old errors."""

    enabled: bool = setting(True, "Replace errors that have grown old.")
    turns: int = setting(4, "Turns after which an error is old.", low=1)
    protected_tools: tuple[str, ...] = setting((), "Further tools to leave out.")


@dataclass(frozen=True, slots=True)
class Strategies:
    """What runs over the whole list."""

    deduplication: Deduplication = field(default_factory=Deduplication)
    purge_errors: PurgeErrors = field(default_factory=PurgeErrors)


@dataclass(frozen=True, slots=True)
class ShortCircuits:
    """Known success outputs."""

    enabled: bool = setting(True, "Shorten outputs of a known successful shape to one line.")


@dataclass(frozen=True, slots=True)
class Truncation:
    """Long outputs."""

    enabled: bool = setting(True, "Keep the head and tail of long outputs.")
    max_lines: int = setting(50, "Longer outputs are shortened.", low=1)
    head_lines: int = setting(10, "Lines kept from the top.", low=0)
    tail_lines: int = setting(10, "Lines kept from the bottom.", low=0)
    min_content_length: int = setting(500, "Shorter outputs (in bytes) are left alone.", low=0)


@dataclass(frozen=True, slots=True)
class BackgroundCompression:
    """Summaries ahead of the wall."""

    enabled: bool = setting(True, "Summarise completed ranges in the background.")
    protect_recent_turns: int = setting(3, "User turns at the end that are never summarised.", low=0)


@dataclass(frozen=True, slots=True)
class Analytics:
    """The record of what was saved."""

    enabled: bool = setting(True, "Keep a lasting record of savings.")
    retention_days: int = setting(90, "Older rows are removed.", low=1)
    db_path: str | None = setting(None, "Where; empty: `analytics.db` under `CLEW_HOME`. `HMC_DB_PATH` is read too.")


@dataclass(frozen=True, slots=True)
class CodeFilter:
    """Outlines of source code."""

    enabled: bool = setting(True, "Reduce source code in outputs to its outline.")
    languages: tuple[str, ...] = setting(LANGUAGES, "Languages to outline.", choices=LANGUAGES, others=True)
    min_lines: int = setting(30, "Shorter snippets are left alone.", low=1)
    preserve_docstrings: bool = setting(True, "Keep documentation comments.")


@dataclass(frozen=True, slots=True)
class Silent:
    """What is shortened without a model: HMC's table."""

    enabled: bool = setting(True, "Master switch of everything beneath.")
    debug: bool = setting(False, "Log each decision.")
    manual_mode: ManualMode = field(default_factory=ManualMode)
    compress: SilentCompress = field(default_factory=SilentCompress)
    strategies: Strategies = field(default_factory=Strategies)
    short_circuits: ShortCircuits = field(default_factory=ShortCircuits)
    truncation: Truncation = field(default_factory=Truncation)
    background_compression: BackgroundCompression = field(default_factory=BackgroundCompression)
    analytics: Analytics = field(default_factory=Analytics)
    code_filter: CodeFilter = field(default_factory=CodeFilter)

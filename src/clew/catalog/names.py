"""One model has many names: provider prefixes, regions, dates, tags, quantisations. This takes them off, one by one."""

from __future__ import annotations

import re

_CLOUD = re.compile(
    r"^(?:(?:us|eu|apac|au|jp|ca|global|us-gov)\.)?"
    r"(?:anthropic|meta|mistral|deepseek|qwen|openai|moonshot|moonshotai|minimax|zai|xai|google)\.(?=[a-z])"
)
_TAIL = re.compile(
    r"(?:-v\d+(?:\.\d+)?(?::\d+)?(?::\d+k)?|@[\w-]+|:[\w.-]+|\[1m\]"  # bedrock; vertex; openrouter and ollama tags; Claude Code
    r"|-(?:20\d{6}|20\d\d-\d\d-\d\d|\d{4}|\d{2}-20\d\d)"  # dates
    r"|-(?:latest|preview|exp|beta|experimental|instruct|instruct-turbo|chat|it|hf|thinking|reasoning|online|maas)"
    r"|-(?:minimal|low|medium|high|xhigh|fp4|fp8|fp16|bf16|int4|int8|awq|gptq|gguf|mlx|\d+bit|q\d\w*)"
    r"|-(?:a?\d+(?:\.\d+)?[bm]|\d+e|\d+k))$"
)
_FAMILIES = (
    ("claude", "claude|anthropic"),
    ("gpt", r"gpt|codex|davinci|(?:^|[/.])o\d"),
    ("gemini", "gemini|gemma"),
    ("grok", "grok"),
    ("deepseek", "deepseek"),
    ("qwen", "qwen|qwq"),
    ("kimi", "kimi|moonshot"),
    ("glm", "glm|zai"),
    ("minimax", "minimax"),
    ("mistral", r"mi[sx]tral|codestral|devstral|magistral|pixtral"),
    ("llama", "llama"),
)
_SELF_HOSTED = (
    "ollama",
    "ollama_chat",
    "lmstudio",
    "lm_studio",
    "vllm",
    "hosted_vllm",
    "llamacpp",
    "llamafile",
    "local",
)


def canonical(name: str) -> str:
    """The form in which names are compared: "claude-opus-4.5" and "claude-opus-4-5" are one."""
    return name.lower().replace(".", "-").replace("_", "-")


def spellings(name: str) -> tuple[str, ...]:
    """Ever shorter spellings of `name` in lower case, the most exact first."""
    text = name.strip().lower()
    out = [text]
    for shorter in (text.rsplit("/", 1)[-1], _CLOUD.sub("", text.rsplit("/", 1)[-1])):
        if shorter and shorter != out[-1]:
            out.append(shorter)
    while (shorter := _TAIL.sub("", out[-1])) and shorter != out[-1]:
        out.append(shorter)
    return tuple(out)


def llama(spelling: str) -> str:
    """Ollama's "llama3.1", Fireworks' "llama-v3p1" and Hugging Face's "meta-llama-3.1" as the catalog writes them."""
    return re.sub(
        r"^(?:meta-)?llama-?v?(\d)(?:[p.-](\d)(?!\d))?",
        lambda m: f"llama-{m[1]}" + (f".{m[2]}" if m[2] else ""),
        spelling,
    )


def family(name: str) -> str:
    """The family that a name nobody listed seems to belong to; "other" where nothing tells."""
    text = name.lower()
    return next((kind for kind, pattern in _FAMILIES if re.search(pattern, text)), "other")


def self_hosted(name: str) -> bool:
    """Whether the prefix says that the user runs the model himself, so that no list price holds."""
    return "/" in name and name.lower().split("/", 1)[0] in _SELF_HOSTED

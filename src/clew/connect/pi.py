"""pi: `baseUrl` of the built-in providers in its `models.json`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path

from clew.connect.client import Env, JsonClient, Once, home

_PROVIDERS = {"anthropic": "", "openai": "/v1", "openrouter": "/openrouter/v1"}
_EXTENSION = "clew-for-pi.ts"


class Pi(JsonClient):
    name = "pi"
    title = "pi"
    program = "pi"

    def path(self, env: Env) -> Path:
        folder = env.get("PI_CODING_AGENT_DIR")
        return (Path(folder) if folder else home(env) / ".pi" / "agent") / "models.json"

    def values(self, url: str) -> Iterable[tuple[tuple[str, ...], str]]:
        return ((("providers", name, "baseUrl"), url + path) for name, path in _PROVIDERS.items())

    def once(self, arguments: Sequence[str], url: str, env: Env, text: str, folder: Path) -> Once:
        """No variable sets it; an extension that sets the addresses is loaded for this run."""
        del env, text
        calls = "".join(
            f"  pi.registerProvider({json.dumps(name)}, {{ baseUrl: {json.dumps(url + path)} }});\n"
            for name, path in _PROVIDERS.items()
        )
        file = folder / _EXTENSION
        source = f"export default function (pi: any) {{\n{calls}}}\n"
        return Once((arguments[0], "-e", str(file), *arguments[1:]), files={str(file): source})

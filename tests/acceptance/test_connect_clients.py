"""Real agents after `clew connect`, and by what `clew run` gives them, against the scripted upstream: their requests go
to the address that was set. Without Node it says so, and fails in CI.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from clew.connect import CLIENTS as CONNECTED
from clew.connect import connect, undo
from clew.testing.clients import CLAUDE_CODE, CODEX, OPENCODE, PI, NoNode, Place
from clew.testing.upstream import Errand, Upstream, running

pytestmark = pytest.mark.slow

_CODEX = (
    'model = "gpt-5"\napproval_policy = "never"\nsandbox_mode = "danger-full-access"\n[analytics]\nenabled = false\n'
)
_QUIET = {
    f"OPENCODE_DISABLE_{n}": "1" for n in ("AUTOUPDATE", "MODELS_FETCH", "LSP_DOWNLOAD", "DEFAULT_PLUGINS", "SHARE")
}
KEYS = {"ANTHROPIC_API_KEY": "loopback-only", "OPENAI_API_KEY": "loopback-only"}


def bare(client):
    """The client with its keys and its quiet, and no address: that is what is tested."""

    def environment(place: Place) -> Mapping[str, str]:
        if client is CLAUDE_CODE:
            given = dict(client.configure(place))
            return {k: v for k, v in given.items() if k != "ANTHROPIC_BASE_URL"}
        if client is CODEX:
            folder = place.home / ".codex"
            folder.mkdir(exist_ok=True)
            if not (folder / "config.toml").exists():
                (folder / "config.toml").write_text(_CODEX)
            return KEYS
        if client is OPENCODE:
            folder = place.home / ".config" / "opencode"
            folder.mkdir(parents=True, exist_ok=True)
            if not (folder / "opencode.json").exists():  # without one it makes this itself
                (folder / "opencode.json").write_text('{\n  "$schema": "https://opencode.ai/config.json"\n}\n')
            return {**KEYS, **_QUIET, "OPENCODE_PERMISSION": '{"bash":"allow","edit":"allow"}'}
        return {**KEYS, "PI_OFFLINE": "1", "PI_SKIP_VERSION_CHECK": "1", "PI_TELEMETRY": "0"}

    model = {
        "opencode": ["--model", "anthropic/claude-sonnet-4-5"],
        "pi": ["--provider", "anthropic", "--model", "claude-sonnet-4-5"],
    }
    after = {"opencode": 1, "pi": 0}

    def arguments(prompt: str, resume: bool) -> list[str]:
        given = client.arguments(prompt, resume)
        at = after.get(client.name, 0)
        return [*given[:at], *model.get(client.name, []), *given[at:]]

    return replace(client, configure=environment, arguments=arguments)


@pytest.fixture(params=[CLAUDE_CODE, CODEX, OPENCODE, PI], ids=lambda c: c.name)
def client(request):
    return bare(request.param)


def run(client, place, prompt, **more):
    try:
        return client.run(prompt, place, **more)
    except NoNode as e:
        if os.environ.get("CI") == "true":
            raise
        pytest.skip(f"left out: {e.message}")


def ours(client):
    return CONNECTED[{"claude-code": "claude"}.get(client.name, client.name)]


def seen(upstream):
    return [r for r in upstream.records if r.status == 200 and r.method == "POST"]


def test_a_connected_client_works_through_the_address_and_is_restored(client, tmp_path):
    upstream = Upstream(Errand())
    with running(upstream):
        place = Place.at(tmp_path, "http://127.0.0.1:9")
        env = {"HOME": str(place.home), **client.configure(place)}
        file = ours(client).path(env)
        before = file.read_bytes() if file.exists() else None
        connect(ours(client), upstream.url, env)
        done = run(client, place, "errand:alpha steps=3")
        assert place.value("alpha") in done.said, (done.errors[-800:], [r.status for r in upstream.records])
        assert len(seen(upstream)) >= 3
        undo(ours(client), env)
    assert (file.read_bytes() if file.exists() else None) == before


def test_a_client_that_is_run_through_clew_works_without_any_setting(client, tmp_path):
    upstream = Upstream(Errand())
    with running(upstream):
        place = Place.at(tmp_path, "http://127.0.0.1:9")
        env = {"HOME": str(place.home), **client.configure(place)}
        program = ours(client).program
        once = ours(client).once([program], upstream.url, env, "", tmp_path)
        for name, text in once.files.items():
            Path(name).write_text(text)
        ran = replace(client, arguments=lambda prompt, resume: [*once.arguments[1:], *client.arguments(prompt, resume)])
        done = run(ran, place, "errand:beta steps=2", extra=once.environment)
        assert place.value("beta") in done.said, (done.errors[-800:], [r.status for r in upstream.records])
        assert len(seen(upstream)) >= 2

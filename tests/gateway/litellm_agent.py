"""An agent on `litellm`, in a process of its own, as the library leaves loops and sockets open: it prints its last words.

python tests/gateway/litellm_agent.py URL [stream|async]
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # or it fetches one when it is imported
sys.path.insert(0, str(Path(__file__).parents[2]))

import litellm

from tests.gateway.test_sdks import CHAT, CLAUDE, FUNCTION, chat_start, chat_turn, looped, streamed


def main(url: str, way: str) -> str:
    to_claude = way == "async"
    given = {"model": f"anthropic/{CLAUDE}" if to_claude else f"openai/{CHAT}", "tools": [FUNCTION], "max_tokens": 500}
    given |= {"api_base": url if to_claude else f"{url}/v1", "api_key": "sk-one"}

    def ask(messages: list) -> tuple[list, str]:
        if way == "stream":
            return streamed(litellm.completion(**given, messages=messages, stream=True))
        if to_claude:
            answer = asyncio.run(litellm.acompletion(**given, messages=messages))
        else:
            answer = litellm.completion(**given, messages=messages)
        return chat_turn(answer.choices[0].message)

    return looped(ask, chat_start())


if __name__ == "__main__":
    sys.stdout.write(json.dumps({"said": main(sys.argv[1], sys.argv[2])}) + "\n")

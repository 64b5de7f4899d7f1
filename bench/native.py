"""Session files of Claude Code and Codex as the continuity harness reads them: one chat document a file.

    python bench/native.py FOLDER OUT

`FOLDER` holds `.jsonl` files as the agents wrote them. What the chat format can't carry is left out by Clew's converter.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from clew.wire.convert import convert
from clew.wire.files import read


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("out", type=Path)
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    for path in sorted(given.folder.glob("*.jsonl")):
        session = read(path)
        done = convert(session.messages, session.wire, "openai-chat")
        messages = [{k: v for k, v in m.value.items() if not k.startswith("_")} for m in done.messages]
        (given.out / f"{path.stem}.json").write_text(json.dumps({"id": path.stem, "messages": messages}))
        print(f"{path.stem}: {len(messages)} messages")


if __name__ == "__main__":
    main()

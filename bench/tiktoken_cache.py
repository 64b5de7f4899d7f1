"""Write tiktoken's cache files from the ranks that Clew ships, so that other tools count exactly without a network.

python bench/tiktoken_cache.py DIR && TIKTOKEN_CACHE_DIR=DIR python ../shared/bench/continuity.py …
"""

from __future__ import annotations

import base64
import hashlib
import sys
from pathlib import Path

from clew.tokens.encodings import ENCODINGS, tokens_by_rank

URL = "https://openaipublic.blob.core.windows.net/encodings/{}.tiktoken"


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name in ENCODINGS:
        lines = (base64.b64encode(t) + b" %d\n" % rank for rank, t in enumerate(tokens_by_rank(name)))
        # tiktoken names a cache file by the SHA-1 of its address, and checks the SHA-256 of what is in it.
        target = folder / hashlib.sha1(URL.format(name).encode()).hexdigest()
        target.write_bytes(b"".join(lines))
        print(name, target)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]))

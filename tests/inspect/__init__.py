# ruff: noqa: A005 - it mirrors `clew.inspect`

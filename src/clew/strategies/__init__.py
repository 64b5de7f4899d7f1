"""Plain functions that propose edits without a model. On arrival and at an epoch; each a file, each an idea."""

"""The message that stands for the compacted middle: its form, the prompts for it, the check of it, the receipt. No I/O."""

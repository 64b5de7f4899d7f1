"""The only counter."""

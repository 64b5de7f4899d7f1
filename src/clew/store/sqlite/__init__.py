"""The embedded default: one SQLite file per tenant."""

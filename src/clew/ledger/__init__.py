"""Typed facts from messages, incrementally, each with the message it came from."""

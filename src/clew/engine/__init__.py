"""The engine: a pure state machine over values. No I/O, no clock, no randomness."""

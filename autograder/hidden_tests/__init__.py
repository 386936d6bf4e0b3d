"""Otter test files; each case is one opaque call on ``submission``."""

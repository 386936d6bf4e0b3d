"""Evidence from a real serving engine: what the ledger predicts beside what a running server says and does."""

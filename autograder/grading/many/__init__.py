"""Many submissions: workers, the journal, and what derives from it."""

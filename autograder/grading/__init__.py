"""From submissions to results, one or many."""

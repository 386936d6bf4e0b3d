"""From results to what students, TAs and Gradescope read."""

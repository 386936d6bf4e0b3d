"""Cases of real size, drawn from a course's seed by families whose rules and ranges are public."""

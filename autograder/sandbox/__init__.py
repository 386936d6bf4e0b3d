"""Student code runs here, confined, and nowhere else."""

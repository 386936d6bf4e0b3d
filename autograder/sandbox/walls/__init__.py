"""What stands between student code and the machine, and the probe that tries whether it does."""

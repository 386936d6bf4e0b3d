"""What the assignment means, in pure Python."""

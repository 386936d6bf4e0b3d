"""One submission: asking, judging, adding up."""

"""The mutation score: wrong submissions, and whether each is caught where it is wrong."""

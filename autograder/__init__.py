"""Autograder for the PagedAttention assignment."""

__version__ = "1.0.0"

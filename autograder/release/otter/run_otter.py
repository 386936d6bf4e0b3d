"""Runs Otter on a notebook of the course's own, once what was handed in is out of its way."""

from pathlib import Path

from autograder.grading.otter.plugin import run_autograder

if __name__ == "__main__":
    run_autograder(Path(__file__).resolve().parent.parent)

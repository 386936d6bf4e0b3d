"""What the texts for students say about the course: its repository and the points, filled in at release."""

import re
from dataclasses import dataclass

from autograder.config import Config
from autograder.contract.questions import Questions


@dataclass(frozen=True)
class Facts:
    """Where the course's repository is, and the table of questions."""

    repository: str
    questions: Questions

    def fill(self, text: str) -> str:
        """Return the text with ``{repository}`` and ``{points q1}`` (or ``cpu``) filled in."""
        text = re.sub(r"\{points (\w+)\}", lambda named: str(self._points(named[1])), text)
        return text.replace("{repository}", self.repository)

    def fill_page(self, text: str) -> str:
        """Fill a page line by line; without a repository, lines that link to one are left out."""
        unknown = self.repository == Config.repository
        return self.fill("".join(line for line in text.splitlines(True) if not (unknown and "{repository}" in line)))

    def _points(self, name: str) -> int:
        return self.questions.parts[name] if name in self.questions.parts else self.questions[name].points

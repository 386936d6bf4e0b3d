"""What the texts for students say about the course: its name, repository, due date and points, filled in at release."""

import re
from dataclasses import dataclass

from autograder.config import Config
from autograder.contract.questions import Questions

_GPU = re.compile(r"(?s)\{gpu\}(.*?)\{/gpu\}")


@dataclass(frozen=True)
class Facts:
    """The course's settings and the table of questions."""

    config: Config
    questions: Questions

    def fill(self, text: str) -> str:
        """Return the text with ``{repository}`` and ``{points q1}`` (or ``cpu``) filled in.

        What stands between ``{gpu}`` and ``{/gpu}`` is for a course with a GPU part, and left out of any other.
        """
        text = _GPU.sub(r"\1" if self.has_gpu else "", text)
        text = re.sub(r"\{points (\w+)\}", lambda named: str(self._points(named[1])), text)
        for name, value in self._texts().items():
            text = text.replace(f"{{{name}}}", value)
        return text

    def fill_page(self, text: str) -> str:
        """Fill a page as :meth:`fill_told` does; no gap remains where lines were left out."""
        return re.sub(r"\n{3,}", "\n\n", self.fill_told(text))

    def fill_told(self, text: str) -> str:
        """Fill a text line by line; a line about something that the course has not told is left out."""
        untold = [f"{{{name}}}" for name, value in self._texts().items() if value in ("", Config.repository)]
        told = "".join(line for line in text.splitlines(True) if not any(name in line for name in untold))
        return self.fill(told)

    @property
    def has_gpu(self) -> bool:
        """Whether a GPU part exists."""
        return self.config.gpu != "off"

    def _texts(self) -> dict[str, str]:
        late = self.config.late
        return {
            "repository": self.config.repository,
            "course": self.config.course,
            "due": f"{late.due:%Y-%m-%d %H:%M} (UTC{late.due:%z})" if late else "",
        }

    def _points(self, name: str) -> int:
        return self.questions.parts[name] if name in self.questions.parts else self.questions[name].points

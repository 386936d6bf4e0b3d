"""The ways in which a course uses the product, each from the command line: a class goes in, a graded OUT comes out."""

import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from class_of_forty import Fact, hand_in
from commands import autograder

NOT_ALL_GRADABLE = 1
"""The exit status of grading this class: some of its files are no submissions."""
SEED = "c0" * 32
"""The seed of the course: what becomes of a sample is the same with any."""


@dataclass(frozen=True)
class Way:
    """A course's settings and how it grades; ``gpu_part``: nobody's, everyone's ("counts"), or a third's ("ready")."""

    make: Callable[["Way", Path, dict[str, Fact]], Path]
    feedback: str
    gpu: str
    lang: str
    gpu_part: str = ""
    by_option: bool = False

    def settings(self) -> str:
        """Return the course's pyproject.toml; the language stands there unless each command is told."""
        language = "" if self.by_option else f'language = "{self.lang}"\n'
        counts = f"readiness_counts = {str(self.gpu_part == 'counts').lower()}\n"
        shown = f'feedback = "{self.feedback}"\ngpu = "{self.gpu}"\n'
        return f'[tool.autograder]\nseed_file = "course-seed.txt"\n{shown}{language}{counts}'

    def run(self, work: Path, command: str, *args: object, status: int = 0) -> None:
        """Run one command in the course's folder and see that it ends as it must, without a word of complaint."""
        (work / "pyproject.toml").write_text(self.settings(), encoding="utf-8")
        (work / "course-seed.txt").write_text(SEED, encoding="utf-8")
        done = autograder(command, *args, *(("--lang", self.lang) if self.by_option else ()), cwd=work)
        assert (done.returncode, done.stderr) == (status, ""), done.stderr + done.stdout[-2000:]

    def grade(self, work: Path, out: str, *options: object) -> None:
        """Grade the class in ``work/class``, by one worker where the way says nothing else: each costs a start."""
        self.run(work, "grade", "class", "-o", out, "--jobs", 1, *options, status=NOT_ALL_GRADABLE)


def in_one_go(way: Way, work: Path, students: dict[str, Fact]) -> Path:
    """Grade everybody at once."""
    hand_in(work / "class", students)
    way.grade(work, "out", "--jobs", 2)
    return work / "out"


def in_shards(way: Way, work: Path, students: dict[str, Fact]) -> Path:
    """Grade in three parts, on three machines as it were, and merge them in another order."""
    hand_in(work / "class", students)
    for part in (1, 2, 3):
        way.grade(work, f"part-{part}", "--shard", f"{part}/3")
    way.run(work, "merge", "part-3", "part-1", "part-2", "-o", "out")
    return work / "out"


def resumed(way: Way, work: Path, students: dict[str, Fact]) -> Path:
    """Grade a part, some of it older versions of files, be killed in the middle of a row, and resume with everybody."""
    early = dict(list(students.items())[::3])
    hand_in(work / "class", early)
    worse, better = early["starter-notebook"].source, early["reference"].source
    for older, file in ((worse, better), (better, worse)):  # each had handed in the other's work
        shutil.copyfile(older, work / "class" / file.name)
    way.grade(work, "out")
    journal = work / "out" / "journal.jsonl"
    os.truncate(journal, journal.stat().st_size - 100)
    shutil.rmtree(work / "class")
    hand_in(work / "class", students)
    way.grade(work, "out", "--resume")
    return work / "out"


def rendered_again(way: Way, work: Path, students: dict[str, Fact]) -> Path:
    """Grade, lose every page, and have them written again from the journal."""
    out = in_one_go(way, work, students)
    for file in [out / "grades.csv", *(f for f in (out / "students").glob("*/*.*") if f.name != "timing.json")]:
        file.unlink()
    way.run(work, "report", "out")
    return out


def with_device(way: Way, work: Path, students: dict[str, Fact]) -> Path:
    """Grade on the CPU and on the stand-in device and merge both, the device's run first."""
    in_one_go(way, work, students)
    way.grade(work, "device", "--device", "fakegpu")
    way.run(work, "merge", "device", "out", "-o", "merged")
    return work / "merged"


def with_a_third_on_the_device(way: Way, work: Path, students: dict[str, Fact]) -> Path:
    """Resume on the CPU, try one shard of the class on the stand-in device, and merge with that."""
    resumed(way, work, students)
    way.grade(work, "device", "--device", "fakegpu", "--shard", "1/3")
    way.run(work, "merge", "out", "device", "-o", "merged")
    return work / "merged"


def merged_again(way: Way, work: Path, students: dict[str, Fact]) -> Path:
    """Do the same in shards, and merge what is merged with its parts once more."""
    in_shards(way, work, students)
    way.run(work, "merge", "out", "part-2", "-o", "twice")
    way.run(work, "merge", "part-1", "twice", "-o", "merged")
    return work / "merged"


WAYS = {
    "one go": Way(in_one_go, "example", "required", "en"),
    "shards": Way(merged_again, "score", "required", "zh", by_option=True),
    "resumed": Way(resumed, "hint", "optional", "zh"),
    "rendered again": Way(rendered_again, "score", "off", "en"),
    "device": Way(with_device, "hint", "required", "en", gpu_part="counts"),
    "readiness": Way(with_a_third_on_the_device, "example", "required", "zh", gpu_part="ready"),
}

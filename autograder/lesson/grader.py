"""Otter's grader with words and pictures: check one, check all, export."""

import contextlib
import html
import importlib
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from autograder.lesson.cases import FUNCTIONS, QUESTIONS
from autograder.lesson.check import Outcome, public_check
from autograder.lesson.guess import answers
from autograder.lesson.ready import readiness
from autograder.lesson.speech import Figure, code_of, emit, notebook, say
from autograder.lesson.where import function_of
from autograder.lesson.why_open import saved_otherwise

sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]  # grammars that take seconds, for no check here
otter: Any = importlib.import_module("otter")


class Grader(otter.Notebook):  # type: ignore[misc]
    """Otter's grader; the public tests travel with the lesson, and results come in words and pictures."""

    def __init__(self) -> None:
        self._tests = tempfile.TemporaryDirectory(prefix="public_tests_")  # goes away with the kernel
        for question in QUESTIONS:
            test = (
                "from otter.test_files import test_case\n\n"
                f"OK_FORMAT = False\nname = {question!r}\npoints = 1\n\n\n"
                "@test_case()\ndef test_public_cases(public_check):\n"
                f"    outcome = public_check({question!r})\n"
                "    assert outcome.status == 'passed', outcome\n"
            )
            Path(self._tests.name, f"{question}.py").write_text(test, "utf-8")
        super().__init__(tests_dir=self._tests.name)

    def begin(self, names: dict[str, Any], language: str) -> None:
        """Say whose definitions are checked, and in which language ("en" or "zh") the lesson speaks."""
        notebook.names, notebook.language = names, language

    def check(self, question: str, global_env: dict[str, Any] | None = None) -> None:
        """Run the public tests of one question and show the result."""
        outcome = self._outcome(question)
        emit(outcome)
        if outcome.status != "passed":
            return
        if question == "q4" and (device := readiness()).status == "failed":
            emit(device)
        if compared := answers(question):
            emit(compared)

    def check_all(self) -> None:
        """Run all public tests: a line of progress, then what is not right yet."""
        started = time.perf_counter()
        outcomes = [*map(self._outcome, QUESTIONS), readiness()]
        took = time.perf_counter() - started
        emit(progress(outcomes) + say(f" ({took:.1f} s)", f"（用时 {took:.1f} 秒）"))
        emit(Figure("\n\n".join(o.text for o in outcomes), "".join(o.markup for o in outcomes)))

    def ready(self) -> None:
        """Say whether TODO 4 is ready for a GPU."""
        emit(readiness())

    def export(self) -> None:
        """Write the zip to submit, look inside whether it holds what you ran, and say what is not right yet."""
        path = notebook.path()
        if path is None:
            emit(say("The notebook's file is not here (Colab, or several notebooks in this folder?): choose "
                     "File > Download > .ipynb and submit that file.",
                     "这里找不到 notebook 文件（是在 Colab，还是这个文件夹里有好几个 notebook？）："
                     "请用 文件 > 下载 > .ipynb，并提交该文件。"))  # fmt: skip
        elif path.suffix == ".py":
            emit(say(f"Submit {path.name} itself.", f"请直接提交 {path.name}。"))
        else:
            try:
                if self._packed(path):
                    emit(link(path.stem))
            except (OSError, ValueError) as error:
                emit(say(f"The zip cannot be written ({error}): save (Ctrl+S) and run this cell again, or submit "
                         f"{path.name} itself.",
                         f"写不出 zip（{error}）：请保存（Ctrl+S）后重新运行这个单元格，或者直接提交 {path.name}。"))  # fmt: skip
        self._remind()

    def _outcome(self, question: str) -> Outcome:
        latest: list[Outcome] = []

        def record(name: str) -> Outcome:
            latest.append(public_check(name))
            return latest[-1]

        if question in QUESTIONS:
            super().check(question, {"public_check": record})
        return latest[-1] if latest else public_check(question)

    def _packed(self, path: Path) -> bool:
        target = f"{path.stem}.zip"
        with contextlib.chdir(path.parent):
            super().export(nb_path=path.name, export_path=target, pdf=False, ignore_log=True, display_link=False)
            with zipfile.ZipFile(target) as archive:
                saved = code_of(archive.read(path.name))
        missing = "class KVCacheManager" not in saved or "class Request" not in saved
        if missing:
            emit(say("The classes of Step 4 are not in the saved file; grading needs them. Put their cell back as it was "
                     "handed out, save (Ctrl+S) and export again.",
                     "保存的文件里没有 Step 4 的两个类，评分要用到它们。请把那个单元格按下发时的样子放回去，保存（Ctrl+S）后重新导出。"))  # fmt: skip
        found: dict[str, list[str]] = {}
        for question in FUNCTIONS:
            found.setdefault(saved_otherwise(saved, question), []).append(f"TODO {question[1:]}")
        told = [
            advice(say(", ", "、").join(todos))
            for kind, advice in SAVED_OTHERWISE.items()
            if (todos := found.get(kind))
        ]
        for sentence in told:
            emit(sentence)
        return not missing and not told

    def _remind(self) -> None:
        """Name what would lose points: failing checks (broken on purpose?), open TODOs, a read that is not ready."""
        outcomes = [*map(public_check, QUESTIONS), readiness()]
        lines = [progress(outcomes)]
        for outcome in outcomes:
            what = f"TODO {outcome.question[1:]}" if outcome.question in FUNCTIONS else outcome.question
            if outcome.status == "failed":
                lines.append(say(f"✗ {what} fails its public check; still broken on purpose?",
                                 f"✗ {what} 没有通过公开检查；是故意弄坏之后忘了改回来吗？"))  # fmt: skip
            elif outcome.question in FUNCTIONS and function_of(outcome.question) is None:
                lines.append(f"○ {what}: {outcome.words}")
            elif outcome.status == "not attempted" and outcome.question in FUNCTIONS:
                lines.append(say(f"○ {what} is still open.", f"○ {what} 还没有完成。"))
        emit("\n".join(lines))


SAVED_OTHERWISE: dict[str, Callable[[str], str]] = {  # what to do where the saved file is not what was run
    "changed": lambda todos: say(
        f"{todos} in the saved file is not what you ran: save (Ctrl+S) and export again.",
        f"保存的文件里，{todos} 和你运行的不一样：请保存（Ctrl+S）后重新导出。",
    ),
    "gone": lambda todos: say(
        f"{todos} is not in the saved file: write its function into a cell again, save (Ctrl+S) and export again.",
        f"保存的文件里没有 {todos}：请把它的函数重新写进一个单元格，保存（Ctrl+S）后重新导出。",
    ),
    "below": lambda todos: say(
        f"{todos} stands in the notebook twice, and the lower cell, which counts, is not what you ran last: delete the "
        "one you do not mean, save (Ctrl+S) and export again.",
        f"{todos} 在 notebook 里有两份，算数的是靠下的那一份，而你最后运行的不是它：请删掉不要的那份，保存（Ctrl+S）后重新导出。",
    ),
}


def progress(outcomes: list[Outcome]) -> str:
    """Return how many of the five checks pass, in one line."""
    passed = sum(outcome.status == "passed" for outcome in outcomes if outcome.question in QUESTIONS)
    bar = "█" * passed + "░" * (len(QUESTIONS) - passed)
    return say(f"{bar} {passed} of {len(QUESTIONS)} public checks pass",
               f"{bar} {len(QUESTIONS)} 项公开检查通过了 {passed} 项")  # fmt: skip


def link(stem: str) -> Figure:
    """Return the sentence that names the zip to submit, with a link to download it."""
    done = say(f"Submit {stem}.zip.", f"请提交 {stem}.zip。")
    return Figure(done, f'<a href="{html.escape(stem)}.zip" download>{html.escape(done)}</a>')


grader = Grader()

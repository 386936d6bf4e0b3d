"""Why a TODO counts as open: not run, not Python, not part of the class, or its raise line is still there."""

import inspect

from autograder.lesson.cases import FUNCTIONS
from autograder.lesson.speech import notebook, say
from autograder.lesson.where import function_of


def why_undefined(question: str) -> str:
    """Say why a function does not exist: its cell was not run, or does not compile."""
    name = FUNCTIONS[question]
    broken = syntax_error(name)
    if broken:
        return say(f"the cell of TODO {question[1:]} is not Python yet. {broken}",
                   f"TODO {question[1:]} 的单元格还不是合法的 Python。{broken}")  # fmt: skip
    if undecorated(name):
        return say(f"{name} is not part of the class: the line @add_to_class(KVCacheManager) above it is missing.",
                   f"{name} 还不在类里：它上面少了 @add_to_class(KVCacheManager) 这一行。")  # fmt: skip
    return say(f"{name} is not defined. Run its cell (again), after the one with the classes; its name has to stay.",
               f"{name} 还没有定义。请在运行定义类的单元格之后，（重新）运行它的单元格；函数名不能改。")  # fmt: skip


def undecorated(name: str) -> bool:
    """Whether the function is there without the line that makes it a method."""
    try:
        return not inspect.getsource(notebook.names[name]).startswith("@")
    except (KeyError, OSError, TypeError):
        return False


def syntax_error(name: str) -> str:
    """Return where the last cell that tried to define the function is no Python, or ""."""
    tried = [source for source in notebook.names.get("In", []) if f"def {name}(" in source]
    try:
        compile(tried[-1] if tried else "", "<cell>", "exec")
    except SyntaxError as error:
        return say(f"Line {error.lineno}: {(error.text or '').strip()} ({error.msg})",
                   f"第 {error.lineno} 行：{(error.text or '').strip()}（{error.msg}）")  # fmt: skip
    return ""


def why_open(question: str) -> str:
    """Say why a TODO counts as open: its raise line is there, or was there when the cell last ran."""
    broken = syntax_error(FUNCTIONS[question])
    if broken:
        return why_undefined(question)
    if not_what_is_saved(question):
        return say(f"not attempted. The cell of TODO {question[1:]} has been changed: run it again.",
                   f"尚未作答。TODO {question[1:]} 的单元格改过了：请重新运行它。")  # fmt: skip
    return say(f"not attempted. TODO {question[1:]} still has its raise line; delete it once the rest is filled in, "
               "and run the cell again.",
               f"尚未作答。TODO {question[1:]} 里还留着 raise 那一行；填好其余部分后请把它删掉，再运行一次这个单元格。")  # fmt: skip


def not_what_is_saved(question: str) -> bool:
    """Whether the notebook's file is there and does not hold the function as it was run."""
    saved = notebook.saved_code()
    return bool(saved) and saved_otherwise(saved, question) in ("gone", "changed")


def saved_otherwise(saved: str, question: str) -> str:
    """Compare the saved code with the function as it was run: "gone", "changed", "below" where a lower cell wins, or ""."""
    own = f"\ndef {FUNCTIONS[question]}("  # not indented: a stretch class has methods of the same name
    try:
        run = inspect.getsource(function_of(question) or len).strip()
    except (OSError, TypeError):
        return ""
    _, found, after = saved.rpartition(run)
    if found:
        return "below" if own in after else ""
    return "changed" if own in f"\n{saved}" else "gone"

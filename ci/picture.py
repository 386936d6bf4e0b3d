"""Make docs/_static/report.png, the picture in the README: grade a few samples, photograph report and class page.

    .venv/bin/python ci/picture.py [--chromium PATH] [--to FILE]

Needs a Chromium. Names are those of the samples; the report is that of the first one below.
"""

import argparse
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SAMPLES = (
    "partial/length-before-check.ipynb",
    "partial/only-prefill.ipynb",
    "partial/only-read.md",
    "partial/modulo-one.py",
    "honest/reference.ipynb",
    "odd/truncated.ipynb",
)
WIDTH, HEIGHT = 1600, 1000
PAGE = """<!doctype html><meta charset="utf-8"><style>
body {{ margin: 0; display: flex; gap: 16px; padding: 16px; background: #d8dce3; box-sizing: border-box; }}
iframe {{ border: 0; width: 50%; height: 968px; background: white; }}
</style><iframe src="{report}"></iframe><iframe src="{page}"></iframe>"""


def main() -> None:
    """Grade, photograph, and say where the picture is."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chromium", default=shutil.which("chromium") or "chromium")
    parser.add_argument("--to", type=Path, default=ROOT / "docs" / "_static" / "report.png")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "pyproject.toml").write_text('[tool.autograder]\nfeedback = "example"\n', "utf-8")
        (folder / "class").mkdir()
        for sample in SAMPLES:
            shutil.copy(ROOT / "solutions" / "submissions" / sample, folder / "class")
        grade = [sys.executable, "-c", "from autograder.cli import main; main()", "grade", "class", "-o", "out"]
        subprocess.run(grade, cwd=folder, env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"}, check=False)
        report = (folder / "out" / "students" / Path(SAMPLES[0]).stem / "report.html").as_uri() + "#q3"
        page = (folder / "out" / "class.html").as_uri()
        (folder / "both.html").write_text(PAGE.format(report=report, page=page), "utf-8")
        quiet = "--headless --no-sandbox --disable-gpu --no-first-run --disable-background-networking --hide-scrollbars"
        command = [given.chromium, *quiet.split(), f"--user-data-dir={folder / 'profile'}"]
        command += [f"--window-size={WIDTH},{HEIGHT}", f"--screenshot={given.to}", (folder / "both.html").as_uri()]
        subprocess.run(command, check=True, capture_output=True)
    print(given.to)


if __name__ == "__main__":
    main()

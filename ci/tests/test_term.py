"""The page "A term with this grader": its commands work as printed, in order, and the gradebook comes out right."""

import csv
import re
import shlex
import zipfile
from pathlib import Path

import pytest
from classes import NEEDS_BLOCK, ROOT, solution
from commands import autograder, printed_on
from odd_files import zipped

from autograder.reporting.gradebook import QUESTIONS

WRONG = solution((NEEDS_BLOCK, "is_new_block_needed = new_seq_len % self.block_size == 1"))
CLASS = {
    "zhangwei_101_9001_paged_attention.py": solution(),
    "zhangwei_102_9002_paged_attention.py": WRONG,
    "lee_103_9003_a.py": solution(),
    "lee_103_9004_b.py": WRONG,
}
GRADEBOOK = """Student,ID,SIS User ID,SIS Login ID,Section,Paged Attention (123456)
    Points Possible,,,,,80
"Zhang, Wei",101,s101,wzhang1,S 1,
"Zhang, Wei",102,s102,wzhang2,S 1,
"Lee, Ann",103,s103,alee,S 1,
"Kim, Bo",104,s104,bkim,S 1,
"Đặng, Mai",105,s105,mdang,S 1,
"""
MOODLE = {f"张伟_{n}_assignsubmission_file/paged_attention.py": text for n, text in ((731, solution()), (734, WRONG))}
WORKSHEET = """编号,全名,邮箱,状态,成绩,最高分,可否修改,最后修改（提交）,最后修改（成绩）,评语
参与者731,张伟,a@x.cn,已提交,,80.00,是,-,-,
参与者734,张伟,b@x.cn,已提交,,80.00,是,-,-,
参与者737,李娜,c@x.cn,未提交,,80.00,是,-,-,
"""


def test_both_languages_give_the_same_commands():
    assert printed_on("term.md", "zh") == printed_on("term.md")


@pytest.fixture(scope="module")
def course(tmp_path_factory) -> Path:
    root = tmp_path_factory.mktemp("course")
    (root / "submissions.zip").write_bytes(zipped({name: text.encode() for name, text in CLASS.items()}))
    (root / "late.zip").write_bytes(zipped({"kim_LATE_104_9050_paged_attention.py": solution().encode()}))
    (root / "gradebook.csv").write_text(GRADEBOOK, encoding="utf-8-sig")
    (root / "choose.csv").write_text("id,file\n103,lee_103_9003_a.py\n", encoding="utf-8")
    (root / "addresses.csv").write_text("id,name,email\nwzhang1,Wei Zhang,w1@x.edu\nalee,Ann Lee,a@x.edu\n", "utf-8")
    (root / "moodle.zip").write_bytes(zipped({name: text.encode() for name, text in MOODLE.items()}))
    (root / "worksheet.csv").write_text(WORKSHEET, encoding="gbk")
    (root / "starter.py").write_bytes((ROOT / "assignment" / "paged_attention.en.py").read_bytes())
    return root


def test_the_three_commands_of_the_readme_lead_from_a_download_to_a_gradebook_that_canvas_imports(tmp_path):
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    lines = re.findall(r"^    (autograder .+)$", readme, re.MULTILINE)
    assert len(lines) == 3
    class_of_two = {name: text.encode() for name, text in CLASS.items() if name.startswith("zhang")}
    (tmp_path / "submissions.zip").write_bytes(zipped(class_of_two))
    (tmp_path / "gradebook.csv").write_text(GRADEBOOK, encoding="utf-8-sig")
    for line in lines:
        done = autograder(*shlex.split(line)[1:], cwd=tmp_path)
        assert done.returncode == 0, (line, done.stdout, done.stderr)
    grades = marks(tmp_path / "out" / "gradebook-gradebook.csv")
    assert grades.pop("101") == "80"
    assert 0 < float(grades.pop("102")) < 80
    assert grades == {"103": "", "104": "", "105": ""}


def marks(path: Path) -> dict[str, str]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        return {row["ID"]: row["Paged Attention (123456)"] for row in csv.DictReader(file) if row["ID"]}


def test_every_command_of_the_page_works_as_printed(course):
    for line in printed_on("term.md"):
        if line.startswith("autograder replay"):
            (course / "request.txt").write_text(
                "I think q3 is wrong:\n" + (course / "out/students/zhangwei-102/report.md").read_text("utf-8"), "utf-8"
            )
        if line.startswith("autograder export"):
            first = QUESTIONS[0]
            (course / "out/overrides.csv").write_text(f"id,question,points,reason\n102,{first},1,typo\n", "utf-8")
        done = autograder(*shlex.split(line)[1:], cwd=course)
        assert done.returncode == 0, (line, done.stdout, done.stderr)
        assert "Traceback" not in done.stderr
    assert (course / "out" / "class.html").is_file()
    grades = marks(course / "out" / "gradebook-gradebook.csv")
    assert (grades["101"], grades["103"], grades["104"], grades["105"]) == ("80", "80", "80", "")
    assert 0 < float(grades["102"]) < 80
    assert (course / "out" / "students" / "lee-103" / "received").is_dir()
    pseudonyms = (course / "out" / "pseudonyms.csv").read_text(encoding="utf-8-sig")
    nameless = [path.name for path in (course / "out" / "anonymous" / "students").iterdir()]
    assert len(nameless) == 4
    assert all(name in pseudonyms and "zhang" not in name for name in nameless)
    assert len(list((course / "out" / "anonymous" / "bundles").glob("*.zip"))) == 4


def test_moodles_worksheet_and_feedback_name_namesakes_by_their_numbers(course):
    for line in printed_on("term.md"):
        if "moodle" in line and not (course / "out-moodle" / "feedback-moodle.zip").exists():
            done = autograder(*shlex.split(line)[1:], cwd=course)
            assert done.returncode == 0, (line, done.stdout, done.stderr)
    with (course / "out-moodle" / "gradebook-worksheet.csv").open(encoding="gbk", newline="") as file:
        first, second, absent = (row["成绩"] for row in csv.DictReader(file))
    assert (first, absent) == ("80", "")
    assert 0 < float(second) < 80
    with zipfile.ZipFile(course / "out-moodle" / "feedback-moodle.zip") as archive:
        assert sorted(archive.namelist()) == [f"张伟_{n}_assignfeedback_file/report.html" for n in (731, 734)]

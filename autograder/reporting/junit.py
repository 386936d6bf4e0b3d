"""One student's result as JUnit XML, the form in which CI services show single checks."""

from xml.etree.ElementTree import Element, SubElement, indent, tostring

from autograder.findings import Finding
from autograder.reporting.report import case_title
from autograder.reporting.results import Status, SubmissionResult, TestResult
from autograder.reporting.words import Words

SUITE = "PagedAttention"
TAGS: dict[Status, str] = {"failed": "failure", "could not run": "error", "not attempted": "skipped"}


def junit(result: SubmissionResult, words: Words) -> bytes:
    """Return one test case per hidden case, in order, under no student's name; a file not gradable is one error."""
    suite = Element("testsuite", name=SUITE)
    if result.rejected:
        case = SubElement(suite, "testcase", classname=SUITE, name=words.text("summary.submission"))
        _say(case, "error", result.rejected, words)
    for test in result.tests:
        _add(suite, test, words)
    for attribute, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        suite.set(attribute, str(len(suite.findall(f"testcase/{tag}"))))
    suite.set("tests", str(len(suite)))
    indent(suite)
    text: bytes = tostring(suite, encoding="utf-8", xml_declaration=True)
    return text + b"\n"


def _add(suite: Element, test: TestResult, words: Words) -> None:
    case = SubElement(suite, "testcase", classname=f"{SUITE}.{test.question}", name=_xml(case_title(test, words)))
    if test.status in TAGS:
        _say(case, TAGS[test.status], test.finding, words)


def _say(case: Element, tag: str, finding: Finding | None, words: Words) -> None:
    outcome = SubElement(case, tag, message=_xml(words.sentence(finding)) if finding else "")
    if finding:
        outcome.text = _xml(words.advice(finding))


def _xml(text: str) -> str:
    """Return ``text`` without the characters XML cannot hold."""
    return "".join(c for c in text if c.isprintable())

"""Giving reports back: the feedback zip that Moodle takes, or one letter per student."""

import csv
import io
import zipfile
from collections.abc import Iterable, Mapping
from email.message import EmailMessage
from email.policy import SMTP

from autograder.identity import Identity
from autograder.outside.text import for_csv
from autograder.reporting.bundle import FIXED_DATE
from autograder.reporting.words import Words
from autograder.tables import SheetError

REPORT = "report.html"


def moodle_zip(reports: Iterable[tuple[Identity, bytes]]) -> tuple[bytes, int]:
    """Return Moodle's "upload multiple feedback files in a zip", and how many reports are in it.

    Moodle finds a student by the number in ``Full name_ID_assignfeedback_file/``.
    """
    buffer = io.BytesIO()
    count = 0
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for who, report in reports:
            if who.platform != "moodle" or not who.id:
                continue
            name = "Participant" if who.name == f"Participant {who.id}" else who.name.replace("/", " ")
            info = zipfile.ZipInfo(f"{name}_{who.id}_assignfeedback_file/{REPORT}", FIXED_DATE)
            archive.writestr(info, report)
            count += 1
    if not count:
        raise SheetError("Nobody in this run has a Moodle number, so Moodle could not tell whose a report is.")
    return buffer.getvalue(), count


def letters(reports: Mapping[str, tuple[str, bytes]], words: Words) -> dict[str, bytes]:
    """Return ``mail.csv`` and one ``.eml`` for every student whose address is known, by file name.

    ``reports`` leads from a student to address and report.
    """
    files: dict[str, bytes] = {}
    table = io.StringIO()
    writer = csv.writer(table, lineterminator="\n")
    writer.writerow(("email", "subject", "body", "attachment"))
    subject, body = words.text("mail.subject"), words.text("mail.body")
    for student, (address, report) in sorted(reports.items()):
        letter = EmailMessage(policy=SMTP)
        letter["To"], letter["Subject"] = address, subject
        letter.set_content(body)
        letter.add_attachment(report, maintype="text", subtype="html", filename=REPORT)
        letter.set_boundary("=" * 8 + "autograder" + "=" * 8)  # the same bytes every time
        files[f"{student}.eml"] = letter.as_bytes()
        writer.writerow((for_csv(address), subject, body, for_csv(f"{student}.eml")))
    files["mail.csv"] = table.getvalue().encode("utf-8-sig")
    return files

"""Odd downloads of Canvas, Moodle and Gradescope."""

from listing import NB, STOP, Listing


def _gradescope(*submissions: tuple[str, list[tuple[str, str]]]) -> str:
    lines = ["---"]
    for key, people in submissions:
        lines += [f"{key}:", "  :submitters:"]
        for name, sid in people:
            lines += [
                f"  - :name: {name}",
                f"    :sid: '{sid}'" if sid else "    :sid:",
                f"    :email: {name[0]}@x.edu",
            ]
        lines += ["  :created_at: 2026-11-01 11:58:02.031000000 Z", "  :history: []"]
    return "\n".join(lines) + "\n"


CAMPUS = [
    Listing(
        "canvas: two namesakes, one late",
        {f"zhangwei_40014_9001_{NB}": 1, f"zhangwei_LATE_40021_9002_{NB}": 0},
        {"40014": "9001", "40021": "9002"},
    ),
    Listing(
        "canvas: underscores and digits in names and files",
        {f"kimji_ho_40140_9001_my_22_333_{NB}": 1, f"an2_40147_9002_{NB}": 1},
        {"40140": "9001", "40147": "9002"},
    ),
    Listing(
        "canvas: a student called Late and one called Anon",
        {f"late_40001_9001_{NB}": 1, f"anonlee_40002_9002_{NB}": 1, f"late_LATE_40003_9003_{NB}": 1},
        {"40001": "9001", "40002": "9002", "40003": "9003"},
    ),
    Listing(
        "canvas: two attempts unpacked over each other",
        {"amy_101_9001_work.ipynb": 0, "amy_101_9007_work-1.ipynb": 1, "bo_102_9003_work.ipynb": 1},
        {"101": "9007", "102": "9003"},
    ),
    Listing(
        "canvas: the newest attempt came with another download of the same folder, eleven times resubmitted",
        {f"amy_101_{9000 + n}_work{f'-{n}' if n else ''}.ipynb": int(n == 11) for n in range(12)}
        | {"bo_7777_9900_w.py": None},
        {"101": "work-11", "7777": "9900"},
    ),
    Listing(
        "canvas: one file of two attempts each, numbers of other lengths",
        {"amy_101_999_old.ipynb": 0, "amy_101_10000_new.ipynb": 1, "bo_102_1003_work.ipynb": 1},
        {"101": "10000", "102": "1003"},
    ),
    Listing(
        "canvas: text entry only, link only",
        {"amy_101_text.html": "<p>x</p>", "bo_102_link.html": "<p>x</p>", f"cy_103_9001_{NB}": 1},
        {"101": "amy", "102": "bo", "103": "9001"},
    ),
    Listing(
        "canvas: names in two forms of Unicode",
        {f"nguye\u0302\u0303n_101_9001_{NB}": 1, f"nguy\u1ec5n_102_9002_{NB}": 1},
        {"101": "9001", "102": "9002"},
    ),
    Listing(
        "canvas: a mailed file beside the download",
        {f"amy_101_9001_{NB}": 1, f"bo_102_9002_{NB}": 1, f"cy_103_9003_{NB}": 1, "berta.ipynb": 1},
        STOP,
    ),
    Listing(
        "canvas: graded blindly, some late",
        {f"LATE_anon_aB3_9001_{NB}": 1, f"anon_Ab3_9002_{NB}": 1},
        {"anon_aB3": "9001", "anon_Ab3": "9002"},
    ),
    Listing(
        "canvas: groups",
        {f"group1_50001_9001_{NB}": 1, f"group2_LATE_50002_9002_{NB}": 1, f"group10_50010_9003_{NB}": 1},
        {"50001": "9001", "50002": "9002", "50010": "9003"},
    ),
    Listing(
        "moodle: namesakes, digits and underscores",
        {
            f"An 2_7_assignsubmission_file/{NB}": 1,
            f"Li Na_8_assignsubmission_file/{NB}": 1,
            "Li Na_9_assignsubmission_file/my_3_assignsubmission_file.ipynb": 1,
        },
        {"7": "An 2", "8": "_8_", "9": "_9_"},
    ),
    Listing(
        "moodle: text only beside a file of another",
        {"Li Na_8_assignsubmission_onlinetext/onlinetext.html": "<p>", f"Bo B_9_assignsubmission_file/{NB}": 1},
        {"8": "_8_", "9": "_9_"},
    ),
    Listing(
        "moodle: teams and the default group",
        {f"Team 1_301_assignsubmission_file/{NB}": 1, f"Default group_assignsubmission_file/{NB}": 1},
        {"301": "Team 1", "Default group": "Default"},
    ),
    Listing(
        "moodle: flat, file names that repeat the scheme",
        {"A B_7_assignsubmission_file_x_8_assignsubmission_file_.ipynb": 1, f"C D_8_assignsubmission_file_{NB}": 1},
        {"7": "A B", "8": "C D"},
    ),
    Listing(
        "moodle: blind",
        {f"Participant_8000_assignsubmission_file_/{NB}": 1, f"Participant_8001_assignsubmission_file_/{NB}": 1},
        {"8000": "8000", "8001": "8001"},
    ),
    Listing(
        "gradescope: three share one, one has no sid",
        {
            f"assignment_5_export/submission_1/{NB}": 1,
            f"assignment_5_export/submission_2/{NB}": 1,
            "assignment_5_export/submission_metadata.yml": _gradescope(
                ("submission_1", [("A", "s1"), ("B", "s2"), ("C", "s3")]), ("submission_2", [("D", "")])
            ),
        },
        {"s1": "submission_1", "s2": "submission_1", "s3": "submission_1", "D@x.edu": "submission_2"},
    ),
    Listing(
        "gradescope: no list of names",
        {f"submission_1/{NB}": 1, f"submission_2/{NB}": 1},
        {"submission_1": "submission_1", "submission_2": "submission_2"},
    ),
    Listing(
        "gradescope: a list that is no YAML",
        {f"submission_1/{NB}": 1, f"submission_2/{NB}": 1, "submission_metadata.yml": "{{: ["},
        STOP,
    ),
    Listing(
        "gradescope: one submission is not in the list",
        {
            f"submission_1/{NB}": 1,
            f"submission_9/{NB}": 1,
            "submission_metadata.yml": _gradescope(("submission_1", [("A", "s1")])),
        },
        {"s1": "submission_1", "submission_9": "submission_9"},
    ),
]

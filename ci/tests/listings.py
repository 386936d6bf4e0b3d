"""Odd downloads of every platform and of none."""

from campus_listings import CAMPUS
from listing import NB, STOP, Listing

BLACKBOARD = "hw_1_{}_attempt_2026-11-{:02}-12-00-00"
DATE = "Nov {}, 2026 {}"

LISTINGS = [
    *CAMPUS,
    Listing(
        "own numbering that looks like one student of Canvas",
        {f"hw_22_202300{n}_{who}.ipynb": 1 for n, who in enumerate(("zhang", "li", "wang"))},
        STOP,
    ),
    Listing(
        "own numbering that looks like one student of Canvas, settled",
        {f"hw_22_202300{n}_{who}.ipynb": 1 for n, who in enumerate(("zhang", "li"))},
        {"hw_22_2023000_zhang": "zhang", "hw_22_2023001_li": "li"},
        layout="plain",
    ),
    Listing(
        "own numbering, by a pattern",
        {f"hw_22_202300{n}_{who}.ipynb": 1 for n, who in enumerate(("zhang", "li"))},
        {"2023000": "zhang", "2023001": "li"},
        pattern=r"hw_22_(?P<id>\d+)_(?P<name>[a-z]+)\.ipynb",
    ),
    Listing(
        "a pattern that leaves one file unexplained",
        {"hw_22_1_a.ipynb": 1, "hw22_2_b.ipynb": 1},
        STOP,
        pattern=r"hw_22_(?P<id>\d+)_(?P<name>[a-z]+)\.ipynb",
    ),
    Listing(
        "own numbering in folders",
        {f"hw_22_202300{n}_{who}/{NB}": 1 for n, who in enumerate(("zhang", "li", "bo"))},
        {"hw_22_2023000_zhang": "zhang", "hw_22_2023001_li": "li", "hw_22_2023002_bo": "bo"},
        packed=STOP,
    ),
    Listing(
        "blackboard: assignment and logins with underscores, told by the text beside",
        {f"{BLACKBOARD.format(u, 1)}_{NB}": 1 for u in ("j_doe", "j_roe")}
        | {f"{BLACKBOARD.format(u, 1)}.txt": f"Name: X Y ({u})\nAssignment: hw_1\n" for u in ("j_doe", "j_roe")},
        {"j_doe": "j_doe", "j_roe": "j_roe"},
    ),
    Listing(
        "blackboard: no text beside",
        {f"{BLACKBOARD.format(u, 1)}_{NB}": 1 for u in ("jdoe", "mroe")},
        {"jdoe": "jdoe", "mroe": "mroe"},
    ),
    Listing(
        "blackboard: the newest attempt is a PDF",
        {
            f"{BLACKBOARD.format('jdoe', 1)}_{NB}": 1,
            f"{BLACKBOARD.format('jdoe', 2)}_report.pdf": None,
            f"{BLACKBOARD.format('mroe', 1)}_{NB}": 1,
        },
        {"jdoe": "2026-11-01", "mroe": "mroe"},
    ),
    Listing(
        "blackboard: the newest attempt is a comment",
        {
            f"{BLACKBOARD.format('jdoe', 1)}_{NB}": 1,
            f"{BLACKBOARD.format('jdoe', 2)}.txt": "Name: J (jdoe)\nAssignment: hw_1\n",
            f"{BLACKBOARD.format('mroe', 1)}_{NB}": 1,
        },
        {"jdoe": "2026-11-01", "mroe": "mroe"},
    ),
    Listing(
        "blackboard: a site in Spanish",
        {f"Tarea_1_{u}_intento_2026-11-01-12-00-00_{NB}": 1 for u in ("j_doe", "j_roe")}
        | {f"Tarea_1_{u}_intento_2026-11-01-12-00-00.txt": f"Nombre: X Y ({u})\n" for u in ("j_doe", "j_roe")},
        {"j_doe": "j_doe", "j_roe": "j_roe"},
    ),
    Listing(
        "brightspace: noon and midnight, a hyphen in a name, namesakes",
        {
            f"397063-2 - Anne - Marie S - {DATE.format(1, '1159 AM')}/{NB}": 0,
            f"397063-2 - Anne - Marie S - {DATE.format(1, '1215 PM')}/{NB}": 1,
            f"397063-3 - Li Na - {DATE.format(1, '1215 AM')}/{NB}": 0,
            f"397063-3 - Li Na - {DATE.format(1, '900 AM')}/{NB}": 1,
            f"397063-4 - Li Na - {DATE.format(2, '900 AM')}/{NB}": 1,
            "index.html": "<html>",
        },
        {"2": "1215 PM", "3": "900 AM", "4": "900 AM"},
    ),
    Listing(
        "brightspace: a site in French",
        {f"397063-{n} - {who} - {n} nov. 2026 2359/{NB}": 1 for n, who in enumerate(("Zoë - A", "Li Na"), 2)},
        {"2": "2 nov", "3": "3 nov"},
    ),
    Listing(
        "brightspace: flat",
        {
            f"397063-2 - A B- {DATE.format(1, '115 PM')} - {NB}": 1,
            f"397063-3 - C D- {DATE.format(1, '115 PM')} - {NB}": 1,
            "index.html": "",
        },
        {"2": "A B", "3": "C D"},
    ),
    Listing(
        "nbgrader: the course folder with all that lies in it",
        {
            f"course/submitted/j.doe/pa/{NB}": 1,
            "course/submitted/j.doe/pa/timestamp.txt": "2026-11-01 11:58:20.1 UTC",
            f"course/submitted/roe/pa/{NB}": 1,
            f"course/source/pa/{NB}": 1,
            f"course/release/pa/{NB}": 0,
            f"course/autograded/roe/pa/{NB}": 0,
            "course/nbgrader_config.py": "c = 1",
            "course/gradebook.db": "x",
        },
        {"j.doe": "j.doe", "roe": "roe"},
    ),
    Listing(
        "nbgrader: two students only, course not wrapped",
        {f"submitted/a/pa/{NB}": 1, f"submitted/b/pa/{NB}": 1, "nbgrader_config.py": "", "header.ipynb": 0},
        {"a": "/a/", "b": "/b/"},
    ),
    Listing(
        "github: users with hyphens that begin alike",
        {
            f"pa-submissions/pa-cs-{u}/{p}": c
            for u in ("ann-lee", "bo", "cy")
            for p, c in ((NB, 1), (".git/HEAD", "ref"))
        },
        {"cs-ann-lee": "ann-lee", "cs-bo": "bo", "cs-cy": "cy"},
    ),
    Listing(
        "github: clones without their folder, one file beside",
        {f"pa-{u}/{p}": c for u in ("ann", "bo", "cy") for p, c in ((NB, 1), (".git/HEAD", "ref"))}
        | {"classroom_roster.csv": "x"},
        {"ann": "ann", "bo": "bo", "cy": "cy"},
    ),
    Listing(
        "github: the parent of two classrooms",
        {f"{s}/pa-{u}{s[0]}/{NB}": 1 for s in ("one-submissions", "two-submissions") for u in "abc"},
        STOP,
    ),
    Listing(
        "teams: version ten is newer than nine, and the last is empty",
        {f"Submitted files/A B/HW/Version {n}/{NB}": int(n == 10) for n in (9, 10)}
        | {"Submitted files/A B/HW/Version 11/x.pdf": None, f"Submitted files/C D/HW/Version 1/{NB}": 1},
        {"A B": "Version 10", "C D": "C D"},
    ),
    Listing(
        "google: one name twice",
        {f"Li Na - {NB}": 1, "Li Na - paged_attention (1).ipynb": 1, f"Bo B - {NB}": 1},
        {"Li Na": "Li Na - paged_attention.ipynb", "Li Na (1)": "(1)", "Bo B": "Bo B"},
    ),
    Listing(
        "otter: exports of one name",
        {f"pa_2026_11_01T11_{m}_20_123456.zip": None for m in (10, 11, 12)},
        {f"pa-2026_11_01T11_{m}_20_123456": str(m) for m in (10, 11, 12)},
        packed=STOP,
    ),
    Listing(
        "otter: exports under the assignment's own name",
        {f"paged_attention.en_2026_11_01T11_{m}_20_123456.zip": None for m in (10, 11, 12)},
        {f"paged_attention.en-2026_11_01T11_{m}_20_123456": str(m) for m in (10, 11, 12)},
        packed=STOP,
    ),
    Listing(
        "plain: underscores everywhere",
        {f"hw_{who}_final.ipynb": 1 for who in ("zhang_san", "li_si", "bo")},
        {"hw_zhang_san_final": "zhang", "hw_li_si_final": "li", "hw_bo_final": "bo"},
        packed=STOP,
    ),
    Listing("plain: a copy or a namesake", {f"{who}.ipynb": 1 for who in ("ann", "ann (1)", "bo")}, STOP),
    Listing("plain: a copied folder", {f"{who}/{NB}": 1 for who in ("ann", "ann - Copy", "bo")}, STOP),
    Listing(
        "plain: (1) alone is a name",
        {f"{who}.ipynb": 1 for who in ("a", "ann (1)", "bo")},
        {"a": "a", "ann (1)": "(1)", "bo": "bo"},
        packed=STOP,
    ),
    Listing("plain: folders in a folder of a folder", {f"x/y/{who}/{NB}": 1 for who in ("ann", "bo", "cy")}, STOP),
    Listing("plain: two sections of three", {f"{s}/{who}/{NB}": 1 for s in ("mon", "tue") for who in "abc"}, STOP),
    Listing(
        "plain: one of three keeps three drafts in folders",
        {f"ann/{d}/{NB}": 1 for d in ("a", "b", "c")} | {f"bo/{NB}": 1, f"cy/{NB}": 1},
        {"ann": "ann", "bo": "bo", "cy": "cy"},
        packed=STOP,
    ),
    Listing("two platforms in one folder", {f"amy_101_9001_{NB}": 1, f"Bo B_9_assignsubmission_file_{NB}": 1}, STOP),
    Listing(
        "three platforms in one folder",
        {
            f"amy_101_9001_{NB}": 1,
            f"Bo B_9_assignsubmission_file/{NB}": 1,
            f"1-2 - C D - {DATE.format(1, '115 PM')}/{NB}": 1,
        },
        STOP,
    ),
    Listing(
        "packed on a Mac",
        {
            f"__MACOSX/._amy_101_9001_{NB}": "x",
            f"dl/amy_101_9001_{NB}": 1,
            f"dl/bo_102_9002_{NB}": 1,
            "dl/.DS_Store": "x",
        },
        {"101": "9001", "102": "9002"},
    ),
]

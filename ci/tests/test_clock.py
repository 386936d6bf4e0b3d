"""The doctor names what makes a machine's time uneven, and nothing on one whose time is even."""

from pathlib import Path

import pytest

from autograder.grading.clock import unsteady

CPUS = "sys/devices/system/cpu"
EVEN = {
    "proc/swaps": "Filename Type Size Used Priority",
    f"{CPUS}/smt/active": "0",
    f"{CPUS}/cpu0/cpufreq/scaling_governor": "performance",
    f"{CPUS}/cpu0/cpufreq/cpuinfo_max_freq": "3000",
    f"{CPUS}/cpu1/cpufreq/cpuinfo_max_freq": "3000",
    f"{CPUS}/intel_pstate/no_turbo": "1",
    "sys/kernel/mm/transparent_hugepage/enabled": "always [madvise] never",
}
UNEVEN = {
    "swap": {"proc/swaps": "Filename Type Size Used Priority\n/swapfile file 1 0 -2"},
    "hyper-threads": {f"{CPUS}/smt/active": "1"},
    "governor": {f"{CPUS}/cpu0/cpufreq/scaling_governor": "powersave"},
    "turbo": {f"{CPUS}/intel_pstate/no_turbo": "0"},
    "huge pages": {"sys/kernel/mm/transparent_hugepage/enabled": "[always] madvise never"},
    "cores": {f"{CPUS}/cpu1/cpufreq/cpuinfo_max_freq": "2000"},
}


def machine(root: Path, facts: dict[str, str]) -> Path:
    for name, text in facts.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(f"{text}\n")
    return root


@pytest.mark.parametrize("facts", [{}, EVEN], ids=["unknown", "even"])
def test_nothing_is_said_of_a_machine_that_shows_no_cause(facts: dict[str, str], tmp_path: Path) -> None:
    assert list(unsteady(machine(tmp_path, facts))) == []


@pytest.mark.parametrize("cause", UNEVEN)
def test_each_cause_is_named_with_a_remedy(cause: str, tmp_path: Path) -> None:
    [(fact, remedy)] = unsteady(machine(tmp_path, EVEN | UNEVEN[cause]))
    assert cause in fact
    assert remedy

"""Attacks on the device part, on the stand-in: none earns a point that its control, the same wrong code, does not."""

import tomllib
from pathlib import Path

import pytest
from device_samples import patched, verdicts

ATTACKS = tomllib.loads(
    (Path(__file__).resolve().parents[2] / "solutions" / "device" / "attacks.toml").read_text(encoding="utf-8")
)
WRONG = ATTACKS.pop("wrong")
MASTER = patched()
_controls: dict[str, set[str]] = {}


def lost_by(*cells: str) -> set[str]:
    return {case for case, verdict in verdicts((*MASTER, *cells)).items() if verdict.status != "passed"}


def must_lose(attack: dict) -> set[str]:
    """Return the cases that the wrong code of an attack loses by itself, or those that it names."""
    if "loses" in attack:
        return set(attack["loses"])
    name = attack["wrong"]
    if name not in _controls:
        _controls[name] = lost_by(WRONG[name])
    return _controls[name]


def test_the_controls_lose_and_the_right_solution_does_not() -> None:
    assert lost_by() == set()
    assert all(must_lose(attack) for attack in ATTACKS.values())
    assert len(ATTACKS) >= 24


@pytest.mark.parametrize("name", ATTACKS)
def test_an_attack_gains_nothing(name: str) -> None:
    attack = ATTACKS[name]
    assert must_lose(attack) <= lost_by(WRONG.get(attack["wrong"], ""), attack["attack"])

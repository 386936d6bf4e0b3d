"""What ``autograder doctor`` says: which walls are active, what to do about the rest, and how even time is."""

from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version

from autograder.grading.clock import unsteady
from autograder.sandbox.client import INERT_PACKAGES, PACKAGES, ServerDied, refused, server_on

REMEDIES = {
    "landlock": "use Linux 5.13 or newer with Landlock enabled, or grade as root with files that only root can read",
    "seccomp": "install libseccomp2 and a kernel with seccomp filters",
    "namespaces": "grade as root on a virtual machine, or allow user namespaces; containers often refuse both",
    "own user": "grade as root; everything else works without",
    "private files": "allow mount namespaces; Landlock or file permissions do the same work",
}


@dataclass(frozen=True)
class Diagnosis:
    """``safe`` is the probe's word, not a layer's: whether a confined child could break out."""

    safe: bool
    lines: tuple[str, ...]


def examine(device: str = "cpu") -> Diagnosis:
    """Start what student code on ``device`` runs behind, probe it, and say what was found; raise ServerDied."""
    denied = (
        [f"refused while the GPU was opened: {', '.join(refused(device)) or 'nothing'}"] if device == "cuda" else []
    )
    with server_on(device) as server:
        try:
            layers, breaches, versions = server.layers, server.breaches, server.versions
        except ServerDied as died:
            if not denied:
                raise
            return Diagnosis(False, (*denied, str(died)))
    lines = [*denied, f"Python {versions['python']}, torch {versions['torch']}"]
    lines.append(f"packages for submissions: {', '.join(map(_with_version, PACKAGES))}")
    lines.append(f"packages that do nothing: {', '.join(INERT_PACKAGES)}")
    if "gpu" in versions:
        lines.append(f"{versions['gpu']}, CUDA {versions['cuda']}")
    for name, state in layers.items():
        lines.append(f"{name}: {state}")
        if state != "on" and name in REMEDIES and not (name == "namespaces" and device == "cuda"):
            lines.append(f"    to do: {REMEDIES[name]}")
    for fact, remedy in unsteady():
        lines += [f"clock: {fact}", f"    to do: {remedy}"]
    if breaches:
        lines.append(f"The probe broke out: {', '.join(breaches)}. Grading refuses here without --allow-weak.")
    else:
        lines.append("The probe tried to break out and could not: grading is safe here.")
    return Diagnosis(not breaches, tuple(lines))


def _with_version(package: str) -> str:
    try:
        return f"{package} {version(package)}"
    except PackageNotFoundError:
        return f"{package} (missing: run ci/setup)"

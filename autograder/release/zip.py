"""autograder.zip: the hidden tests, the settings and this package's wheel, laid out by ``otter generate``."""

import hashlib
import io
import json
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path

from otter.generate import MINIFORGE_VERSION
from otter.generate import main as otter_generate

from autograder.config import load_config
from autograder.contract.questions import questions
from autograder.contract.seed import read_seed
from autograder.grading.one.gradescope import OTTER_SETTINGS
from autograder.grading.one.hidden_test_files import tests_version
from autograder.grading.otter.plugin import MANIFEST, SEED
from autograder.release import ReleaseError
from autograder.release.lock import locked, needed

ZIP = Path("autograder/dist/autograder.zip")
PYTHON = "3.13"
PLUGIN = "autograder.grading.otter.plugin.ConfinedSubmission"
OWN_SCRIPTS = Path(__file__).with_name("otter")
_SOURCES = ("autograder/**/*", "pyproject.toml", "README.md", "LICENSE", "ci/requirements.lock")
_EPOCH = (1980, 1, 1, 0, 0, 0)


def write(root: Path) -> Path:
    """Build the zip from the checkout at ``root`` and return its path."""
    path = root / ZIP
    content = build(root)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def build(root: Path) -> bytes:
    """Return the zip's bytes; the same sources and lock give the same bytes."""
    pins = locked(root)
    refuse_other_otter(pins)
    with tempfile.TemporaryDirectory() as folder:
        wheel = _wheel(root, Path(folder))
        files = _generated(root, Path(folder), [*needed(root), f"./{wheel.name}"])
        files[wheel.name] = wheel.read_bytes()
    for script in OWN_SCRIPTS.iterdir():
        if script.is_file():
            files[script.name] = _filled(script.read_text("utf-8"), pins).encode()
    files |= seed_files(root)
    manifest = {
        "seed": read_seed(load_config(root).seed_file).sha256,
        "sources": sources_hash(root),
        "tests": tests_version(),
        "otter": pins["otter-grader"],
        "python": PYTHON,
        "wheel": wheel.name,
        "files": {name: hashlib.sha256(content).hexdigest() for name, content in sorted(files.items())},
    }
    files[MANIFEST] = json.dumps(manifest, indent=2).encode()
    return _zipped(files)


def seed_files(root: Path) -> dict[str, bytes]:
    """Return the file with the course seed as it stands in the zip; nothing where the course has none."""
    seed_file = load_config(root).seed_file
    return {SEED: f"{read_seed(seed_file).text}\n".encode()} if seed_file else {}


def sources(root: Path) -> list[Path]:
    """Return everything the zip is made of, as paths below ``root``."""
    paths = {path for pattern in _SOURCES for path in root.glob(pattern) if path.is_file()}
    names = (path.relative_to(root) for path in sorted(paths))
    return [name for name in names if "__pycache__" not in name.parts and name.parts[:2] != ZIP.parts[:2]]


def sources_hash(root: Path) -> str:
    """Return one hash over everything the zip is made of."""
    digest = hashlib.sha256()
    for name in sources(root):
        content = (root / name).read_bytes()
        digest.update(f"{name.as_posix()}\0{len(content)}\0".encode() + content)
    return digest.hexdigest()


def refuse_other_otter(pins: Mapping[str, str]) -> None:
    """Raise ReleaseError unless the installed Otter is the locked one."""
    installed = version("otter-grader")
    if installed != pins["otter-grader"]:
        raise ReleaseError(
            f"Otter {installed} is installed but ci/requirements.lock names {pins['otter-grader']}; run ci/setup."
        )


def _wheel(root: Path, folder: Path) -> Path:
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    wheels = list(folder.glob("*.whl"))
    if done.returncode or len(wheels) != 1:
        said = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise ReleaseError(f"The package's wheel cannot be built ({said}); mend that and build again.")
    return wheels[0]


def _generated(root: Path, folder: Path, requirements: Sequence[str]) -> dict[str, bytes]:
    """Return the files that Otter itself generates, by name."""
    tests = folder / "tests"
    tests.mkdir()
    for name in questions().files("cpu"):
        shutil.copy(root / "autograder" / "hidden_tests" / f"{name}.py", tests)
    settings = folder / "otter_config.json"
    config = load_config(root)
    course = {name: getattr(config, name) for name in ("feedback", "gpu", "language")}
    settings.write_text(json.dumps({**OTTER_SETTINGS, "plugins": [{PLUGIN: course}]}), encoding="utf-8")
    listed = folder / "requirements.txt"
    listed.write_text("\n".join(requirements), encoding="utf-8")
    generated = folder / "generated.zip"
    otter_generate(
        tests_dir=str(tests),
        output_path=str(generated),
        config=str(settings),
        requirements=str(listed),
        overwrite_requirements=True,
        no_environment=True,
        python_version=PYTHON,
    )
    with zipfile.ZipFile(generated) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def _filled(script: str, pins: Mapping[str, str]) -> str:
    values = {"MINIFORGE": MINIFORGE_VERSION, "PYTHON": PYTHON, "UV": pins["uv"], "TORCH": pins["torch"]}
    for name, value in values.items():
        script = script.replace(f"@{name}@", value)
    return script


def _zipped(files: Mapping[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in sorted(files.items()):
            info = zipfile.ZipInfo(name, _EPOCH)
            info.compress_type = zipfile.ZIP_DEFLATED
            executable = content.startswith(b"#!")
            info.external_attr = (0o100755 if executable else 0o100644) << 16
            archive.writestr(info, content)
    return buffer.getvalue()

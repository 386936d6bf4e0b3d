"""Open a student notebook in a real JupyterLab, run it from top to bottom and photograph it.

    python ci/lab_screenshots.py NOTEBOOK OUT_FOLDER [--width 1280] [--dark] [--python PYTHON] [--chromium PATH]

Needs playwright and a Chromium; the JupyterLab is that of PYTHON, by default this one. The notebook and the
lesson's file beside it are copied to a temporary folder first; the pictures are OUT_FOLDER/NAME-WIDTH-THEME-NN.png,
one per screenful.
"""

import argparse
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

SCREEN_HEIGHT = 1900
QUIET = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@contextmanager
def jupyterlab(python: str, folder: Path, dark: bool) -> Iterator[str]:
    """Serve ``folder`` with JupyterLab, every cell rendered at once; yield the address."""
    settings = {
        "@jupyterlab/notebook-extension/tracker.jupyterlab-settings": {"windowingMode": "none"},
        "@jupyterlab/apputils-extension/themes.jupyterlab-settings": {
            "theme": "JupyterLab Dark" if dark else "JupyterLab Light"
        },
        "@jupyterlab/apputils-extension/notification.jupyterlab-settings": {"fetchNews": "false"},
    }
    home = Path(tempfile.mkdtemp())
    for name, content in settings.items():
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(json.dumps(content))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [python, "-m", "jupyter", "lab", "--no-browser", "--allow-root", f"--port={port}"]
    command += ["--ServerApp.port_retries=0", "--IdentityProvider.token=", f"--ServerApp.root_dir={folder}"]
    command += ["--LabApp.expose_app_in_browser=True"]
    environment = {**os.environ, "JUPYTERLAB_SETTINGS_DIR": str(home)}
    server = subprocess.Popen(command, cwd=folder, env=environment, stderr=subprocess.DEVNULL)
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait()
        shutil.rmtree(home)


def run_all(page: Page, address: str) -> None:
    """Open the notebook and run every cell; return when the kernel is idle again."""
    for _ in range(60):
        try:
            page.goto(address)
            break
        except Exception:
            page.wait_for_timeout(500)
    page.wait_for_selector(".jp-Notebook .jp-CodeCell", timeout=60_000)
    page.evaluate(
        """async () => {
            const session = window.jupyterapp.shell.currentWidget.sessionContext;
            await session.ready;
            await session.session.kernel.info;
            window.jupyterapp.commands.execute('notebook:run-all-cells');
        }"""
    )
    prompts = "[...document.querySelectorAll('.jp-CodeCell .jp-InputPrompt')].map(prompt => prompt.textContent)"
    page.wait_for_function(f"{prompts}.every(text => !text || /\\d/.test(text))", timeout=120_000)
    page.wait_for_timeout(1000)


def photograph(page: Page, stem: Path) -> list[Path]:
    """Scroll through the notebook and save one picture per screenful."""
    scroll = "document.querySelector('.jp-Notebook .jp-WindowedPanel-outer, .jp-WindowedPanel-outer')"
    pictures: list[Path] = []
    top, height = 0, page.evaluate(f"{scroll}.scrollHeight")
    while top < height:
        page.evaluate(f"{scroll}.scrollTop = {top}")
        page.wait_for_timeout(300)
        pictures.append(stem.with_name(f"{stem.name}-{len(pictures):02}.png"))
        page.screenshot(path=pictures[-1])
        top += SCREEN_HEIGHT - 250
    return pictures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("notebook", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--width", type=int, default=1280)
    parser.add_argument("--dark", action="store_true")
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--chromium", default="/usr/bin/chromium")
    wanted = parser.parse_args()
    wanted.out.mkdir(parents=True, exist_ok=True)
    theme = "dark" if wanted.dark else "light"
    with tempfile.TemporaryDirectory() as folder:
        for path in (wanted.notebook, wanted.notebook.with_name("paged_lesson.py")):
            shutil.copy(path, folder)
        with jupyterlab(wanted.python, Path(folder), wanted.dark) as address, sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=wanted.chromium, args=list(QUIET))
            page = browser.new_page(viewport={"width": wanted.width, "height": SCREEN_HEIGHT})
            run_all(page, f"{address}/doc/tree/{wanted.notebook.name}")
            errors = page.locator(".jp-OutputArea-output[data-mime-type='application/vnd.jupyter.error']").count()
            stem = wanted.out / f"{wanted.notebook.stem}-{wanted.width}-{theme}"
            for picture in photograph(page, stem):
                print(picture)
            browser.close()
    print(f"{errors} cells ended in an error")


if __name__ == "__main__":
    main()

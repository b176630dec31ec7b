"""Run the page's journeys in Firefox: the site served, and the files that they take, made here.

    make firefox

Playwright drives only a Firefox of its own making, so the journeys of `firefox.test.mjs` go through
WebDriver BiDi, which every Firefox speaks.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from site_page import DIST, ROOT, served, source_text

import neat_onnx

DRIVER = ROOT / ".cache" / "firefox"
PLACES = ("firefox", "firefox-esr", "/Applications/Firefox.app/Contents/MacOS/firefox")


def firefox() -> str:
    """The path of the browser: $FIREFOX, else what is installed.

    Raises:
        SystemExit: there is none.
    """
    found = os.environ.get("FIREFOX") or next(filter(None, map(shutil.which, PLACES)), None)
    if not found:
        raise SystemExit(
            "no Firefox: install it (Debian: apt-get install firefox-esr; macOS: brew install "
            "--cask firefox) or set FIREFOX to its path"
        )
    return found


def made(folder: Path) -> Path:
    """The folder, with the files of the journeys."""
    (folder / "saved").mkdir()
    (folder / "winner.json").write_bytes(source_text("np-ff-19"))
    (folder / "memory.json").write_bytes(source_text("np-rec-01"))
    (folder / "picture.json").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(32))
    model = neat_onnx.export(neat_onnx.load_network(folder / "winner.json"))
    (folder / "expected.onnx").write_bytes(model.to_bytes())
    return folder


def main() -> int:
    with tempfile.TemporaryDirectory() as folder, served(DIST) as address:
        settings = {
            "FIREFOX": firefox(),
            "DRIVER": str(DRIVER),
            "SITE": f"{address}/",
            "FILES": str(made(Path(folder))),
        }
        journeys = Path(__file__).with_name("firefox.test.mjs")
        return subprocess.run(
            ["node", "--test", journeys], env=os.environ | settings, check=False
        ).returncode


if __name__ == "__main__":
    sys.exit(main())

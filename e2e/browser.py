"""Find a Chromium that is installed; run as a script, print it or say how to get one."""

import os
import shutil
import sys
from pathlib import Path

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_PLACES = (
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
)
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


def chromium() -> str:
    """The path of the browser: $CHROMIUM, else what is installed.

    Raises:
        SystemExit: there is none.
    """
    wanted = os.environ.get("CHROMIUM")
    if wanted and not shutil.which(wanted):
        raise SystemExit(f"CHROMIUM is set to {wanted}, which cannot be run")
    found = wanted or next(filter(None, map(shutil.which, _NAMES)), None)
    found = found or next((place for place in _PLACES if Path(place).exists()), None)
    if not found:
        raise SystemExit(
            "the end-to-end tests need Chromium or Chrome: install it (Debian: apt-get install "
            "chromium; macOS: brew install --cask google-chrome) or set CHROMIUM to its path"
        )
    return found


if __name__ == "__main__":
    print("browser:", chromium())
    sys.exit(0)

"""Find a browser that is installed, and start it; run as a script, print it or say how to get one.

    python e2e/browser.py [chromium | firefox]

Firefox is the ordinary one, driven by WebDriver BiDi, for which Playwright has a channel.
"""

import functools
import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Playwright

Preferences = dict[str, int | bool | str]  # by their names in about:config
ALWAYS: Preferences = {
    "security.fileuri.strict_origin_policy": True,  # as is usual, but not in Playwright's Firefox
    "browser.download.alwaysOpenPanel": False,  # it takes the focus from the page
}
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


class Kind(NamedTuple):
    """Where a browser may be: by name on the path, or as an application of macOS."""

    names: tuple[str, ...]
    places: tuple[str, ...]
    package: str
    cask: str


KINDS = {
    "chromium": Kind(
        (
            "chromium-headless-shell",  # without the window that the others draw unseen
            *("chromium", "chromium-browser", "google-chrome", "google-chrome-stable"),
        ),
        (
            "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
            "/Applications/Chromium.app/Contents/MacOS/Chromium",
        ),
        "chromium-headless-shell",
        "google-chrome",
    ),
    "firefox": Kind(
        ("firefox-esr", "firefox"),
        ("/Applications/Firefox.app/Contents/MacOS/firefox",),
        "firefox-esr",
        "firefox",
    ),
}


def installed(kind: str = "chromium") -> str:
    """The path of the browser: $CHROMIUM or $FIREFOX, else what is installed.

    Raises:
        SystemExit: there is none.
    """
    variable = kind.upper()
    wanted = os.environ.get(variable)
    if wanted and not shutil.which(wanted):
        raise SystemExit(f"{variable} is set to {wanted}, which cannot be run")
    names, places, package, cask = KINDS[kind]
    found = wanted or next(filter(None, map(shutil.which, names)), None)
    found = found or next((place for place in places if Path(place).exists()), None)
    if not found:
        raise SystemExit(
            f"the end-to-end tests need {kind.capitalize()}: install it (Debian: apt-get install "
            f"{package}; macOS: brew install --cask {cask}) or set {variable} to its path"
        )
    return found


@functools.cache
def downloads() -> "tempfile.TemporaryDirectory[str]":
    """The folder that Firefox saves files to; it is gone when this process ends."""
    return tempfile.TemporaryDirectory(prefix="neat-onnx-")


def settings(
    kind: str = "chromium", preferences: Preferences | None = None, flags: tuple[str, ...] = ()
) -> dict[str, Any]:
    """What Playwright launches it with; `preferences` are those of Firefox, `flags` Chromium's."""
    path = installed(kind)
    if kind == "chromium":
        return {"executable_path": path, "args": [*FLAGS, *flags]}
    return {
        "executable_path": path,
        "channel": "moz-firefox",
        "downloads_path": downloads().name,
        "firefox_user_prefs": ALWAYS | (preferences or {}),
    }


def launch(playwright: "Playwright", kind: str = "chromium", **wishes: Any) -> "Browser":
    """Start a browser without a window; the wishes are those that `settings` knows."""
    return getattr(playwright, kind).launch(**settings(kind, **wishes))


if __name__ == "__main__":
    print("browser:", installed(*sys.argv[1:]))

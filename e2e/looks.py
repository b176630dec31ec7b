"""The page as those see it who asked for the dark, for no motion or for colours of their own.

Chromium takes such wishes at any time. The driver of Firefox does not have that command: there they
are preferences, which a browser of its own starts with.
"""

from contextlib import AbstractContextManager
from typing import Any

from browser import Preferences, launch
from playwright.sync_api import Playwright
from site_page import NeatPage

NONE = {"color_scheme": "null", "forced_colors": "null", "reduced_motion": "null", "media": "null"}
QUERIES = {
    "color_scheme": "prefers-color-scheme",
    "reduced_motion": "prefers-reduced-motion",
    "forced_colors": "forced-colors",
}
PREFERENCES: dict[tuple[str, str], Preferences] = {
    ("color_scheme", "dark"): {"layout.css.prefers-color-scheme.content-override": 0},
    ("color_scheme", "light"): {"layout.css.prefers-color-scheme.content-override": 1},
    ("reduced_motion", "reduce"): {"ui.prefersReducedMotion": 1},
    ("forced_colors", "active"): {  # white on black
        "browser.display.document_color_use": 2,
        "browser.display.use_system_colors": False,
        "browser.display.background_color": "#000000",
        "browser.display.foreground_color": "#ffffff",
    },
}


class Looks(AbstractContextManager["Looks"]):
    """Pages by what was asked for; started once for each."""

    def __init__(self, playwright: Playwright, address: str, kind: str) -> None:
        self.playwright = playwright
        self.address = address
        self.kind = kind
        self.started: dict[tuple[tuple[str, str], ...], NeatPage] = {}

    def page(self, neat: NeatPage, wanted: dict[str, str]) -> NeatPage:
        """The shared page with these wishes, or another if they have to be told at the start."""
        if self.kind == "chromium":
            neat.page.emulate_media(**{**NONE, **wanted})
        else:
            neat = self._started(tuple(sorted(wanted.items())))
        self._check(neat, wanted)
        return neat

    def _started(self, wanted: tuple[tuple[str, str], ...]) -> NeatPage:
        if wanted not in self.started:
            preferences = {name: v for wish in wanted for name, v in PREFERENCES[wish].items()}
            self.started[wanted] = self._start(preferences)
        return self.started[wanted]

    def _check(self, neat: NeatPage, wanted: dict[str, str]) -> None:
        for feature, value in wanted.items():
            query = "print" if feature == "media" else f"({QUERIES[feature]}: {value})"
            assert neat.page.evaluate("(query) => matchMedia(query).matches", query), query

    def _start(self, preferences: Preferences) -> NeatPage:
        browser = launch(self.playwright, self.kind, preferences=preferences)
        context = browser.new_context(service_workers="block")
        neat = NeatPage(context.new_page(), self.address)
        neat.wait_ready()
        return neat

    def reset(self, neat: NeatPage) -> None:
        """Leave the shared page without wishes; the others must not have complained."""
        if self.kind == "chromium":
            neat.page.emulate_media(**NONE)
        assert [told for each in self.started.values() for told in each.complaints] == []

    def __exit__(self, *_: Any) -> None:
        for neat in self.started.values():
            neat.page.context.browser.close()

"""A real browser, for the tests of pages: Debian's Chromium, driven by Playwright.

On a machine without Chromium these tests are skipped; in CI, where `.ci/run` installs it, that is
a failure.
"""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs
import pytest

_NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
_PATIENCE_MS = 30_000


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A headless Chromium."""
    found = next(filter(None, map(shutil.which, _NAMES)), None)
    if found is None:
        missing = "no Chromium: `apt-get install chromium-headless-shell`"
        if os.environ.get("CI"):
            pytest.fail(missing)
        pytest.skip(missing)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        # Root, as in a container, has no sandbox; the pages are our own.
        options = ["--no-sandbox"] if os.geteuid() == 0 else []
        started = playwright.chromium.launch(executable_path=found, args=options)
        yield started
        started.close()


@attrs.frozen(eq=False)
class Shown:
    """A page in the browser.

    Attributes:
        tab: The page, as Playwright has it.
        faults: What it complained of, and what it asked from outside.
    """

    tab: Any
    faults: list[str]

    def text(self, selector: str) -> str:
        """Return what a person reads there."""
        found: str = self.tab.locator(selector).inner_text()
        return found

    def press(self, *keys: str) -> None:
        """Press keys, one after the other."""
        for key in keys:
            self.tab.keyboard.press(key)

    @property
    def number(self) -> int:
        """The step that is shown."""
        return int(self.tab.locator("#slider").input_value())

    def run(self, script: str) -> Any:
        """Return what a script says about the page; the page's own policy does not bind it."""
        return self.tab.evaluate(script)


def show(
    browser: Any, page: Path, address: str = "", ready: str = "html[data-ready]", **options: Any
) -> Shown:
    """Return the page at a path, in a tab of its own, when it is ready; nothing may leave it.

    Args:
        browser: The browser.
        page: The file.
        address: What follows its name.
        ready: Selects what is there when the page is ready.
        options: Those of the tab's context.
    """
    tab = browser.new_context(**options).new_page()
    tab.set_default_timeout(_PATIENCE_MS)
    faults: list[str] = []
    own = page.absolute().as_uri()

    def let_through(route: Any) -> None:
        if route.request.url.partition("#")[0] == own:
            route.continue_()
        else:
            faults.append(f"request: {route.request.url[:200]}")
            route.abort()

    tab.route("**/*", let_through)
    tab.on("console", lambda message: faults.append(f"console: {message.text}"))
    tab.on("pageerror", lambda error: faults.append(f"error: {error}"))
    tab.on("dialog", lambda dialog: faults.append(f"dialog: {dialog.message}"))
    tab.goto(own + address)
    tab.wait_for_selector(ready)
    return Shown(tab, faults)

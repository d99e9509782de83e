"""Pages opened from disk in a real browser, offline, and what has to hold for each of them."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from waiting import PATIENCE, wait_until


@contextmanager
def running_browser() -> Iterator[Browser]:
    """A Chromium without a window."""
    found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if found is None:
        pytest.fail("no Chromium; run: apt-get install --no-install-recommends chromium")
    with sync_playwright() as playwright:
        yield playwright.chromium.launch(executable_path=found, args=["--no-sandbox", "--disable-gpu"])


class Visitor:
    """Who opens pages, offline; afterwards a page has neither complained nor asked for anything nor grown too wide."""

    def __init__(self, browser: Browser, folder: Path) -> None:
        self.browser, self.folder = browser, folder
        self.complaints: list[str] = []
        self.kept: dict[str, Page] = {}

    @contextmanager
    def visit(self, name: str) -> Iterator[Page]:
        """One of the module's pages, its forms reset; opening one anew for each test takes too long."""
        page = self.kept.get(name) or self.load(self.folder / name, 1400)
        self.kept[name] = page
        resize(page, 1400)
        page.evaluate(RESET)
        yield page
        self.check(page)

    @contextmanager
    def open(self, path: Path) -> Iterator[Page]:
        """Another page, on a narrow screen."""
        page = self.load(path, 400)
        yield page
        self.check(page)
        page.context.close()

    def load(self, path: Path, width: int) -> Page:
        """A page on a screen of that width, in the dark; everything that it says or asks for is a complaint."""
        viewport = {"width": width, "height": 900}
        context = self.browser.new_context(viewport=viewport, offline=True, color_scheme="dark")
        context.set_default_timeout(1000 * PATIENCE)
        page = context.new_page()
        page.on("console", lambda message: self.complaints.append(message.text))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("dialog", lambda dialog: self.complaints.append(dialog.message) or dialog.dismiss())
        page.on("request", lambda asked: self.complaints.append(asked.url) if asked.url != path.as_uri() else None)
        page.goto(path.as_uri())
        return page

    def check(self, page: Page) -> None:
        """Nothing was wrong with a page."""
        assert self.complaints == []
        assert page.evaluate("document.documentElement.scrollWidth - window.innerWidth") <= 0


def resize(page: Page, width: int) -> None:
    """Another width of the screen, at which the page has been drawn anew: it is told of it only with a next frame.

    Asked from outside: a second look of `wait_for_function` is an `eval` in the page, which its policy may forbid.
    """
    page.set_viewport_size({"width": width, "height": 900})
    wait_until(lambda: page.evaluate("window.innerWidth") == width, pause=0.01)
    page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


RESET = """() => {
  for (const form of document.forms) {
    form.reset();
    form.querySelector('input').dispatchEvent(new Event('input'));
  }
}"""


OVERLAPS = """(selectors) => {
  const found = [];
  for (const selector of selectors) {
    const shown = [...document.querySelectorAll(selector)].filter((element) => element.checkVisibility());
    for (const group of Map.groupBy(shown, (element) => element.parentElement).values()) {
      const boxes = group.map((element) => element.getBoundingClientRect());
      for (const [at, a] of boxes.entries()) {
        for (const [from, b] of boxes.slice(at + 1).entries()) {
          const width = Math.min(a.right, b.right) - Math.max(a.left, b.left);
          const height = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
          const [one, two] = [group[at], group[at + 1 + from]].map((element) => element.textContent.trim());
          if (width > 1 && height > 1) found.push(`${selector}: ${one} on ${two}`);
        }
      }
    }
  }
  return found;
}"""


def overlaps(page: Page, *selectors: str) -> list[str]:
    """Elements that a selector finds under one parent and that cover each other."""
    return page.evaluate(OVERLAPS, list(selectors))

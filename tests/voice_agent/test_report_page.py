"""Laws of the report as a reader meets it: in a browser from the file system, with keys, on a phone, in the dark.

Times are measured in the page and printed (pytest -s), never asserted: machines differ.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.voice_agent.browser import PATIENCE_MS, axe_source, chromium
from tests.voice_agent.reported_calls import NASTY, write_report_call
from voice_agent.doors.reporting import write_report

pytestmark = pytest.mark.browser

CALLS, TURNS = 25, 20

FILTER = """words => {
  const box = document.getElementById("find"), from = performance.now();
  box.value = words; box.dispatchEvent(new Event("input")); document.body.offsetHeight;
  return [performance.now() - from, document.querySelectorAll(".turn:not([hidden])").length];
}"""

SCROLL = """async () => {
  const frames = [], end = document.documentElement.scrollHeight;
  for (let y = 0; y < end; y += 900) {
    const from = performance.now();
    scrollTo(0, y);
    await new Promise(requestAnimationFrame);
    frames.push(performance.now() - from);
  }
  frames.sort((a, b) => a - b);
  return [frames.length, frames[frames.length >> 1], frames.at(-1)];
}"""


class Opened:
    """A page, with all that it complained of or asked for."""

    def __init__(self, browser: Any, file: Path, **context: Any) -> None:
        self.trouble: list[str] = []
        self.page = browser.new_context(**context).new_page()
        self.page.set_default_timeout(PATIENCE_MS)
        self.page.on("console", lambda message: self.trouble.append(f"console: {message.text}"))
        self.page.on("pageerror", lambda error: self.trouble.append(f"error: {error}"))
        self.page.on("request", lambda request: self._asked(request.url, file))
        self.page.goto(file.as_uri())

    def _asked(self, url: str, file: Path) -> None:
        if url != file.as_uri() and not url.startswith("data:"):
            self.trouble.append(f"request: {url}")

    def until(self, told: str) -> None:
        """Waits until the page says so. (Playwright's own waiting builds code from text, which the policy forbids.)"""
        for _ in range(300):
            if self.page.evaluate(told):
                return
            self.page.wait_for_timeout(50)
        raise AssertionError(f"never: {told}")

    def violations(self, within: str) -> list[str]:
        """What axe finds in that part of the page: rule, and the first element that breaks it."""
        self.page.evaluate(axe_source())
        found = self.page.evaluate("part => axe.run(part).then(result => result.violations)", within)
        return [f"{one['id']}: {one['nodes'][0]['html'][:200]}" for one in found]

    @property
    def focused(self) -> str:
        """Which turn has the focus."""
        found: str = self.page.evaluate(
            "document.activeElement.closest('.turn')?.querySelector('.panel').id ?? ''"
        )
        return found


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as found:
        yield found


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A page of 500 turns with hostile words, and a page of one recorded call of four."""
    folder = tmp_path_factory.mktemp("report")
    many = [write_report_call(folder, f"call-{n}", TURNS, nasty=NASTY) for n in range(CALLS)]
    write_report(many, folder / "many.html")
    write_report([write_report_call(folder, "one", 4, sound=True)], folder / "one.html")
    return folder / "many.html", folder / "one.html"


def test_five_hundred_turns_open_scroll_and_filter(browser: Any, files: tuple[Path, Path]) -> None:
    """No error, no request, no hostile word that acts; every turn can be reached and found."""
    opened = Opened(browser, files[0])
    page = opened.page
    assert page.locator("#count").inner_text() == "500 / 500 轮"
    print(
        f"\nopened {page.evaluate('performance.timing.loadEventEnd - performance.timing.navigationStart')} ms"
    )
    frames, median, worst = page.evaluate(SCROLL)
    print(f"scrolled in {frames} frames: median {median:.0f} ms, worst {worst:.0f} ms")
    for words, expected in (("第7次问", CALLS), ("num_unsupported", 125), ("没有这样的话", 0), ("", 500)):
        took, visible = page.evaluate(FILTER, words)
        print(f"filtered by {words!r}: {visible} turns in {took:.0f} ms")
        assert visible == expected
    page.select_option("#outcome", "blocked")
    page.select_option("#stage", "check")
    assert page.locator("#count").inner_text() == "125 / 500 轮"
    turn = page.locator(".turn:not([hidden])").last
    turn.locator("h3 > button").click()
    assert turn.locator(".fall").is_visible() and NASTY in turn.locator("mark").first.inner_text()
    page.set_viewport_size({"width": 390, "height": 844})
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    assert page.title() != "owned" and page.locator("img").count() == 0
    assert opened.trouble == []


def test_keys_go_through_the_turns(browser: Any, files: tuple[Path, Path]) -> None:
    """j and k move, Enter opens and closes, / searches and Esc leaves, ? explains, t changes the colours."""
    opened = Opened(browser, files[1])
    press = opened.page.keyboard.press
    for key, focused in (("j", "c1t1"), ("j", "c1t2"), ("ArrowDown", "c1t3"), ("k", "c1t2")):
        press(key)
        assert opened.focused == focused
    panel = opened.page.locator("#c1t2")
    press("Enter")
    assert panel.is_visible()
    press("Enter")
    assert not panel.is_visible()
    press("/")
    opened.page.keyboard.type("第3次j")
    assert opened.page.locator("#none").is_visible()
    press("Backspace")
    press("Escape")
    press("j")
    assert opened.focused == "c1t3" and opened.page.locator(".turn:visible").count() == 1
    press("?")
    assert opened.page.locator("#help").is_visible()
    press("Escape")
    assert not opened.page.locator("#help").is_visible()
    colour = "getComputedStyle(document.body).backgroundColor"
    press("t")
    light = opened.page.evaluate(colour)
    press("t")
    assert opened.page.evaluate(colour) != light
    assert opened.trouble == []


def test_the_cursor_goes_with_the_sound(browser: Any, files: tuple[Path, Path]) -> None:
    """The recording starts where its turn does, and the line on the waterfall is where the sound is."""
    opened = Opened(browser, files[1])
    page = opened.page
    turn = page.locator(".turn").nth(1)
    turn.locator("h3 > button").click()
    assert not turn.locator(".cursor").is_visible()
    turn.get_by_role("button", name="从这一轮播放录音").click()
    opened.until("document.querySelector('audio').currentTime > 10.7")
    place = "Number(document.querySelector('#c1t2 .cursor').style.getPropertyValue('--x'))"
    first = page.evaluate(place)
    assert turn.locator(".cursor").is_visible() and 0.0 < first < 0.9
    opened.until(f"{place} > {first}")
    page.evaluate("document.querySelector('audio').pause()")
    page.evaluate("document.querySelector('audio').currentTime = 1")
    opened.until("document.querySelector('#c1t2 .cursor').hidden")
    assert opened.trouble == []


@pytest.mark.parametrize(("scheme", "width"), [("light", 1200), ("dark", 390)])
def test_everyone_can_read_it(browser: Any, files: tuple[Path, Path], scheme: str, width: int) -> None:
    """Axe finds nothing, with a blocked turn, an answered one and all their tables open; on a phone nothing sticks
    out."""
    opened = Opened(browser, files[1], color_scheme=scheme, viewport={"width": width, "height": 900})
    page = opened.page
    for turn in (1, 3):
        page.locator(".turn h3 > button").nth(turn).click()
    page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert opened.violations("html") == []
    page.locator("#keys").click()
    assert opened.violations("#help") == []
    assert opened.trouble == []

"""The service's page as a caller has it open, with all that it complained of or asked for elsewhere."""

from __future__ import annotations

from typing import Any

from tests.voice_agent.browser import PATIENCE_MS, axe_source

FAKE_MICROPHONE = ("--use-fake-ui-for-media-stream", "--use-fake-device-for-media-stream")
"""Chromium hears a device of its own and asks nobody for leave."""


class Visit:
    """One open page. `trouble` is empty on a page that is well."""

    def __init__(self, browser: Any, url: str, *, before: str = "", **context: Any) -> None:
        self.trouble: list[str] = []
        self.requests: list[str] = []
        self.page = browser.new_context(**{"locale": "zh-CN", **context}).new_page()
        self.page.set_default_timeout(PATIENCE_MS)
        if before:
            self.page.add_init_script(before)
        self.page.on("console", lambda message: self.trouble.append(f"console: {message.text}"))
        self.page.on("pageerror", lambda error: self.trouble.append(f"error: {error}"))
        self.page.on("request", lambda request: self._asked(request.url, url))
        self.page.on("websocket", lambda socket: self._asked(socket.url.replace("ws:", "http:"), url))
        self.page.goto(url)

    def _asked(self, asked: str, url: str) -> None:
        self.requests.append(asked)
        if not asked.startswith(url):
            self.trouble.append(f"request: {asked}")

    def until(self, told: str, patience_s: float = 60.0) -> None:
        """Waits until the page says so. (Playwright's own waiting builds code from text, which the policy forbids.)"""
        for _ in range(int(patience_s * 20)):
            if self.page.evaluate(told):
                return
            self.page.wait_for_timeout(50)
        raise AssertionError(f"never: {told}; the page: {self.page.evaluate('document.body.innerText')}")

    def until_shown(self, selector: str, words: str, patience_s: float = 60.0) -> None:
        """Waits until one of these elements holds the words."""
        told = "([s, w]) => [...document.querySelectorAll(s)].some(one => one.textContent.includes(w))"
        for _ in range(int(patience_s * 20)):
            if self.page.evaluate(told, [selector, words]):
                return
            self.page.wait_for_timeout(50)
        shown = self.page.evaluate("document.body.innerText")
        raise AssertionError(f"never: {words!r} in {selector}; the page: {shown}")

    def state(self, name: str, patience_s: float = 60.0) -> None:
        """Waits until the call is in this state."""
        self.until(f"document.body.dataset.state === '{name}'", patience_s)

    def texts(self, selector: str) -> list[str]:
        found: list[str] = self.page.locator(selector).all_inner_texts()
        return found

    def violations(self) -> list[str]:
        """What axe finds: rule, and the first element that breaks it."""
        self.page.evaluate(axe_source())
        found = self.page.evaluate("axe.run('html').then(result => result.violations)")
        return [f"{one['id']}: {one['nodes'][0]['html'][:200]}" for one in found]

    def sticks_out(self) -> bool:
        """Whether anything is wider than the window."""
        wide: bool = self.page.evaluate("document.documentElement.scrollWidth > innerWidth")
        return wide

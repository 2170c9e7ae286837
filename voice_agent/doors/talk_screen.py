"""What the terminal shows of a live call: one line that moves, and above it what was said.

The moving line is drawn by a thread of rich, from values that the call leaves behind; without a terminal only the lines
that stay are printed.
"""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.live import Live
from rich.text import Text

from audio.pcm import dbfs
from audio.types import Samples
from voice_agent.floor.state import Caller, Floor, State

STATES = {
    Floor.IDLE: ("听", "green"),
    Floor.THINKING: ("想", "yellow"),
    Floor.SPEAKING: ("说", "cyan"),
    Floor.PAUSED: ("停", "magenta"),
    Floor.HANDING_OFF: ("转接", "red"),
    Floor.ENDED: ("完", "white"),
}

BARS = 20
QUIETEST_DB = -60.0
FALL_DB = 1.5
"""How far the meter falls in 20 ms: it jumps up with a syllable and sinks in half a second."""

DRAWN_HZ = 8.0

_SIDES = {"input": "麦克风", "output": "扬声器"}
_DEVICE = {"open": "已打开", "lost": "断开，正在重连", "back": "已恢复", "mute": "没有信号"}


class Screen:
    """Shown within `with`. It is told of the call on the call's thread and draws on its own."""

    def __init__(self, console: Console | None = None) -> None:
        self._console = console or Console(highlight=False)
        self._state: Callable[[], State] = State
        self._levels_db = [QUIETEST_DB, QUIETEST_DB]
        self._words = ""
        self._live = Live(
            console=self._console,
            get_renderable=self.line,
            refresh_per_second=DRAWN_HZ,
            transient=True,
            auto_refresh=self._console.is_terminal,
        )

    def __enter__(self) -> Self:
        if self._console.is_terminal:
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._live.stop()

    def begin(self, state: Callable[[], State]) -> None:
        """The call begins; `state` may be asked on any thread."""
        self._state = state
        self._console.print("可以说话了，按 Ctrl-C 挂断。", style="bold")

    def sound(self, caller: Samples, agent: Samples) -> None:
        """Moves the two meters."""
        for side, samples in enumerate((caller, agent)):
            self._levels_db[side] = max(dbfs(samples), self._levels_db[side] - FALL_DB, QUIETEST_DB)

    def tell(self, kind: str, data: dict[str, object]) -> None:
        """One event of the call: half sentences go to the moving line, whole ones stay."""
        if kind == "partial":
            self._words = str(data["text"])
        elif stays := said(kind, data):
            self._words = str(data["text"]) if kind == "transcript" else self._words
            self._console.print(stays)

    def line(self) -> Text:
        """The moving line as it is now: state, both meters, the caller's words so far."""
        state = self._state()
        name, colour = STATES[state.floor]
        hearing = state.caller is not Caller.QUIET
        words = Text(self._words, style="" if hearing else "dim")
        heard, spoken = (_bar(level_db) for level_db in self._levels_db)
        line = Text.assemble((f" {name} ", f"reverse {colour}"), f" 来电 {heard} 坐席 {spoken} ", words)
        line.truncate(max(10, self._console.width - 1), overflow="ellipsis")
        return line


def said(kind: str, data: dict[str, object]) -> Text | None:
    """The line that stays for an event, None for most."""
    match kind:
        case "transcript":
            return Text(f"来电：{data['text'] or '〔没有听清〕'}")
        case "spoken":
            cut = "" if data["complete"] else "〔被打断〕"
            return Text(f"坐席：{data['text']}{cut}", style="cyan")
        case "device":
            where = f"{_SIDES[str(data['side'])]} {data['name']}"
            return Text(f"设备：{where} {_DEVICE[str(data['state'])]}（{data['detail']}）", style="dim")
        case "handoff":
            return Text(f"转人工：{data['reason']}（{data['delivery']}）", style="red")
        case "error":
            return Text(f"故障：{data['where']} {data['message']}", style="red")
    return None


def _bar(level_db: float) -> str:
    full = round((level_db - QUIETEST_DB) / -QUIETEST_DB * BARS)
    return "▮" * full + "▯" * (BARS - full)

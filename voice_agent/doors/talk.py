"""`voice-agent talk`: a live call at this machine's microphone and loudspeaker."""

from __future__ import annotations

import argparse
import asyncio
from datetime import date

from audio.devices import Device, PortAudio, choose, hushed
from audio.errors import DeviceError
from audio.sound_line import SIDES, SoundLine, Wanted
from voice_agent.build import open_agent
from voice_agent.doors.common import Subparsers, add_common, configured, day, progress_bar
from voice_agent.doors.talk_screen import Screen
from voice_agent.handing_over import send_left_behind
from voice_agent.live_call import Kept
from voice_agent.talk import Talk, talk

EXAMPLES = """examples:
  voice-agent talk                                   the system's own microphone and loudspeaker; Ctrl-C hangs up
  voice-agent talk --list-devices
  voice-agent talk --input USB --output 3 --record   by part of a name or by number; keeps the sound of both sides"""


def add(subparsers: Subparsers) -> None:
    """Registers the command."""
    parser = subparsers.add_parser(
        "talk",
        help="a live call at the microphone",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--list-devices", action="store_true", help="show the sound devices and end")
    parser.add_argument("--input", metavar="DEVICE", help="microphone, by number or part of its name")
    parser.add_argument("--output", metavar="DEVICE", help="loudspeaker, by number or part of its name")
    parser.add_argument("--record", action="store_true", help="keep the call's sound in logs/recordings")
    parser.add_argument("--as-of", type=day, metavar="DATE", help="the day of the call (default: today)")
    add_common(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """0 when the call has ended, also by Ctrl-C; 2 without a device."""
    system = PortAudio()
    devices = system.scan()
    if args.list_devices:
        return _list(devices)
    wanted = Wanted(args.input, args.output)
    for side in SIDES:  # before the models are loaded: a call without a device is no call
        choose(devices, wanted.on(side), side)
    config = configured(args)
    send_left_behind(config)
    screen = Screen()
    with progress_bar(quiet=False) as report, open_agent(config, report) as agent:
        plan = Talk(args.as_of or date.today(), args.record)
        with SoundLine(system, wanted) as sound, screen, hushed():
            kept = asyncio.run(talk(agent, sound, plan, screen))
    _tell(kept)
    return 0


def _list(devices: list[Device]) -> int:
    if not devices:
        raise DeviceError("没有找到声音设备：请接上麦克风和扬声器，再用 voice-agent doctor 查看")
    for device in devices:
        marks = "".join({"input": " 默认输入", "output": " 默认输出"}[side] for side in device.default)
        channels = f"输入 {device.inputs} 声道，输出 {device.outputs} 声道，{device.rate_hz} Hz"
        print(f"{device.number:3}  {device.name}（{channels}）{marks}")
    return 0


def _tell(kept: Kept) -> None:
    print(f"通话结束。记录：{kept.journal}")
    if kept.recording is not None:
        print(f"录音：{kept.recording}（左声道来电人，右声道坐席）")

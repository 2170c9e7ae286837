"""A process of its own on virtual devices: plays back what it hears, and tells on standard output what it sees."""

from __future__ import annotations

import json
import sys
import time

from audio.devices import PortAudio
from audio.pcm import rms
from audio.sound_line import SoundLine, Wanted


def main() -> None:
    """Until standard input is closed by a signal; every piece of news and every heard tone is one JSON line."""
    with SoundLine(PortAudio(), Wanted("vmic", "vspk")) as sound:
        heard = False
        while True:
            for news in sound.news():
                print(json.dumps([news.side, news.state, news.name]), flush=True)
            for frame in sound.microphone.take():
                sound.speaker.feed(frame.samples)
                if rms(frame.samples) > 0.1 and not heard:
                    print(json.dumps(["input", "heard", ""]), flush=True)
                heard = rms(frame.samples) > 0.01
            time.sleep(0.005)


if __name__ == "__main__":
    sys.exit(main())

"""Sound devices without hardware: PulseAudio servers of a test's own, in its own folder, seen through ALSA.

Each device has a server to itself, so that one that is taken away leaves nothing the system could fall back on.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import time
from collections.abc import Iterator, Mapping
from ctypes.util import find_library
from dataclasses import dataclass
from pathlib import Path

LIMIT_S = 20.0
"""For a server to come up or an answer to arrive, on a machine that is busy with other work."""

RATE_HZ = 48_000


def lacking() -> str:
    """What is missing for this, empty if nothing is."""
    programs = [name for name in ("pulseaudio", "pactl", "paplay", "parec") if shutil.which(name) is None]
    library = [] if find_library("portaudio") else ["libportaudio"]
    plugin = [] if list(Path("/usr/lib").glob("**/libasound_module_pcm_pulse.so")) else ["libasound2-plugins"]
    return ", ".join([*programs, *library, *plugin])


@dataclass(frozen=True)
class VirtualDevice:
    """A null sink in a server of its own: what is played into it can be recorded from its monitor."""

    name: str
    folder: Path

    @property
    def server(self) -> str:
        return f"unix:{self.folder / 'native'}"

    def start(self) -> subprocess.Popen[bytes]:
        """The server, answering, with its device."""
        self.folder.mkdir(mode=0o700, parents=True)
        quiet = ["-n", "--daemonize=no", "--use-pid-file=no", "--disable-shm=yes", "--exit-idle-time=-1"]
        socket = f"module-native-protocol-unix socket={self.folder / 'native'} auth-anonymous=1"
        with open(self.folder / "log", "wb") as log:
            server = subprocess.Popen(
                ["pulseaudio", *quiet, "--log-target=stderr", "-L", socket],
                stdout=log,
                stderr=log,
                env=self._environment(),
            )
        give_up = time.monotonic() + LIMIT_S
        while subprocess.run(self._pactl("info"), capture_output=True, env=self._environment()).returncode:
            assert server.poll() is None and time.monotonic() < give_up, (self.folder / "log").read_text()
            time.sleep(0.05)
        self.plug_in()
        return server

    def plug_in(self) -> None:
        self._run("load-module", "module-null-sink", f"sink_name={self.name}", f"rate={RATE_HZ}")

    def pull_out(self) -> None:
        self._run("unload-module", "module-null-sink")

    def play(self, wav: Path) -> None:
        """Plays a file into the device, to its end."""
        command = ["paplay", f"--server={self.server}", f"--device={self.name}", str(wav)]
        subprocess.run(command, check=True, timeout=60, env=self._environment())

    @contextlib.contextmanager
    def recorded(self, wav: Path) -> Iterator[None]:
        """What the device plays meanwhile is in the file."""
        command = ["parec", f"--server={self.server}", f"--device={self.name}.monitor", "--file-format=wav"]
        recorder = subprocess.Popen(
            [*command, "--rate=16000", "--channels=1", "--latency-msec=20", str(wav)], env=self._environment()
        )
        try:
            yield
        finally:
            recorder.terminate()
            recorder.wait(LIMIT_S)

    def _run(self, *command: str) -> None:
        subprocess.run(
            self._pactl(*command), check=True, capture_output=True, timeout=LIMIT_S, env=self._environment()
        )

    def _pactl(self, *command: str) -> list[str]:
        return ["pactl", f"--server={self.server}", *command]

    def _environment(self) -> dict[str, str]:
        """Its own home and runtime folder: as root, and beside other servers, nothing is shared."""
        own = str(self.folder)
        return {**os.environ, "HOME": own, "XDG_RUNTIME_DIR": own, "PULSE_RUNTIME_PATH": own}


@dataclass(frozen=True)
class VirtualSound:
    """A microphone and a loudspeaker; `environment` lets a process see them, and only them."""

    microphone: VirtualDevice
    speaker: VirtualDevice
    environment: Mapping[str, str]


@contextlib.contextmanager
def virtual_sound(folder: Path) -> Iterator[VirtualSound]:
    """Both devices, as "vmic" and "vspk", until the end of the block."""
    microphone, speaker = VirtualDevice("vmic", folder / "in"), VirtualDevice("vspk", folder / "out")
    alsa = folder / "asound.conf"
    alsa.parent.mkdir(parents=True, exist_ok=True)
    pcms = [
        f'pcm.{device.name} {{ type pulse server "{device.server}" device "{name}" hint.description "virtual" }}'
        for device, name in ((microphone, "vmic.monitor"), (speaker, "vspk"))
    ]
    alsa.write_text("\n".join(["</usr/share/alsa/alsa.conf>", *pcms, ""]))
    with contextlib.ExitStack() as stack:
        for device in (microphone, speaker):
            server = device.start()
            stack.callback(server.wait, LIMIT_S)
            stack.callback(server.terminate)
        clients = {
            "ALSA_CONFIG_PATH": str(alsa),
            "PULSE_RUNTIME_PATH": str(folder),
        }  # no cookie in the user's own home
        yield VirtualSound(microphone, speaker, clients)

"""nginx with the shipped configuration in front of services on ports of this machine, with a certificate of its own."""

from __future__ import annotations

import re
import shutil
import socket
import ssl
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NGINX = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin:/usr/local/sbin")
OPENSSL = shutil.which("openssl")
STARTED_S = 20.0


@dataclass(frozen=True)
class Proxy:
    """Where it listens, and what trusts its certificate."""

    tls_port: int
    plain_port: int
    trust: ssl.SSLContext

    @property
    def url(self) -> str:
        return f"https://127.0.0.1:{self.tls_port}"


def free_ports(count: int) -> list[int]:
    held = [socket.socket() for _ in range(count)]
    for one in held:
        one.bind(("127.0.0.1", 0))
    ports = [int(one.getsockname()[1]) for one in held]
    for one in held:
        one.close()
    return ports


def laid_out(folder: Path, workers: Sequence[int], tls_port: int = 8443, plain_port: int = 8080) -> Path:
    """The shipped files with this machine's ports and folders in place of the image's: nothing else is changed."""
    text = (ROOT / "deploy" / "nginx.conf").read_text("utf-8")
    text = text.replace("listen 8443 ", f"listen 127.0.0.1:{tls_port} ")
    text = text.replace("listen 8080;", f"listen 127.0.0.1:{plain_port};")
    text = text.replace("/tmp/nginx", f"{folder}/nginx")  # noqa: S108 - the image's own folder
    text = text.replace("access_log /dev/stdout", f"access_log {folder}/access.log")
    shipped = (ROOT / "deploy" / "workers.conf").read_text("utf-8")
    (line,) = re.findall(r"^server .*$", shipped, re.MULTILINE)
    lines = [line.replace("voice-agent:8080", f"127.0.0.1:{port}") for port in workers]
    (folder / "workers.conf").write_text("\n".join(lines) + "\n", "utf-8")
    certificate(folder / "tls")
    path = folder / "nginx.conf"
    path.write_text(text, "utf-8")
    return path


def certificate(folder: Path) -> None:
    """Signed by itself, for 127.0.0.1."""
    folder.mkdir(exist_ok=True)
    made = [
        str(OPENSSL),
        "req",
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:prime256v1",
        "-nodes",
    ]
    made += ["-days", "2", "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"]
    made += ["-keyout", str(folder / "privkey.pem"), "-out", str(folder / "fullchain.pem")]
    subprocess.run(made, check=True, capture_output=True, timeout=60)


def checked(configuration: Path) -> subprocess.CompletedProcess[str]:
    """What `nginx -t` says."""
    command = [str(NGINX), "-t", "-c", str(configuration), "-p", str(configuration.parent)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


@contextmanager
def proxy(folder: Path, workers: Sequence[int]) -> Iterator[Proxy]:
    """Running until the block ends."""
    tls_port, plain_port = free_ports(2)
    configuration = laid_out(folder, workers, tls_port, plain_port)
    command = [str(NGINX), "-c", str(configuration), "-p", str(folder), "-g", "daemon off;"]
    trust = ssl.create_default_context(cafile=str(folder / "tls" / "fullchain.pem"))
    with (folder / "nginx.err").open("w") as err, subprocess.Popen(command, stderr=err) as running:
        try:
            _wait(tls_port, running)
            yield Proxy(tls_port, plain_port, trust)
        finally:
            running.terminate()


def _wait(port: int, running: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + STARTED_S
    while running.poll() is None and time.monotonic() < until:
        with socket.socket() as one:
            if one.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise AssertionError("nginx did not start")

"""What deploy/ says is held to the code: no engine of containers is needed to see that a name or a limit is wrong."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.voice_agent.serving import ROOT
from voice_agent.config import load_config
from voice_agent.service.guard import OPEN_PATHS

DEPLOY = ROOT / "deploy"
SECRETS = {"VOICE_AGENT_API_KEYS", "VOICE_AGENT_HANDOFF_KEY", "VOICE_AGENT_MILVUS_TOKEN"}
WORKERS = ("agent-1", "agent-2")


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    made: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text("utf-8"))
    return made


@pytest.fixture(scope="module")
def image() -> str:
    return (DEPLOY / "Dockerfile").read_text("utf-8").replace("\\\n", " ")


@pytest.fixture(scope="module")
def proxy() -> str:
    return (DEPLOY / "nginx.conf").read_text("utf-8")


def filled(text: str) -> str:
    """A value as compose makes it where nothing but the required is set."""
    return re.sub(r"\$\{\w+(?::-([^}]*)|:\?[^}]*)\}", lambda found: found[1] or "", text)


@pytest.mark.parametrize("worker", WORKERS)
def test_the_settings_of_a_worker_are_settings(compose: dict[str, Any], image: str, worker: str) -> None:
    """A misspelt name would be an error only on the machine it is deployed to."""
    told = dict(re.findall(r"(VOICE_AGENT__\w+)=(\S+)", image))
    told |= {name: filled(value) for name, value in compose["services"][worker]["environment"].items()}
    config = load_config(ROOT / "config.yaml", [], told)
    assert (config.service.host, config.paths.kb) == ("0.0.0.0", Path("/kb"))  # noqa: S104 - within its container
    assert config.milvus.uri.startswith("http://milvus:") and "milvus" in compose["services"]
    assert config.llm.base_url.startswith("http://ollama:") and "ollama" in compose["services"]


def test_secrets_stand_in_the_environment_only(compose: dict[str, Any]) -> None:
    """The file names them and gives none; without keys nothing starts; the example leaves them empty."""
    environment = compose["services"]["agent-1"]["environment"]
    for name in SECRETS:
        assert re.fullmatch(r"\$\{" + name + r":[-?][^}]*\}", environment[name])
        assert filled(environment[name]) == ""
    assert ":?" in environment["VOICE_AGENT_API_KEYS"]
    example = (DEPLOY / "example.env").read_text("utf-8")
    assert set(re.findall(r"^(VOICE_AGENT_\w+)=$", example, re.MULTILINE)) == SECRETS
    asked = set(re.findall(r"\$\{(\w+)", (DEPLOY / "compose.yaml").read_text("utf-8")))
    assert asked == set(re.findall(r"^(\w+)=", example, re.MULTILINE))
    assert "/deploy/.env" in (ROOT / ".gitignore").read_text("utf-8")
    assert "deploy/.env" in (ROOT / ".dockerignore").read_text("utf-8")


def test_only_the_proxy_is_reached_from_elsewhere(compose: dict[str, Any]) -> None:
    """Every other published port is this machine's alone, and the stores are on the inner network."""
    for name, service in compose["services"].items():
        ports = service.get("ports", [])
        assert name == "proxy" or all(port.startswith("127.0.0.1:") for port in ports)
    assert compose["networks"]["within"]["internal"] is True
    assert compose["services"]["milvus"]["networks"] == ["within"]


def test_a_worker_has_time_to_end_its_calls(compose: dict[str, Any]) -> None:
    """Killed earlier, a caller would hear half a sentence and no hand-over."""
    service = load_config(ROOT / "config.yaml", [], {}).service
    grace = int(compose["services"]["agent-1"]["stop_grace_period"].removesuffix("s"))
    assert grace > service.drain_s + service.farewell_s + service.deadline_s + 5


def test_every_disk_is_kept_or_given(compose: dict[str, Any]) -> None:
    """A named volume that nothing declares, or one that nothing uses, is a journal lost at the next start."""
    used = set()
    for service in compose["services"].values():
        for volume in service.get("volumes", []):
            source = filled(volume).partition(":")[0]
            if not source.startswith((".", "/")):
                used.add(source)
    assert used == set(compose["volumes"])
    assert (DEPLOY / "nginx.conf").is_file()


def test_the_image_takes_what_there_is(image: str) -> None:
    """Every file copied exists, every package is copied, every extra is one; it does not run as root."""
    copied = re.findall(r"^COPY (?!--from)(.+) \S+$", image, re.MULTILINE)
    names = [name for line in copied for name in line.split()]
    assert all((ROOT / name).exists() for name in names)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    packages = {
        pattern.rstrip("*") for pattern in project["tool"]["setuptools"]["packages"]["find"]["include"]
    }
    assert packages <= set(names)
    (extras,) = re.findall(r"RUN scripts/setup (\S+)", image)
    assert set(extras.split(",")) <= set(project["project"]["optional-dependencies"])
    assert image.rindex("USER agent") > image.rindex("RUN ")
    (probe,) = re.findall(r"http://127\.0\.0\.1:8080(/\w+)", image)
    assert probe in OPEN_PATHS


def test_the_proxy_fits_the_service(compose: dict[str, Any], image: str, proxy: str) -> None:
    """It reaches each worker at its port, lets no larger body in, and waits longer than the service does."""
    (port,) = re.findall(r"EXPOSE (\d+)", image)
    service = load_config(ROOT / "config.yaml", [], {}).service
    for pool in re.findall(r"upstream \w+ \{([^}]*)\}", proxy):
        assert re.findall(r"server (\S+) ", pool) == [f"{worker}:{port}" for worker in WORKERS]
    assert f"client_max_body_size {service.body_kb}k;" in proxy
    assert int(re.findall(r"proxy_read_timeout (\d+)s", proxy)[0]) > service.deadline_s
    (listens,) = re.findall(r"listen (\d+) ssl", proxy)
    assert compose["services"]["proxy"]["ports"] == [f"443:{listens}"]

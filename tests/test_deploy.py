"""Laws of deploy/: what stands there fits the code and itself. Nothing of it is started here but the proxy."""

from __future__ import annotations

import re
from typing import Any

import pytest
import yaml

from tests.proxied import ROOT
from voice_agent.config import Config, load_config
from voice_agent.doors.cli import COMMANDS
from voice_agent.errors import ConfigError
from voice_agent.overrides import PREFIX
from voice_agent.record.measures import METRICS
from voice_agent.service.server import CONNECTIONS

DEPLOY = ROOT / "deploy"
COMPOSE: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text("utf-8"))
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
DOCKERFILE = (DEPLOY / "Dockerfile").read_text("utf-8")
NGINX_CONF = (DEPLOY / "nginx.conf").read_text("utf-8")
ENV_EXAMPLE = (DEPLOY / "env.example").read_text("utf-8")
DOCUMENT = (ROOT / "docs" / "deploy.md").read_text("utf-8")
ASKED_FOR = re.compile(r"\$\{(\w+)(?::[?-][^}]*)?}")


def image_environment() -> dict[str, str]:
    return dict(re.findall(r"(VOICE_AGENT\w*)=(\S+)", DOCKERFILE[DOCKERFILE.index(" AS lean") :]))


def worker_environment() -> dict[str, str]:
    """As a worker sees it: the image's, the compose file's over it, defaults in place of what .env may set."""
    given = {name: str(text) for name, text in SERVICES["voice-agent"]["environment"].items()}
    filled = {name: re.sub(r"\$\{\w+:-([^}]*)}", r"\1", text) for name, text in given.items()}
    return {**image_environment(), **filled}


def configured() -> Config:
    return load_config(ROOT / "config.yaml", [], worker_environment())


def directive(name: str, within: str = NGINX_CONF) -> str:
    (value,) = re.findall(rf"^\s*{name} ([^;]+);", within, re.MULTILINE)
    return str(value)


def location(path: str) -> str:
    return NGINX_CONF.split(f"location = {path} {{")[-1].split("}", 1)[0]


def seconds(text: str) -> float:
    return float(text.removesuffix("s"))


def names_in_the_code() -> set[str]:
    """Every variable that the packages read by its own name."""
    files = [
        path for package in ("audio", "retrieval", "voice_agent") for path in (ROOT / package).rglob("*.py")
    ]
    return {
        name for path in files for name in re.findall(r"VOICE_AGENT_[A-Z][A-Z_]*", path.read_text("utf-8"))
    }


def test_every_setting_of_the_image_is_a_setting() -> None:
    """The project's own loader takes them, and says what they come to; what has one underscore is read by the code."""
    config = configured()
    assert (config.service.host, config.service.port) == ("0.0.0.0", 8080)  # noqa: S104 - inside its own network
    assert (config.retrieval.store, config.milvus.uri) == ("milvus", "http://milvus:19530")
    assert (config.answer.generator, config.llm.base_url) == ("ollama", "http://ollama:11434")
    own = {name for name in worker_environment() if not name.startswith(PREFIX)}
    assert own == own & names_in_the_code()


def test_a_misspelt_setting_would_be_seen() -> None:
    """The law above could fail."""
    with pytest.raises(ConfigError, match="sevice"):
        load_config(ROOT / "config.yaml", [], {**worker_environment(), "VOICE_AGENT__SEVICE__PORT": "8080"})


def test_secrets_come_from_the_environment_alone() -> None:
    """In the compose file each is asked for; in the image and the example there is none; .env is never committed."""
    secret = re.compile(r"KEY|TOKEN|PASSWORD|SECRET|ROOT_USER")
    asked = [
        (name, str(text))
        for service in SERVICES.values()
        for name, text in service.get("environment", {}).items()
        if secret.search(name)
    ]
    assert len(asked) >= 6
    assert [name for name, text in asked if not ASKED_FOR.fullmatch(text)] == []
    assert not re.search(r"(KEY|TOKEN|PASSWORD|SECRET)\w*=", DOCKERFILE)
    values = dict(re.findall(r"^(\w+)=(.*)$", ENV_EXAMPLE, re.MULTILINE))
    assert [name for name, value in values.items() if secret.search(name) and value] == []
    assert "/deploy/.env" in (ROOT / ".gitignore").read_text("utf-8").split()


def test_every_variable_that_is_asked_for_is_explained() -> None:
    """The example names each and no other."""
    asked = set(ASKED_FOR.findall((DEPLOY / "compose.yaml").read_text("utf-8")))
    assert asked == set(re.findall(r"^(\w+)=", ENV_EXAMPLE, re.MULTILINE))


def test_only_the_proxy_is_reached_from_elsewhere() -> None:
    """Every other port is this machine's own; the stores have no way out; who is named on a network exists."""
    published = {name: service["ports"] for name, service in SERVICES.items() if "ports" in service}
    assert set(published) == {"proxy", "voice-agent"}
    assert all(port.startswith("127.0.0.1:") for port in published["voice-agent"])
    listens = set(re.findall(r"listen (\d+)", NGINX_CONF))
    assert {port.split(":")[-1] for port in published["proxy"]} == listens
    for name in ("etcd", "minio", "milvus"):
        assert SERVICES[name]["networks"] == ["store"]
    assert COMPOSE["networks"]["store"]["internal"] is True
    used = {network for service in SERVICES.values() for network in service["networks"]}
    assert used == set(COMPOSE["networks"])


def test_volumes_and_addresses_fit() -> None:
    """Each volume is declared and used; each host that is asked is a service on a shared network, at its port."""
    mounts = [mount for service in SERVICES.values() for mount in service.get("volumes", [])]
    named = {mount.split(":")[0] for mount in mounts if re.match(r"[a-z]", mount)}
    assert named == set(COMPOSE["volumes"])
    for mount in mounts:
        if mount.startswith("./"):
            assert (DEPLOY / mount.split(":")[0]).is_file()
    config = configured()
    inside = {mount.split(":")[1] for mount in SERVICES["voice-agent"]["volumes"] if mount[0] != "$"}
    for path in (config.paths.index, config.paths.logs, image_environment()["VOICE_AGENT_HOME"]):
        assert any(str(path).startswith(folder) for folder in inside), path
    assert str(config.paths.kb) == "/kb" and ":/kb:ro" in SERVICES["voice-agent"]["volumes"][0]
    for service in SERVICES.values():
        for needed in service.get("depends_on", {}):
            assert set(service["networks"]) & set(SERVICES[needed]["networks"])


def test_nothing_runs_with_more_rights_than_it_needs() -> None:
    """Our two containers: no root, nothing written outside their volumes, no capability; no floating image."""
    assert re.findall(r"^USER (\w+)$", DOCKERFILE, re.MULTILINE)[-1] == "agent"
    assert SERVICES["proxy"]["user"] == "101:101"
    for name in ("proxy", "voice-agent"):
        service = SERVICES[name]
        assert service["read_only"] and service["cap_drop"] == ["ALL"]
        assert service["security_opt"] == ["no-new-privileges:true"]
    for name, service in SERVICES.items():
        assert re.search(r":\D{0,8}\d", service["image"]) if "image" in service else "build" in service, name


def test_the_image_is_made_of_what_there_is() -> None:
    """Files that exist and are let through, the pinned set-up with extras that exist, the command of this project."""
    copied = re.findall(r"^COPY (?!--)(.+) \S+$", DOCKERFILE, re.MULTILINE)
    files = {one for line in copied for one in line.split()}
    let_in = set(
        re.findall(r"^!(\S+)$", (DEPLOY / "Dockerfile.dockerignore").read_text("utf-8"), re.MULTILINE)
    )
    assert files == let_in and all((ROOT / one).exists() for one in files)
    (extras,) = re.findall(r"^RUN scripts/setup (\S+)", DOCKERFILE, re.MULTILINE)
    project = (ROOT / "pyproject.toml").read_text("utf-8")
    assert all(f"\n{extra} = [" in project for extra in extras.split(","))
    assert "constraints.txt" in (ROOT / "scripts" / "setup").read_text("utf-8")
    stages = re.findall(r"^FROM (\S+) AS (\S+)$", DOCKERFILE, re.MULTILINE)
    assert stages[-1][1] == "service"
    targets = {service["build"]["target"] for service in SERVICES.values() if "build" in service}
    assert targets <= {name for _, name in stages}
    assert 'CMD ["serve"]' in DOCKERFILE and "8080/ready" in DOCKERFILE
    assert {"serve", "models"} <= set(COMMANDS)


def test_the_proxy_waits_longer_than_the_service() -> None:
    """And lets in no more than it: bodies, calls, questions, stopping."""
    config = configured()
    settings = config.service
    for path in ("/call", "/media"):
        assert (
            seconds(directive("proxy_read_timeout", location(path)))
            > config.turn.max_call_s + settings.farewell_s
        )
    top = NGINX_CONF.split("server {")[0]
    assert seconds(directive("proxy_read_timeout", top)) > settings.deadline_s
    assert directive("client_max_body_size") == f"{settings.body_kb}k"
    assert seconds(directive("client_body_timeout")) <= settings.body_s
    assert int(directive("limit_conn").split()[1]) < CONNECTIONS
    stopping = settings.drain_s + settings.farewell_s + settings.deadline_s + 2
    assert seconds(SERVICES["voice-agent"]["stop_grace_period"]) > stopping


def test_the_proxy_leads_only_where_callers_go() -> None:
    """Every path it forwards is a route of the service; the administrators' are not among them; events are not held."""
    folders = [ROOT / "voice_agent" / name for name in ("service", "telephone")]
    served = "".join(path.read_text("utf-8") for folder in folders for path in folder.rglob("*.py"))
    forwarded = re.findall(r"location =? ?(/\S*) \{[^}]*proxy_pass", NGINX_CONF)
    assert set(forwarded) == {
        "/",
        "/web/",
        "/ask",
        "/ask/stream",
        "/call",
        "/media",
        "/health",
        "/ready",
        "/openapi.json",
    }
    assert [path for path in forwarded if f'"{path}' not in served] == []
    assert "proxy_buffering off" in location("/ask/stream")
    for path in ("/call", "/media"):
        assert "Upgrade $http_upgrade" in location(path)


def test_what_the_document_names_exists() -> None:
    """Metrics with their labels, settings, variables, commands, files and the other documents."""
    exposed = {f"voice_agent_{metric.name}": metric for metric in METRICS}
    for name, labels in re.findall(r"`voice_agent_(\w+?)(?:_total)?(?:\{([\w,]+)})?`", DOCUMENT):
        if name not in ("open_calls", "refused_calls"):
            assert set(exposed[f"voice_agent_{name}"].labels) == set(labels.split(",")) - {""}, name
    values = Config().model_dump()
    for section, key in re.findall(r"`(\w+)\.(\w+)(?:: \w+)?`", DOCUMENT):
        if section not in ("constraints", "nginx", "config", "workers", "compose"):
            assert key in values[section], f"{section}.{key}"
    for name in re.findall(r"VOICE_AGENT_\w+", DOCUMENT):
        section, _, key = name.removeprefix(PREFIX).lower().partition("__")
        assert key in values[section] if name.startswith(PREFIX) else name in names_in_the_code(), name
    for path in re.findall(r"`((?:scripts|tests|deploy)/[\w./]+)", DOCUMENT):
        assert (ROOT / path).exists(), path
    for path in re.findall(r"\]\((\w+\.md)\)", DOCUMENT):
        assert (ROOT / "docs" / path).exists(), path

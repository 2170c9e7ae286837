"""What the adapters send, how they are chosen, and what the doctor says of a language model."""

from __future__ import annotations

import asyncio
import json
from contextlib import aclosing

import pytest

from tests.voice_agent.answering import SAMPLING, extractive
from tests.voice_agent.standins import DIALECTS, Dialect, Ollama, OpenAi, Standin, serving
from voice_agent import build
from voice_agent.config import Answer, Config
from voice_agent.config import Llm as LlmConfig
from voice_agent.doors.checks import Check, check_llm
from voice_agent.errors import ConfigError
from voice_agent.reply.generation import LlmGenerator
from voice_agent.reply.llm import End, LlmError, LlmFault, Prompt
from voice_agent.reply.patience import Patience
from voice_agent.reply.servers import models_served, open_generator, open_llm

PROMPT = Prompt("规则", "问题")


def exchange(dialect: Dialect, *steps: bytes) -> tuple[list[str | End], Standin]:
    async def read(url: str) -> list[str | End]:
        async with aclosing(dialect.llm(url, SAMPLING).stream(PROMPT)) as pieces:
            return [piece async for piece in pieces]

    with serving(*steps) as server:
        return asyncio.run(read(server.url)), server


def config(generator: str, url: str = "http://127.0.0.1:11434", **llm: object) -> Config:
    settings = {"base_url": url, **llm}
    return Config(answer=Answer(generator=generator), llm=LlmConfig(**settings))  # type: ignore[arg-type]


def test_ollama_is_asked_with_its_context_and_without_thinking() -> None:
    """num_ctx is set, think is off, the model is kept loaded, the length is bounded (A7 14, 32, 34)."""
    pieces, server = exchange(Ollama(), Ollama().text("三天"), Ollama().end("length", 42))
    (asked,) = server.asked
    assert pieces == ["三天", "", End("length", 42)]
    assert asked["think"] is False and asked["stream"] is True and asked["keep_alive"]
    assert asked["options"] == {"num_ctx": 4096, "num_predict": 200, "temperature": 0.0}
    assert [message["content"] for message in asked["messages"]] == ["规则", "问题"]
    assert server.headers[0].startswith("POST /api/chat ")


def test_openai_is_asked_with_its_key() -> None:
    """The key is a bearer token; length and temperature are set; the address keeps its version."""
    pieces, server = exchange(OpenAi(), OpenAi().text("三天"), OpenAi().end("stop", 42))
    (asked,) = server.asked
    assert pieces == ["三天", "", End("stop", 42)]
    assert (asked["model"], asked["max_tokens"], asked["temperature"]) == ("qwen3", 200, 0.0)
    assert server.headers[0].startswith("POST /v1/chat/completions ")
    assert "authorization: bearer secret" in server.headers[0].lower()


def test_openai_frames_of_every_kind() -> None:
    """Comments, other fields, a frame without choices and one with null content are read over."""
    frames = b": ping\n\nevent: x\ndata:\n\n" + OpenAi().line(choices=[], usage=None)
    frames += OpenAi().line(choices=[{"delta": {"role": "assistant", "content": None}}])
    pieces, _ = exchange(OpenAi(), frames, OpenAi().text("三天"), OpenAi().end())
    assert "".join(piece for piece in pieces if isinstance(piece, str)) == "三天"


@pytest.mark.parametrize("content", [["三天"], {"text": "三天"}, 3])
def test_openai_content_of_another_shape(content: object) -> None:
    """What is no text is a fault by name, not a crash further on; an odd count of tokens is no count."""
    with pytest.raises(LlmError) as error:
        exchange(OpenAi(), OpenAi().line(choices=[{"delta": {"content": content}}]))
    assert error.value.fault is LlmFault.GARBLED
    last = OpenAi().line(choices=[{"delta": {}, "finish_reason": "stop"}], usage={"prompt_tokens": "many"})
    assert exchange(OpenAi(), last)[0][-1] == End("stop", None)


def test_openai_stopped_by_a_filter_is_no_answer() -> None:
    """Only stop and length end an answer."""
    with pytest.raises(LlmError, match="content_filter"):
        exchange(OpenAi(), OpenAi().text("三"), OpenAi().end("content_filter"))


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.name)
def test_a_response_is_bounded(dialect: Dialect) -> None:
    """A line that never ends is not gathered without limit."""
    with pytest.raises(LlmError) as error:
        exchange(dialect, *[b"x" * 500_000] * 10)
    assert error.value.fault is LlmFault.BROKEN_OFF and "bytes" in str(error.value)


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.name)
def test_an_error_is_one_line(dialect: Dialect) -> None:
    """A server's page of text becomes one bounded line."""
    with serving(("bad\n" * 500).encode(), status=500) as server, pytest.raises(LlmError) as error:
        asyncio.run(anext(dialect.llm(server.url, SAMPLING).stream(PROMPT)))  # type: ignore[arg-type]
    assert "\n" not in str(error.value) and len(str(error.value)) < 500


def test_warming_asks_one_token_with_the_real_rules() -> None:
    """An empty prompt would leave the rules to be read while the first caller waits (A7 34)."""
    with serving(Ollama().text("好"), Ollama().end("length")) as server:
        generator = LlmGenerator(Ollama().llm(server.url, SAMPLING), SAMPLING, Patience())
        asyncio.run(generator.warm())
    (asked,) = server.asked
    assert asked["options"]["num_predict"] == 1 and "资料里没有" in asked["messages"][0]["content"]


def test_a_model_that_cannot_be_warmed_costs_nothing() -> None:
    """A call starts without it; extracts need no warming."""
    with serving() as server:
        pass
    build._warm(LlmGenerator(Ollama().llm(server.url, SAMPLING), SAMPLING, Patience()))
    build._warm(extractive())


def test_the_configuration_chooses_protocol_and_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """The key is read from the variable the configuration names, and only from there."""
    monkeypatch.setenv("MY_KEY", "secret")
    assert open_llm(config("ollama")).id == "ollama/qwen3"
    assert open_llm(config("openai", model="m", api_key_env="MY_KEY")).id == "openai/m"
    assert isinstance(open_generator(config("ollama")), LlmGenerator)
    monkeypatch.delenv("MY_KEY")
    with pytest.raises(ConfigError, match="MY_KEY"):
        open_llm(config("openai", api_key_env="MY_KEY"))


def doctor(generator: str, url: str, **llm: object) -> Check:
    chosen = config(generator, url, **llm)
    return check_llm(chosen, lambda: models_served(chosen))


@pytest.mark.parametrize(
    ("generator", "body"),
    [("ollama", {"models": [{"name": "qwen3:latest"}]}), ("openai", {"data": [{"id": "qwen3"}]})],
)
def test_the_doctor_on_a_model_that_is_there(generator: str, body: dict[str, object]) -> None:
    """Reachable and loaded is ok; reachable without the model says how to get it, and what there is."""
    with serving(json.dumps(body).encode()) as server:
        assert doctor(generator, server.url).status == "ok"
        absent = doctor(generator, server.url, model="other")
    assert absent.status == "warn" and "qwen3" in absent.message
    assert ("ollama pull other" if generator == "ollama" else "llm.model") in absent.mend


@pytest.mark.parametrize("generator", ["ollama", "openai"])
def test_the_doctor_on_a_server_that_is_not(generator: str) -> None:
    """Down, odd and refusing servers only warn: calls work by extracts."""
    with serving(b"<html>") as odd, serving(b"no", status=401) as closed:
        checks = doctor(generator, odd.url), doctor(generator, closed.url)
    for check in (*checks, doctor(generator, odd.url)):
        assert check.status == "warn" and check.mend and "\n" not in check.message
    assert "401" in checks[1].message


def test_the_doctor_without_a_model() -> None:
    """Nothing is asked when no language model is configured."""
    assert doctor("extractive", "http://127.0.0.1:9").status == "ok"


@pytest.mark.parametrize("url", ["127.0.0.1:11434", "file:///etc/passwd", "http://", ""])
def test_an_address_that_is_none(url: str) -> None:
    """A wrong llm.base_url is an error of the configuration, not of a call."""
    with pytest.raises(ValueError, match="base_url"):
        config("ollama", url)

"""From the configuration to a language model: which protocol, where, with which key; and whether it is there."""

from __future__ import annotations

import os
from typing import Any

import httpx

from voice_agent.config import Config
from voice_agent.errors import ConfigError
from voice_agent.reply.generation import LlmGenerator
from voice_agent.reply.llm import Llm, LlmError, LlmFault, Sampling, words
from voice_agent.reply.llm_http import Endpoint
from voice_agent.reply.ollama_chat import OllamaChat
from voice_agent.reply.openai_chat import OpenAiChat
from voice_agent.reply.patience import Patience
from voice_agent.reply.rewriting import LlmRewriter, RewriteRules

PROBE_S = 3.0
"""For a list of models from a server that is up."""


def open_generator(config: Config) -> LlmGenerator:
    """The generator that `answer.generator` names. Nothing is asked of the server yet. Raises ConfigError."""
    llm = config.llm
    patience = Patience(llm.first_token_s, llm.stall_s, llm.total_s)
    return LlmGenerator(open_llm(config), _sampling(config), patience)


def open_rewriter(config: Config) -> LlmRewriter | None:
    """The rewriter, if anything is switched on in `rewrite`. Raises ConfigError."""
    on = config.rewrite
    rules = RewriteRules(on.standalone, on.hyde, on.multi_query, on.step_back, on.deadline_s)
    return LlmRewriter(open_llm(config), rules) if rules.any else None


def open_llm(config: Config) -> Llm:
    """The model of `llm`. Raises ConfigError when the key's variable is not set."""
    endpoint = Endpoint(config.llm.base_url, _key(config), config.llm.connect_s)
    if protocol(config) == "ollama":
        return OllamaChat(endpoint, _sampling(config))
    return OpenAiChat(endpoint, _sampling(config))


def protocol(config: Config) -> str:
    """How the model is asked: as the generator is, or as rewriting says where answers are extracts."""
    generator = config.answer.generator
    return config.rewrite.protocol if generator == "extractive" else generator


def models_served(config: Config) -> list[str]:
    """The names of the models the server has. Blocking, for the doctor. Raises LlmError."""
    endpoint = Endpoint(config.llm.base_url, _key(config), config.llm.connect_s)
    ollama = protocol(config) == "ollama"
    path, many, name = ("/api/tags", "models", "name") if ollama else ("/models", "data", "id")
    options = endpoint.options()
    with endpoint.faults():
        answer = httpx.get(
            endpoint.base_url + path,
            headers=options["headers"],
            timeout=PROBE_S,
            trust_env=options["trust_env"],
        )
        if answer.status_code != 200:
            told = f"{endpoint.base_url} ({answer.status_code}): {words(answer.text)}"
            raise LlmError(LlmFault.REJECTED, told)
        rows: list[dict[str, Any]] = answer.json()[many]
        return [str(row[name]) for row in rows]


def _key(config: Config) -> str:
    variable = config.llm.api_key_env
    key = os.environ.get(variable, "") if variable else ""
    if variable and not key:
        raise ConfigError(f"llm.api_key_env: {variable} is not set; export the key under that name")
    return key


def _sampling(config: Config) -> Sampling:
    llm = config.llm
    return Sampling(llm.model, llm.max_tokens, llm.num_ctx, llm.temperature)

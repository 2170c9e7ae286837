"""config.yaml as frozen values. An unknown key, a wrong type or an impossible number is one line and exit 2."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal, Self

import yaml
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    IPvAnyNetwork,
    PositiveFloat,
    PositiveInt,
    ValidationError,
    field_validator,
    model_validator,
)

from voice_agent.errors import ConfigError
from voice_agent.floor.echo import Echo
from voice_agent.overrides import apply, override_by_environment
from voice_agent.phrases import CALLBACK
from voice_agent.reply.posting import target_of


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Paths(_Section):
    """Where things lie. Absolute once loaded."""

    kb: Path = Path("data/kb")
    index: Path = Path("index")
    logs: Path = Path("logs")


class Threads(_Section):
    """The thread budget of each engine."""

    asr: PositiveInt = 2
    encoder: PositiveInt = 1
    tts: PositiveInt = 2


class Vad(_Section):
    """`mode` is webrtcvad's; silero needs the extra of that name."""

    engine: Literal["webrtc", "silero"] = "webrtc"
    mode: int = Field(default=2, ge=0, le=3)


class Turn(_Section):
    """Lengths in seconds of the call's clock; see floor/step.py for what each decides."""

    soft_pause_s: float = Field(default=0.16, ge=0.16)
    short_pause_s: PositiveFloat = 0.5
    end_pause_s: PositiveFloat = 0.8
    long_pause_s: PositiveFloat = 1.6
    early_asr: bool = True
    speculation: bool = True
    foresee_chars: int = Field(default=40, ge=0)
    partial_every_s: float = Field(default=0.6, ge=0)
    partial_until_s: PositiveFloat = 12.0
    rejoin_voice_s: PositiveFloat = 0.2
    barge_in_duck_s: PositiveFloat = 0.12
    barge_in_pause_s: PositiveFloat = 0.3
    barge_in_listen_s: PositiveFloat = 0.4
    barge_in_decide_s: PositiveFloat = 4.0
    barge_in_cut_s: PositiveFloat = 1.5
    preroll_s: PositiveFloat = 0.3
    max_utterance_s: PositiveFloat = 120.0
    hold_first_s: PositiveFloat = 1.5
    hold_again_s: PositiveFloat = 6.0
    lead_in_s: PositiveFloat | None = 0.3
    reply_limit_s: PositiveFloat = 20.0
    max_call_s: PositiveFloat = 1800.0

    @model_validator(mode="after")
    def _duck_then_pause_then_cut(self) -> Self:
        if not self.barge_in_duck_s <= self.barge_in_pause_s <= self.barge_in_cut_s:
            raise ValueError("barge_in_duck_s, barge_in_pause_s and barge_in_cut_s must not fall")
        return self

    @model_validator(mode="after")
    def _pauses_rise(self) -> Self:
        if not self.soft_pause_s <= self.short_pause_s <= self.end_pause_s <= self.long_pause_s:
            raise ValueError("soft_pause_s, short_pause_s, end_pause_s, long_pause_s must not fall")
        return self


class Audio(_Section):
    """The caller's line; see floor/echo.py."""

    echo: Echo = "overlap_text"
    echo_tail_s: float = Field(default=0.4, ge=0, le=2)


class Duties(_Section):
    """What a call owes its caller beside answers; see floor/duties.py. `greeting_phrase` null: the one in phrases.py.

    `replays` keeps greeting and silence prompts in recorded calls too.
    """

    greeting: bool = True
    greeting_phrase: str | None = Field(default=None, min_length=1, max_length=100)
    prompt_after_s: PositiveFloat | None = 8.0
    prompts: int = Field(default=2, ge=0, le=5)
    repeat: Literal["sentence", "answer", "off"] = "sentence"
    goodbye: bool = True
    courtesy: bool = True
    read_back_below: float = Field(default=0.6, ge=0, le=1)
    replays: bool = False


class Asr(_Section):
    model: str = "whisper-base"
    beam_size: PositiveInt = 5
    window_pad_s: float | None = Field(default=3.0, ge=2)
    hot_words: int = Field(default=100, ge=0, le=400)


class Chunks(_Section):
    """Sizes of the passages that documents are cut into, in tokens; see retrieval/chunk.py."""

    target_tokens: int = Field(default=135, ge=20, le=480)
    limit_tokens: int = Field(default=315, ge=40, le=480)
    overlap: float = Field(default=0.12, ge=0, le=0.3)

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.target_tokens > self.limit_tokens:
            raise ValueError("target_tokens must not be above limit_tokens")
        return self


class Retrieval(_Section):
    encoder: str = "e5-small"
    query_instruction: str = ""
    dictionary: Path | None = None
    reranker: str = "late"
    repair: bool = True
    phonetic: bool = True
    examples: bool = True
    recall: PositiveInt = 50
    rrf_k: PositiveInt = 60
    channel_deadline_ms: PositiveInt = 1500
    rerank_budget_ms: PositiveInt = 400
    token_vectors_max_passages: int = Field(default=10_000, ge=0)
    store: Literal["embedded", "milvus"] = "embedded"


class Milvus(_Section):
    """Where the recall channels are when retrieval.store is milvus. The token comes from VOICE_AGENT_MILVUS_TOKEN."""

    uri: str = Field(default="http://127.0.0.1:19530", min_length=1)
    collection: str = Field(default="voice_agent", pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,99}$")
    timeout_s: PositiveFloat = 1.0


class Gate(_Section):
    """`shadow` is a calibration file whose thresholds decide beside the live ones, for the journal only; in
    `staged_percent` of the live calls they decide, and the live ones beside them.
    """

    require_calibrated: bool = False
    shadow: Path | None = None
    staged_percent: float = Field(default=0.0, ge=0, le=100)

    @model_validator(mode="after")
    def _staged_needs_thresholds(self) -> Self:
        if self.staged_percent and self.shadow is None:
            raise ValueError("staged_percent needs a calibration file in gate.shadow")
        return self


class Answer(_Section):
    generator: Literal["extractive", "ollama", "openai"] = "extractive"
    missing_marks: Literal["halt", "attribute"] = "halt"
    evidence: int = Field(default=3, ge=1, le=3)
    evidence_lead: float = Field(default=0.05, ge=0)
    max_sentences: PositiveInt = 2
    min_relevance: float = Field(default=0.5, ge=0, le=1)


class Rewrite(_Section):
    """What a language model makes of a question before the search; all off by default.

    The model is that of `llm`; `protocol` is how it is asked where answer.generator is extractive.
    """

    standalone: bool = False
    hyde: bool = False
    multi_query: int = Field(default=0, ge=0, le=5)
    step_back: bool = False
    deadline_s: PositiveFloat = 1.5
    protocol: Literal["ollama", "openai"] = "ollama"


class Llm(_Section):
    """The language model of answer.generator. `api_key_env` names the variable that holds the key, never the key."""

    base_url: str = Field(default="http://127.0.0.1:11434", pattern=r"^https?://[^\s/]+")
    model: str = Field(default="qwen3", min_length=1)
    api_key_env: str = Field(default="", pattern=r"^[A-Za-z0-9_]*$")
    connect_s: PositiveFloat = 2.0
    first_token_s: PositiveFloat = 5.0
    stall_s: PositiveFloat = 3.0
    total_s: PositiveFloat = 15.0
    max_tokens: PositiveInt = 200
    num_ctx: int = Field(default=4096, ge=1024)
    temperature: float = Field(default=0.0, ge=0, le=2)


class Tts(_Section):
    """`edge` speaks over the network and Kokoro takes over when that fails; see voice_agent/call/voicing.py."""

    engine: Literal["kokoro", "edge"] = "kokoro"
    voice: str = "zf_xiaobei"
    edge_voice: str = Field(default="zh-CN-XiaoxiaoNeural", min_length=1)
    edge_first_audio_s: PositiveFloat = 3.0
    edge_stall_s: PositiveFloat = 2.0
    speed: float = Field(default=1.0, ge=0.5, le=2)
    cache_mb: int = Field(default=200, ge=0)


class Handoff(_Section):
    """Where calls for a person go beside the file in logs/handoff; see reply/webhook.py. No secret stands here."""

    webhook: str | None = None
    timeout_s: float = Field(default=2.0, gt=0, le=10)
    attempts: int = Field(default=3, ge=1, le=5)
    callback_phrase: str = Field(default=CALLBACK, min_length=1, max_length=60)

    @field_validator("webhook")
    @classmethod
    def _may_be_used(cls, url: str | None) -> str | None:
        if url is not None:
            target_of(url)
        return url


class Journals(_Section):
    """How long calls are kept; see record/retention.py. None: without that limit."""

    keep_days: PositiveInt | None = 90
    max_mb: PositiveInt | None = 2000


class Privacy(_Section):
    """`key_env` names the variable that holds the operator's key, never the key; see record/vault.py."""

    key_env: str = Field(default="", pattern=r"^[A-Za-z0-9_]*$")


class Telemetry(_Section):
    """What is told to monitoring, in numbers and codes alone; see record/telemetry.py."""

    prometheus_port: int | None = Field(default=None, ge=1, le=65535)
    prometheus_host: str = Field(default="127.0.0.1", min_length=1)
    spans: Literal["off", "file", "environment"] = "off"

    @field_validator("spans", mode="before")
    @classmethod
    def _as_written(cls, spans: object) -> object:
        return "off" if spans is False else spans  # YAML takes a bare off for no


class Replay(_Section):
    """The budget of each stage in a replay at speed 0, in seconds of the call's clock."""

    asr_s: PositiveFloat = 0.9
    partial_s: PositiveFloat = 0.3
    search_s: PositiveFloat = 0.15
    generate_s: PositiveFloat = 0.1
    check_s: PositiveFloat = 0.05
    speech_s: PositiveFloat = 0.9


class Service(_Section):
    """The HTTP service; see docs/service.md. API keys come from VOICE_AGENT_API_KEYS or a file of their hashes."""

    host: str = Field(default="127.0.0.1", min_length=1)
    port: int = Field(default=8080, ge=0, le=65535)
    keys_file: Path | None = None
    at_once: PositiveInt = 1
    queue: int = Field(default=16, ge=0)
    deadline_s: PositiveFloat = 10.0
    drain_s: float = Field(default=1.0, ge=0)
    body_kb: PositiveInt = 64
    body_s: PositiveFloat = 10.0
    rate: str | None = "120/minute"
    cache: int = Field(default=256, ge=0)
    calls: int = Field(default=2, ge=0)
    resume_s: float = Field(default=10.0, ge=0, le=60)
    farewell_s: float = Field(default=15.0, ge=0)
    phone_record: bool = False
    phone_person_key: Literal["", "0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "*", "#"] = "0"
    phone_secret_name: str = Field(default="key", min_length=1)
    audiosocket_port: int | None = Field(default=None, ge=0, le=65535)
    audiosocket_host: str = Field(default="127.0.0.1", min_length=1)
    audiosocket_peers: tuple[IPvAnyNetwork, ...] = ()


HUB_RETRIEVAL = {
    "encoder": "BAAI/bge-small-zh-v1.5",
    "query_instruction": "为这个句子生成表示以用于检索相关文章：",
    "reranker": "BAAI/bge-reranker-base",
}
"""What the hub profile names where the file still names the embedded parts. The instruction is the encoder card's."""


class Config(_Section):
    """The whole configuration. `sha` is the fingerprint of its values, for the journal."""

    profile: Literal["embedded", "hub"] = "embedded"
    paths: Paths = Paths()
    threads: Threads = Threads()
    vad: Vad = Vad()
    turn: Turn = Turn()
    audio: Audio = Audio()
    duties: Duties = Duties()
    asr: Asr = Asr()
    chunks: Chunks = Chunks()
    retrieval: Retrieval = Retrieval()
    milvus: Milvus = Milvus()
    gate: Gate = Gate()
    answer: Answer = Answer()
    rewrite: Rewrite = Rewrite()
    llm: Llm = Llm()
    tts: Tts = Tts()
    handoff: Handoff = Handoff()
    journal: Journals = Journals()
    privacy: Privacy = Privacy()
    telemetry: Telemetry = Telemetry()
    replay: Replay = Replay()
    service: Service = Service()

    @property
    def sha(self) -> str:
        values = self.model_dump_json(exclude={"paths": True, "service": True, "retrieval": {"dictionary"}})
        return hashlib.sha256(values.encode()).hexdigest()[:16]


def find_config() -> Path:
    """The working folder's config.yaml, else the one beside the package. Raises ConfigError."""
    for folder in (Path.cwd(), Path(__file__).resolve().parent.parent):
        if (folder / "config.yaml").is_file():
            return folder / "config.yaml"
    raise ConfigError("config.yaml: not in this folder; run from the project or give --config FILE")


def load_config(
    path: Path | None = None, overrides: Sequence[str] = (), environment: Mapping[str, str] | None = None
) -> Config:
    """Reads the file (default: find_config), then the environment (default: the process's), then the overrides, each
    `section.key=value`: the later wins. Raises ConfigError.
    """
    file = path or find_config()
    try:
        values = yaml.safe_load(file.read_text(encoding="utf-8")) or {}
    except (OSError, UnicodeDecodeError) as e:
        raise ConfigError(f"{file}: cannot be read ({e}); give a YAML file with --config") from e
    except yaml.YAMLError as e:
        raise ConfigError(f"{file}: not YAML: {' '.join(str(e).split())}") from e
    if not isinstance(values, dict):
        raise ConfigError(f"{file}: must be a mapping of sections; see the shipped config.yaml")
    override_by_environment(values, os.environ if environment is None else environment)
    for override in overrides:
        apply(values, override, f"--set {override}")
    try:
        config = Config.model_validate(values)
    except ValidationError as e:
        raise ConfigError(f"{file}: {_first_error(e)}") from e
    config = _beside(file.resolve().parent, config)
    return _for_hub(config) if config.profile == "hub" else config


def _for_hub(config: Config) -> Config:
    """The hub's models in place of the embedded ones; what the file names itself stays."""
    embedded = Retrieval()
    named = {
        key: hub
        for key, hub in HUB_RETRIEVAL.items()
        if getattr(config.retrieval, key) == getattr(embedded, key)
    }
    return config.model_copy(update={"retrieval": config.retrieval.model_copy(update=named)})


def _first_error(error: ValidationError) -> str:
    first = error.errors()[0]
    key = ".".join(str(part) for part in first["loc"])
    if first["type"] == "extra_forbidden":
        return f"unknown key {key}; remove it or see the shipped config.yaml for the names"
    return f"{key}: {first['msg']} (got {first['input']!r})"


def _beside(root: Path, config: Config) -> Config:
    """The same configuration with its paths absolute."""
    paths = Paths(**{name: (root / value).resolve() for name, value in config.paths})
    retrieval = config.retrieval
    if retrieval.dictionary:
        dictionary = (root / retrieval.dictionary).resolve()
        retrieval = retrieval.model_copy(update={"dictionary": dictionary})
    gate = config.gate
    if gate.shadow:
        gate = gate.model_copy(update={"shadow": (root / gate.shadow).resolve()})
    service = config.service
    if service.keys_file:
        service = service.model_copy(update={"keys_file": (root / service.keys_file).resolve()})
    return config.model_copy(
        update={"paths": paths, "retrieval": retrieval, "gate": gate, "service": service}
    )

"""The configuration: every mistake is one line that names the key."""

from __future__ import annotations

from pathlib import Path

import pytest

from voice_agent.config import Config, load_config
from voice_agent.errors import ConfigError

ROOT = Path(__file__).resolve().parents[2]


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "config.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_the_shipped_file_states_the_defaults() -> None:
    """config.yaml shows every setting with the value it has without the file."""
    shipped = load_config(ROOT / "config.yaml")
    assert shipped.model_dump(exclude={"paths"}) == Config().model_dump(exclude={"paths"})
    assert shipped.paths.kb == ROOT / "data" / "kb"


def test_paths_are_relative_to_the_file(tmp_path: Path) -> None:
    """A configuration can be used from any folder."""
    config = load_config(written(tmp_path, "{paths: {kb: docs}, retrieval: {dictionary: words.txt}}"))
    assert config.paths.kb == tmp_path.resolve() / "docs"
    assert config.retrieval.dictionary == tmp_path.resolve() / "words.txt"
    assert config.sha == Config().sha


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("asr: {beem_size: 5}", "unknown key asr.beem_size"),
        ("surprise: 1", "unknown key surprise"),
        ("turn: {end_pause_s: -1}", "turn.end_pause_s"),
        ("turn: {end_pause_s: soon}", "turn.end_pause_s"),
        ("vad: {mode: 9}", "vad.mode"),
        ("turn: {hold_first_s: 0}", "turn.hold_first_s"),
        ("turn: {barge_in_duck_s: 0.5}", "must not fall"),
        ("audio: {echo: full}", "audio.echo"),
        ("duties: {prompts: -1}", "duties.prompts"),
        ("handoff: {webhook: 'http://desk.example.com/'}", "handoff.webhook"),
        ("handoff: {callback_phrase: ''}", "handoff.callback_phrase"),
        ("chunks: {target_tokens: 900}", "chunks.target_tokens"),
        ("chunks: {target_tokens: 400, limit_tokens: 300}", "target_tokens must not be above limit_tokens"),
        ("- a list", "must be a mapping"),
        ("a: [", "not YAML"),
    ],
)
def test_a_mistake_is_named_in_one_line(tmp_path: Path, text: str, says: str) -> None:
    """Unknown keys, wrong types and impossible values say where they are."""
    with pytest.raises(ConfigError) as error:
        load_config(written(tmp_path, text))
    assert says in str(error.value) and "\n" not in str(error.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    """A path that is not there is the user's to mend."""
    with pytest.raises(ConfigError, match=r"nowhere\.yaml"):
        load_config(tmp_path / "nowhere.yaml")


def test_overrides_win_and_change_the_fingerprint(tmp_path: Path) -> None:
    """--set reaches any section; the journal's fingerprint follows the values, not the paths."""
    path = written(tmp_path, "asr: {beam_size: 2}")
    plain, changed = load_config(path), load_config(path, ["asr.beam_size=1", "tts.speed=1.2"])
    assert (changed.asr.beam_size, changed.tts.speed) == (1, 1.2)
    assert plain.sha != changed.sha
    assert load_config(path, ["paths.kb=elsewhere"]).sha == plain.sha


@pytest.mark.parametrize("override", ["asr.beam_size", "asr.beam_size.deep=1", "=1", "asr.nothing=1"])
def test_a_wrong_override_is_named(tmp_path: Path, override: str) -> None:
    """An override that cannot be applied is an error, never ignored."""
    with pytest.raises(ConfigError):
        load_config(written(tmp_path, "asr: {beam_size: 2}"), [override])


def test_file_then_environment_then_flag(tmp_path: Path) -> None:
    """One precedence for every setting; the service's own leave the journal's fingerprint as it was."""
    path = written(tmp_path, "service: {port: 1, queue: 2, rate: 3/minute}")
    environment = {"VOICE_AGENT__SERVICE__PORT": "10", "VOICE_AGENT__SERVICE__QUEUE": "20", "PORT": "5"}
    service = load_config(path, ["service.port=100"], environment).service
    assert (service.port, service.queue, service.rate) == (100, 20, "3/minute")
    assert load_config(path, (), environment).sha == load_config(path, (), {}).sha
    assert load_config(path, (), {"VOICE_AGENT__ASR__BEAM_SIZE": "1"}).asr.beam_size == 1


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("VOICE_AGENT__SERVICE__PRT", "1", "unknown key service.prt"),
        ("VOICE_AGENT__SERVICE__PORT", "[", "VOICE_AGENT__SERVICE__PORT: not a YAML value"),
        ("VOICE_AGENT__PROFILE__X", "1", "VOICE_AGENT__PROFILE__X: profile is a value"),
    ],
)
def test_a_wrong_variable_is_named(tmp_path: Path, name: str, value: str, says: str) -> None:
    """As a wrong key of the file is."""
    with pytest.raises(ConfigError) as error:
        load_config(written(tmp_path, "profile: embedded"), (), {name: value})
    assert says in str(error.value) and "\n" not in str(error.value)


def test_the_hub_profile_names_the_fields_models(tmp_path: Path) -> None:
    """Encoder, its query instruction and reranker change together; what the file names itself stays."""
    hub = load_config(written(tmp_path, "profile: hub")).retrieval
    assert (hub.encoder, hub.reranker) == ("BAAI/bge-small-zh-v1.5", "BAAI/bge-reranker-base")
    assert hub.query_instruction.endswith("：")
    own = load_config(written(tmp_path, "{profile: hub, retrieval: {encoder: /models/own}}")).retrieval
    assert own.encoder == "/models/own" and own.reranker == hub.reranker

"""What `voice-agent doctor` looks at. Each check takes what it judges and returns a Check; none raises."""

from __future__ import annotations

import importlib.util
import os
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from retrieval.calibration import Calibration
from voice_agent.config import Config
from voice_agent.data_files import FileReport
from voice_agent.errors import AgentError, ConfigError

CheckStatus = Literal["ok", "warn", "fail"]

OLDEST_PYTHON = (3, 11)

PACKAGES = {
    "aiohttp": "aiohttp",
    "av": "av",
    "edge-tts": "edge_tts",
    "faster-whisper": "faster_whisper",
    "httpx": "httpx",
    "jieba": "jieba",
    "jsonschema": "jsonschema",
    "kokoro-onnx": "kokoro_onnx",
    "misaki": "misaki",
    "numpy": "numpy",
    "ollama": "ollama",
    "onnx": "onnx",
    "onnxruntime": "onnxruntime",
    "opencc": "opencc",
    "orjson": "orjson",
    "platformdirs": "platformdirs",
    "pydantic": "pydantic",
    "pypinyin": "pypinyin",
    "pyyaml": "yaml",
    "rank-bm25": "rank_bm25",
    "rich": "rich",
    "sounddevice": "sounddevice",
    "soxr": "soxr",
    "tokenizers": "tokenizers",
    "webrtcvad-wheels": "webrtcvad",
}
"""What pyproject.toml requires -> the name it is imported by."""

HUB_PACKAGES = ("sentence_transformers", "torch")

FREE_BYTES = 200 * 1024 * 1024
"""For an index, the speech cache and many journals; models come on top while they are missing."""

SHOWN_FAULTS = 3


@dataclass(frozen=True, slots=True)
class Check:
    """One finding, in the operator's language. `mend` says what to do, and is empty when nothing need be done."""

    name: str
    status: CheckStatus
    message: str
    mend: str = ""


@dataclass(frozen=True, slots=True)
class ModelState:
    """How one model stands, whoever keeps it."""

    name: str
    usable: bool
    note: str


def check_python(version: tuple[int, int, int]) -> Check:
    """3.11 or newer."""
    text = ".".join(map(str, version))
    if version[:2] < OLDEST_PYTHON:
        return Check(
            "python", "fail", f"Python {text} 太旧", "请安装 Python 3.11 或更新的版本，并重建虚拟环境"
        )
    return Check("python", "ok", f"Python {text}")


def check_platform(system: str, machine: str, cores: int | None) -> Check:
    """Tested on Linux x86-64; the other rows say for which machines every dependency has a ready-made wheel."""
    where = f"{system} {machine}，{cores or '?'} 个核心"
    arm, intel = machine.lower() in ("aarch64", "arm64"), machine.lower() in ("x86_64", "amd64")
    if system == "Linux" and intel:
        return Check("platform", "ok", where)
    if (system, intel) == ("Darwin", True):
        mend = "新版 onnxruntime 不再提供 Intel Mac 的安装包，请固定到仍提供的旧版本"
        return Check("platform", "warn", f"{where}：未测试", mend)
    if arm or (system == "Windows" and intel):
        mend = "依赖均有现成安装包；请先运行 scripts/test，并以 voice-agent eval 重新测量耗时"
        return Check("platform", "warn", f"{where}：有安装包，未测试", mend)
    return Check(
        "platform", "warn", f"{where}：没有现成的安装包", "请在 Linux x86-64 上运行，或自行编译各依赖"
    )


def check_packages(is_there: Callable[[str], bool], hub: bool) -> list[Check]:
    """Whether each package can be found, without importing any."""
    missing = [package for package, name in PACKAGES.items() if not is_there(name)]
    absent = [name for name in HUB_PACKAGES if not is_there(name)]
    if missing:
        found = Check("packages", "fail", f"缺少 {', '.join(missing)}", "请运行 pip install -e .")
    else:
        found = Check("packages", "ok", f"{len(PACKAGES)} 个依赖齐全")
    if not absent:
        return [found, Check("hub packages", "ok", "hub 档的依赖齐全")]
    status: CheckStatus = "fail" if hub else "ok"
    mend = "请运行 pip install -e '.[hub]'" if hub else ""
    note = "当前配置使用 hub 档" if hub else "仅 hub 档需要"
    return [found, Check("hub packages", status, f"未安装 {', '.join(absent)}（{note}）", mend)]


def is_installed(name: str) -> bool:
    """Whether a top-level package can be found."""
    try:
        return importlib.util.find_spec(name) is not None
    except (ImportError, ValueError):
        return False


def check_models(states: Iterable[ModelState]) -> list[Check]:
    """One finding a model that the configuration uses."""
    return [_model_check(state) for state in states]


def _model_check(state: ModelState) -> Check:
    name = f"model {state.name}"
    if not state.usable:
        return Check(name, "fail", state.note or "尚未下载", f"请运行 voice-agent models pull {state.name}")
    return Check(name, "warn" if state.note else "ok", state.note or "可用")


def check_config(load: Callable[[], Config]) -> tuple[Check, Config]:
    """Whether the configuration loads; where it does not, the defaults stand in for the checks that follow."""
    try:
        config = load()
    except ConfigError as e:
        return Check("config", "fail", str(e), "请按提示修改配置"), Config()
    return Check("config", "ok", f"配置可用，档位 {config.profile}，指纹 {config.sha}"), config


def check_data(reports: Iterable[FileReport]) -> list[Check]:
    """One finding a data file."""
    return [_file_check(report) for report in reports]


def check_knowledge(kb: Path, passages: int, warnings: Sequence[str], fault: str) -> Check:
    """Whether the knowledge base loads as a whole: its documents, duplicate ids and unknown keys too."""
    if fault:
        return Check("knowledge base", "fail", fault, f"请按提示修改 {kb} 中的文件")
    if warnings:
        shown = "；".join(warnings[:SHOWN_FAULTS])
        mend = "可以使用；如果键名写错，所写的条件不会生效"
        return Check("knowledge base", "warn", f"{passages} 段，{len(warnings)} 处提醒：{shown}", mend)
    return Check("knowledge base", "ok", f"{passages} 段")


def _file_check(report: FileReport) -> Check:
    name = f"data {report.path.parent.name}/{report.path.name}"
    if not report.faults:
        return Check(name, "ok", f"{report.lines} 行，符合格式")
    shown = "；".join(report.faults[:SHOWN_FAULTS])
    more = f"；等共 {len(report.faults)} 处" if len(report.faults) > SHOWN_FAULTS else ""
    return Check(name, "fail", f"{shown}{more}", "请对照 data/schemas 中的格式修改所指的行")


def check_index(built: Mapping[str, Any] | None, fault: str, corpus_sha: str) -> Check:
    """Whether the index is of this knowledge base. `built` is its manifest; None with what is wrong in `fault`."""
    mend = "请运行 voice-agent index；不运行时，下次启动会自动建立"
    if built is None:
        return Check("index", "warn", f"索引不可用：{fault}", mend)
    if built.get("corpus_sha") != corpus_sha:
        return Check("index", "warn", "索引已过期：知识库在建立索引之后有改动", mend)
    return Check("index", "ok", f"与知识库一致，编码器 {built.get('encoder', '?')}")


def check_calibration(found: Calibration | None, fault: str, corpus_sha: str, required: bool) -> Check:
    """Whether the gate's thresholds were chosen on this knowledge base. `fault` is why the file cannot be read."""
    mend = "请用带标注的问题运行 voice-agent calibrate"
    if fault:
        return Check("calibration", "fail", fault, mend)
    worse: CheckStatus = "fail" if required else "warn"
    if found is None:
        message = "calibration: shipped（未在本知识库上校准，使用随附门限）"
        return Check("calibration", worse, message, mend)
    if found.corpus != corpus_sha:
        message = f"calibration: stale（{found.made} 校准之后知识库有改动，取两套门限中较严的）"
        return Check("calibration", worse, message, mend)
    seen, total = found.bound.seen_on
    message = f"calibration: stored（{found.made}；另一半题 {total} 问误答 {seen}，95% 上界 {found.bound.upper:.1%}）"
    return Check("calibration", "ok", message)


def check_llm(config: Config, served: Callable[[], Sequence[str]]) -> Check:
    """Whether the configured language model answers. `served` lists the server's models and may raise AgentError.

    Only a warning: calls work without it, by extracts.
    """
    generator, model, rewrite = config.answer.generator, config.llm.model, config.rewrite
    rewrites = rewrite.standalone or rewrite.hyde or rewrite.step_back or rewrite.multi_query > 0
    if generator == "extractive" and not rewrites:
        return Check("language model", "ok", "未使用（answer.generator: extractive）")
    try:
        names = served()
    except AgentError as e:
        mend = "请启动模型服务，或修改 llm.base_url、llm.api_key_env；在此之前一律按原文摘句回答"
        return Check("language model", "warn", str(e), mend)
    if not {model, f"{model}:latest"} & set(names):
        by_ollama = "ollama" in (generator, rewrite.protocol if generator == "extractive" else "")
        mend = f"请运行 ollama pull {model}" if by_ollama else "请修改 llm.model"
        shown = "、".join(names[:SHOWN_FAULTS]) or "无"
        return Check("language model", "warn", f"服务在运行，但没有模型 {model}（现有：{shown}）", mend)
    return Check("language model", "ok", f"{generator}，{config.llm.base_url}，{model}")


def check_audio(query: Callable[[], Sequence[Any]]) -> Check:
    """Whether a microphone and a loudspeaker can be seen; replay and ask need neither. `query` lists the devices."""
    try:
        devices = list(query())
    except ImportError as e:
        return Check("audio devices", "warn", f"sounddevice 无法导入：{e}", "请运行 pip install -e .")
    except OSError:
        mend = "请运行 sudo apt-get install -y libportaudio2；仅 talk 需要，replay 和 ask 不受影响"
        return Check("audio devices", "warn", "系统缺少 PortAudio", mend)
    inputs = sum(device["max_input_channels"] > 0 for device in devices)
    outputs = sum(device["max_output_channels"] > 0 for device in devices)
    seen = f"输入 {inputs} 个，输出 {outputs} 个"
    if inputs and outputs:
        return Check("audio devices", "ok", seen)
    return Check("audio devices", "warn", seen, "请接上麦克风和扬声器；仅 talk 需要，replay 和 ask 不受影响")


def sound_devices() -> Sequence[Any]:
    """What PortAudio sees. ImportError without sounddevice, OSError without PortAudio or its host."""
    import sounddevice

    try:
        devices: Sequence[Any] = sounddevice.query_devices()
    except sounddevice.PortAudioError as e:
        raise OSError(f"PortAudio: {e}") from e
    return devices


def check_space(folder: Path, needed: int) -> Check:
    """Whether the disk under `folder` (which need not exist yet) has `needed` bytes free."""
    place = _existing(folder)
    try:
        free = shutil.disk_usage(place).free
    except OSError as e:
        return Check(f"disk {folder}", "fail", f"无法读取剩余空间（{e.strerror}）", "请检查该目录所在的磁盘")
    seen = f"{place} 剩余 {free / 1e9:.1f} GB"
    if free < needed:
        return Check(
            f"disk {folder}", "fail", f"{seen}，需要 {needed / 1e9:.1f} GB", "请清理磁盘或改用其他目录"
        )
    return Check(f"disk {folder}", "ok", seen)


def check_writable(name: str, folder: Path) -> Check:
    """Whether files can be made in `folder`, or the folder itself in its nearest existing parent."""
    place = _existing(folder)
    if place.is_dir() and os.access(place, os.W_OK | os.X_OK):
        return Check(name, "ok", f"{folder} 可写")
    return Check(
        name, "fail", f"{folder} 不可写", f"请修改 {place} 的权限，或在 config.yaml 中更换 paths 的目录"
    )


def _existing(folder: Path) -> Path:
    place = folder.absolute()
    while not place.exists() and place != place.parent:
        place = place.parent
    return place

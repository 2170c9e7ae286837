"""The catalogue agrees with itself and with the converter, and a changed description has another fingerprint."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path, PurePosixPath

import pytest

from retrieval.e5_onnx import REVISION
from voice_agent.weights.assemble import sha256_of
from voice_agent.weights.catalogue import (
    CATALOGUE,
    E5_SMALL,
    KOKORO,
    TRAINED,
    TRAINED_SHA,
    VOICE_BYTES,
    Model,
    fingerprint,
)

MODELS = pytest.mark.parametrize("model", CATALOGUE, ids=lambda model: model.name)


@MODELS
def test_files_are_plain_and_their_sizes_add_up(model: Model) -> None:
    """Names stay inside the model's folder and are unique; a joined file is as long as its parts; hashes are sha256."""
    files = [*model.files, *model.spare]
    names = [PurePosixPath(file.name) for file in files]
    assert len(set(names)) == len(names)
    assert not [name for name in names if name.is_absolute() or ".." in name.parts]
    for file in files:
        for digest in filter(None, (file.sha256, *(part.sha256 for part in file.parts))):
            assert len(bytes.fromhex(digest)) == 32
        if file.recipe == "join":
            assert file.sha256 is not None
            assert file.size == sum(part.size for part in file.parts)


@MODELS
def test_only_a_conversion_has_no_hash(model: Model) -> None:
    """Whatever is not written by a library of many versions is known to the byte."""
    assert {file.recipe for file in model.files if file.sha256 is None} <= {"e5_onnx", "e5_answers"}


def test_the_conversion_asked_for_is_the_one_there_is() -> None:
    """A raised revision of the converter must raise the catalogue's, or old files would pass as new."""
    (converted,) = [file for file in E5_SMALL.files if file.recipe == "e5_onnx"]
    assert converted.argument == REVISION


def test_the_trained_layers_are_those_in_the_project() -> None:
    """Layers trained anew must raise the catalogue's hash, or old models would pass as new."""
    (made,) = [file for file in E5_SMALL.files if file.recipe == "e5_answers"]
    assert made.argument == TRAINED_SHA == sha256_of(Path(__file__).parents[2] / TRAINED)


def test_the_voices_are_the_eight_chinese_ones_and_the_spare_is_one() -> None:
    """With the spare in place nothing is left that needs npm."""
    voices = [file for file in KOKORO.files if file.name.startswith("voices/z")]
    assert (len(voices), {file.size for file in voices}) == (8, {VOICE_BYTES})
    registries = {part.package.registry for file in KOKORO.spare_files for part in file.parts}
    assert registries == {"pypi"}
    assert [file.name for file in KOKORO.spare_files] == ["kokoro-v1.0.int8.onnx", "voices/jm_kumo.bin"]
    assert E5_SMALL.spare_files == ()


def test_any_change_is_another_fingerprint() -> None:
    """A part, a hash, a recipe's argument or a name: each makes what is on disk stale."""
    file, *others = E5_SMALL.files
    before = fingerprint((file, *others))
    changed = [
        replace(file, argument="99"),
        replace(file, name="x.onnx"),
        replace(file, parts=(replace(file.parts[0], sha256="0" * 64),)),
    ]
    assert before not in {fingerprint((one, *others)) for one in changed}
    assert before == fingerprint(E5_SMALL.files)

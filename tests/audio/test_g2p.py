"""Phonemes of Chinese with Latin in it, by the real dictionaries."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from audio.errors import ModelError
from audio.g2p import LETTERS, ChineseG2P, accented, refuse_unreadable


@pytest.fixture(scope="module")
def g2p(tmp_path_factory: pytest.TempPathFactory) -> ChineseG2P:
    """English words come back marked, so that a test sees who read them."""
    return ChineseG2P(lambda word: f"<{word}>", jieba_dir=tmp_path_factory.mktemp("jieba"))


@pytest.mark.parametrize(
    ("text", "phonemes"),
    [
        ("您好", "ni↗nxau↓"),
        ("POS机", f"{LETTERS['P']} {LETTERS['O']} {LETTERS['S']} ʨi→"),
        ("Galaxy", "<galaxy>"),
        ("RTX-4090", f"{LETTERS['R']} {LETTERS['T']} {LETTERS['X']} sɨ↘li↗ŋ ʨjou↓li↗ŋ"),
        ("……！", ""),
        ("", ""),
    ],
)
def test_latin_is_never_dropped(g2p: ChineseG2P, text: str, phonemes: str) -> None:
    """Letters have names, words are read as words, digits are Chinese; punctuation alone is nothing."""
    assert g2p.phonemes(text) == phonemes


def test_every_letter_and_digit_sounds_different(g2p: ChineseG2P) -> None:
    """Two codes that differ in one letter or digit differ in sound."""
    signs = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
    assert len({g2p.phonemes(f"X{sign}7") for sign in signs}) == len(signs)


def test_kokoro_knows_every_phoneme(g2p: ChineseG2P) -> None:
    """What is not in the model's vocabulary would be dropped without a word."""
    from kokoro_onnx.config import DEFAULT_VOCAB

    read = g2p.phonemes(
        "，".join([*LETTERS, "您好，请问二〇二六年的退款规则是什么？女儿说日子、鱼、月、云、绿、嗯、诶"])
    )
    assert set(read) <= set(DEFAULT_VOCAB)


@pytest.mark.parametrize("text", ["カード", "Ωмега", "é"])
def test_other_scripts_are_refused(text: str) -> None:
    """A sentence of which a part would not sound is a fault, not a shorter sentence."""
    with pytest.raises(ModelError, match="cannot read"):
        refuse_unreadable(text)


@pytest.mark.parametrize(
    ("english", "puffed"),
    [("pˈoʊtə", "pʰˈoutʰə"), ("spˈɪn", "spˈin"), ("klˈaʊd", "kʰlˈaud"), ("bˈɪl", "bˈil")],
)
def test_english_gets_a_chinese_accent(english: str, puffed: str) -> None:
    """p, t, k before a vowel or glide get their puff, but not after s; b, d, g never; lax vowels become tense."""
    assert accented(english) == puffed


def test_nothing_is_written_beside_the_given_folder(tmp_path: Path) -> None:
    """The segmenter's table goes where it was told, and no training framework is imported."""
    code = (
        "import sys, pathlib; from audio.g2p import ChineseG2P; "
        "ChineseG2P(str, jieba_dir=pathlib.Path(sys.argv[1])).phonemes('您好'); "
        "sys.exit(bool({'torch', 'transformers', 'spacy'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=False).returncode == 0
    assert [file.name for file in tmp_path.iterdir()] == ["jieba.cache"]

"""Text to phonemes for Kokoro's Chinese voices: Chinese by misaki, Latin letters and words by ourselves.

misaki drops whatever is Latin. Letters and words are injected as English phonemes in a Chinese accent: with an
aspirated p, t, k, else the voices say B, D, G, and with the vowels that Chinese has.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from audio.errors import ModelError
from audio.spelling import is_speakable, speakable

LETTERS = {
    "A": "ˈei", "B": "bˈi", "C": "sˈi", "D": "dˈi", "E": "ˈiː", "F": "ˈɛf", "G": "ʤˈi", "H": "ˈeiʧʰ", "I": "ˈai",
    "J": "ʤˈei", "K": "kʰˈei", "L": "ˈɛl", "M": "ˈɛm", "N": "ˈɛn", "O": "ˈou", "P": "pʰˈi", "Q": "kʰjˈu", "R": "ˈɑɻ",
    "S": "ˈɛs", "T": "tʰˈi", "U": "jˈu", "V": "vˈi", "W": "dˈabəlju", "X": "ˈɛks", "Y": "wˈai", "Z": "zˈi",
}  # fmt: skip
"""A letter's name. Chosen by what Whisper hears of two voices, among Chinese near-homophones (for 爱抚 it writes 爱抚,
not F), plain English phonemes (every stop is misheard), English ones with Chinese tones, and these. With a short i and
an English r, ERR is heard as 一二二."""

_ACCENT = str.maketrans("ɪʊʌɐɾ", "iuaat")
_PIECES = re.compile(r"[A-Za-z]+|[^A-Za-z]+")
_UNASPIRATED = re.compile(r"(?<!s)([ptk])(?=[ˈˌ]?[ɹlwj]?[ˈˌ]?[aeiouɑɐɒæɔəɛɜɪʊʌɚ])")


class ChineseG2P:
    """Phonemes of Chinese text with Latin codes in it.

    `read_word` gives the English phonemes of one Latin word (Kokoro's own tokenizer does). `jieba_dir` is where the
    word segmenter may keep its table; without it a shared temporary folder is used. The dictionaries load here, about
    a second, and hold the interpreter lock. Raises ModelError when they cannot be loaded.
    """

    def __init__(self, read_word: Callable[[str], str], *, jieba_dir: Path | None = None) -> None:
        self._read_word = read_word
        self._chinese = _load_chinese(jieba_dir)

    def phonemes(self, text: str) -> str:
        """Kokoro phonemes; empty when there is nothing to read. Raises ModelError for a letter of another script."""
        read = speakable(text)
        if not is_speakable(read):
            return ""
        refuse_unreadable(read)
        return " ".join(filter(None, map(self._piece, _PIECES.findall(read))))

    def _piece(self, piece: str) -> str:
        if not piece[0].isascii() or not piece[0].isalpha():
            return self._chinese(piece).strip()
        if len(piece) == 1:
            return LETTERS[piece.upper()]
        return accented(self._read_word(piece))


def accented(english: str) -> str:
    """English phonemes as a Chinese voice can say them: p, t, k before a vowel get their puff of air, and the lax
    vowels it never learned become the nearest it knows. (update_billing_address: 额备, 鼻林 before, heard whole after.)
    """
    return _UNASPIRATED.sub(r"\1ʰ", english.translate(_ACCENT))


def refuse_unreadable(text: str) -> None:
    """Raises ModelError if a letter is neither common Chinese nor Latin: it would be dropped, the sentence changed."""
    for character in text:
        if character.isalnum() and not character.isascii() and not "\u4e00" <= character <= "\u9fff":
            raise ModelError(f"the Chinese voice cannot read {character!r} in {text!r}: write it in Chinese")


def _load_chinese(jieba_dir: Path | None) -> Callable[[str], str]:
    try:
        import jieba
        from misaki.zh import ZHG2P
    except ImportError as fault:
        raise ModelError(f"misaki[zh] does not load ({fault}): install the package again") from fault
    jieba.setLogLevel("ERROR")  # it announces its loading on stderr
    if jieba_dir is not None:
        jieba.dt.tmp_dir = str(jieba_dir)
    g2p = ZHG2P()
    g2p("好")  # loads jieba's dictionary now, not in the first call

    def read(chinese: str) -> str:
        try:
            phonemes, _ = g2p(chinese)
        except ValueError as fault:
            raise ModelError(f"misaki cannot read {chinese!r} ({fault}): write it otherwise") from fault
        return str(phonemes)

    return read

"""The one tokenizer of word search, used on passages and on questions alike.

Codes are taken out first (whole key, the codes inside, their parts), then figures with their unit (3天) and alone (3),
then Latin words; what is left is cut by jieba without its guessing model, which would glue 天 to what follows it.
"""

from __future__ import annotations

import logging
import math
import re
import threading
import warnings
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from retrieval.codes import find_codes
from retrieval.errors import CorpusError
from retrieval.facts import quantities
from retrieval.normalize import canonical

STOP_WORDS: Final = frozenset("的了吗呢吧啊呀嘛着地得之个是在和与及就都也还我你您请") | {
    "一下",
    "一个",
    "我们",
    "你们",
}
"""Words that carry nothing. No negation is among them: 不 无 没 未 must never be lost."""

_HAN: Final = "[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff〇]+"
_WORD: Final = re.compile(rf"[a-z0-9]+|{_HAN}")
_MAX_WORD: Final = 32


class Lexicon:
    """A tokenizer with its own copy of jieba's dictionary and the user's words. Thread-safe; loads on first use."""

    def __init__(self, words: Iterable[str] = ()) -> None:
        known = sorted({canonical(word).lower() for word in words} - {""})
        self._han = [word for word in known if re.fullmatch(_HAN, word)]
        self._names = _name_pattern([word for word in known if word not in self._han])
        self._lock = threading.Lock()
        self._cutter: Any = None
        self._remember = lru_cache(maxsize=8192)(lambda text: tuple(self._cut(text)))

    def warm(self) -> None:
        """Loads the dictionary now, about a second."""
        with self._lock:
            if self._cutter is None:
                self._cutter = _load(self._han)

    def terms(self, text: str) -> tuple[str, ...]:
        """The search terms of a text in reading order, repeats kept, all lower case."""
        if self._cutter is None:
            self.warm()
        return self._remember(text)

    def rarity(self, word: str) -> float:
        """How seldom the word stands in general Chinese text: -ln of its share in jieba's counts."""
        self.warm()
        return math.log(self._cutter.total / max(1, self._cutter.FREQ.get(word, 0)))

    def _cut(self, text: str) -> Iterator[str]:
        text = canonical(text).lower()
        codes = find_codes(text)
        found = [(c.start, c.end, tuple(dict.fromkeys((c.key, *c.inner, *c.parts)))) for c in codes]
        found += [
            (q.start, q.end, (q.key, q.value) if q.unit else (q.value,)) for q in quantities(text, codes)
        ]
        if self._names:
            found += [
                (*m.span(), (re.sub("[ _-]", "", m[0]),))
                for m in self._names.finditer(text)
                if not any(c.start < m.end() and m.start() < c.end for c in codes)
            ]
        done = 0
        for start, end, tokens in sorted(found):
            yield from self._words(text[done:start])
            yield from tokens
            done = max(done, end)
        yield from self._words(text[done:])

    def _words(self, text: str) -> Iterator[str]:
        for match in _WORD.finditer(text):
            if match[0].isascii():
                yield match[0]
            else:
                yield from (word for word in self._cutter.cut(match[0], HMM=False) if word not in STOP_WORDS)


def _name_pattern(names: list[str]) -> re.Pattern[str] | None:
    """Names with letters, blanks or signs: whole words only, for jieba would cut longer words with them."""
    longest_first = sorted(names, key=len, reverse=True)
    return (
        re.compile(rf"(?<![a-z0-9])(?:{'|'.join(map(re.escape, longest_first))})(?![a-z0-9])")
        if names
        else None
    )


def _load(words: Iterable[str]) -> Any:
    """A loaded jieba cutter. Its own start-up would write a cache to the shared temporary folder and is no faster."""
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore"
        )  # old escapes in its source and an optional import that setuptools deprecates
        import jieba
    jieba.setLogLevel(logging.ERROR)
    cutter = jieba.Tokenizer()
    cutter.FREQ, cutter.total = cutter.gen_pfdict(cutter.get_dict_file())
    cutter.initialized = True
    for word in words:
        cutter.add_word(word)
    return cutter


_DEFAULT: Final = Lexicon()


def terms(text: str) -> tuple[str, ...]:
    """The search terms of a text by the plain dictionary; see Lexicon for user words."""
    return _DEFAULT.terms(text)


def rarity(word: str) -> float:
    """As Lexicon.rarity, by the plain dictionary: about 7 for 时间, 12 for 退款, 18 for what it does not hold."""
    return _DEFAULT.rarity(word)


def lexicon(words: Iterable[str] = ()) -> Lexicon:
    """The tokenizer that knows these words too; the plain one, shared, when there are none."""
    listed = tuple(words)
    return Lexicon(listed) if listed else _DEFAULT


def load_user_words(path: Path) -> tuple[str, ...]:
    """Reads a user dictionary: one word or name a line, # begins a comment. Raises CorpusError naming the lines."""
    try:
        lines = path.read_text(encoding="utf-8-sig").split("\n")
    except (OSError, UnicodeDecodeError) as e:
        raise CorpusError(f"{path}: cannot be read as UTF-8 text ({e}); name a readable word list") from e
    words: list[str] = []
    wrong: list[str] = []
    for number, line in enumerate(lines, 1):
        word = line.partition("#")[0].strip()
        fault = _fault(word, words) if word else ""
        if fault:
            wrong.append(f"{path}:{number} {fault}")
        elif word:
            words.append(word)
    if wrong:
        raise CorpusError(f"{'; '.join(wrong[:10])}; write one word a line")
    return tuple(words)


def _fault(word: str, earlier: list[str]) -> str:
    if len(word) > _MAX_WORD:
        return f"is longer than {_MAX_WORD} characters"
    if not any(c.isalnum() for c in word) or len(word) == 1:
        return f"{word!r} is no word"
    if not word.replace(" ", "").isprintable():
        return "holds control characters"
    if re.fullmatch(r".*[\u4e00-\u9fff] \d+(?: [a-z]+)?", word):
        return f"{word!r} has a frequency column, which is not used"
    return f"repeats {word!r}" if word in earlier else ""

"""Whether a decoding is speech at all: pure tests, cheapest first, each with its own reason.

Whisper writes text for silence, noise and foreign languages, often surely: its own scores catch only a part of that.
So there are layers. Before decoding: heard long enough and loud enough? After it, whatever the scores say: any
language at all? a loop? the prompt or the hot words coming back? Chinese? denser than anyone speaks? the credits of
some video? And last the model's own doubt.

A reason also says whether a person may have spoken, who is then asked to repeat: noise must not be asked anything.
"""

from __future__ import annotations

import math
import re
import zlib
from collections.abc import Sequence
from dataclasses import dataclass

from audio.types import DropReason

MIN_VOICED_S = 0.16
"""Shorter than this is a click: the shortest words callers use (对, 嗯, 是) are voiced for about 0.2 s."""

MIN_LEVEL_DBFS = -55.0
"""Level of an utterance's loud frames. The quietest human recording measured has -36; a µ-law line idles near -70."""

NO_SPEECH = 0.6
"""Whisper's own limit, which counts only together with doubt about the words (UNSURE_LOGPROB)."""

UNSURE_LOGPROB = -1.0
MIN_LOGPROB = -1.2
"""Mean log probability a token; human Mandarin measured lies above -0.5, tones and noise below -1.8."""

MIN_CHINESE = 0.35
"""Probability that the sound is Chinese. Mandarin sentences measured have at least 0.88, clean or at 5 dB over a
telephone line; an English clip 0.001, noises, hums and tones at most 0.04. Half English in noise may fall to 0.3."""

OTHER_LANGUAGE = 0.9
"""Probability from which another language was spoken. An English clip has 1.0, stretches of it 0.85 to 0.99; of some
60 noises taken for voice a few have 0.82 to 0.88, the others 0.69 at most, mostly English, Nynorsk, Japanese."""

NOBODY = 0.4
"""The model's probability that nobody spoke, where no language stands out: 35 of those 41 noises have more, words
of one syllable that it could not tell the language of (对 0.24, 喂 0.11) have less."""

NO_TONGUE = 0.06
NO_WORDS = 0.35
LONG_NOISE_S = 0.5
SEVERAL = 3
DRAWN_OUT_S = 0.6
"""Voice of this length in which neither Chinese (probability) nor words (confidence) can be found is a breath or music:
of each 88 noises up to three had at most 0.05 and 0.32, and a low probability that nobody spoke. A word of one or two
characters (对, 可以) can be as doubtful and still be one; of 68 short words none so doubtful took half a second."""

HOPELESS = 0.2
"""Confidence in half a second of voice below which the words are nobody's, whatever the language: a ringing tone was
网络 at 0.17 with 0.18 for Chinese."""

LANGUAGE_TELLS_S = 1.5
"""Below it the language is believed only of unsure words: 那美国的呢 at 1.1 s of voice had 0.03 to 0.3."""

MAX_COMPRESSION = 2.4
"""Whisper's own limit: UTF-8 bytes over deflated bytes. Catches long loops only; short ones have LOOPS."""

MAX_CHARACTERS_PER_S = 9.0
"""Fast Mandarin is 7 to 8 syllables a voiced second."""

SPARE_CHARACTERS = 3
"""Allowed on top of that, for a voiced time that was cut a little short at both ends."""

HEARD_CONFIDENCE = 0.6
"""Below this a decoding whose sound is not Chinese is not believed, however short it is."""

POLITE_CONFIDENCE = 0.45
"""A polite phrase below this is taken for boilerplate. Thanks and goodbyes of four voices have at least 0.58."""

BRISK = 7.5
"""Syllables a voiced second: faster than callers speak. The same said twice at that rate was said once."""

SURE = 0.5
SURE_IN_SILENCE = 0.7
"""Nothing but a hot word is believed from here on, or from there if the model doubts that anyone spoke."""

LOOPS = ((1, 1, 6), (2, 3, 5), (4, 7, 4), (8, 40, 3))
"""(shortest unit, longest unit, times in a row) that nobody says: 对对对对对 and 好的好的好的好的 are still speech."""

_MAX_DIGITS_IN_A_ROW = 11
"""One digit may stand that often in a row in a spoken number: a telephone number is the longest."""

CREDITS = (
    "不吝点赞", "点赞订阅", "订阅转发", "打赏支持", "明镜与点点", "明镜需要您的支持", "字幕由", "字幕志愿者",
    "字幕制作", "amaraorg", "独播剧场", "订阅我的频道", "作词作曲", "词曲李宗盛", "作曲李宗盛", "thanksforwatching",
)  # fmt: skip
"""Lines of video credits. No caller of a help line says them, so they need no further suspicion."""

POLITE = frozenset(
    {
        "谢谢", "谢谢大家", "谢谢您", "谢谢观看", "谢谢收看", "谢谢收听", "感谢观看", "感谢收看", "感谢收听",
        "感谢您的观看", "多谢观看", "谢谢你的观看", "拜拜", "再见", "下次再见", "我们下期再见", "下期再见", "大家好",
        "嗯", "啊", "哦", "呃", "字幕", "完", "未完待续", "请继续收看", "thankyou", "bye",
    }
)  # fmt: skip
"""Whole utterances Whisper writes for nothing, but which callers also say: dropped only with a further reason."""


@dataclass(frozen=True, slots=True)
class Decoding:
    """What the recogniser made of one stretch of sound.

    `text` is Simplified; `logprob` the mean log probability of a token; `no_speech`, `chinese` and `other` are
    probabilities (Mandarin and Cantonese together; the likeliest of all other languages); `voiced_s` is how long a
    voice was heard in that stretch.
    """

    text: str
    logprob: float
    no_speech: float
    chinese: float
    other: float
    voiced_s: float

    @property
    def confidence(self) -> float:
        """Geometric mean of the token probabilities, in [0, 1]."""
        return min(1.0, math.exp(self.logprob))


def before_decoding(voiced_s: float, level_dbfs: float) -> DropReason | None:
    """Whether sound is worth decoding. `level_dbfs` is the level of its loud frames."""
    if voiced_s < MIN_VOICED_S:
        return "too_short"
    if level_dbfs < MIN_LEVEL_DBFS:
        return "too_quiet"
    return None


def after_decoding(decoding: Decoding, prompt: str, hot_words: Sequence[str]) -> DropReason | None:
    """Whether a decoding is what the caller said. `hot_words` in the order in which the model was shown them.

    No text at all is `no_speech`.
    """
    letters = _letters(decoding.text)
    if not letters or is_nobody(decoding, (prompt, *hot_words)):
        return "no_speech"
    if is_loop(decoding.text):
        return "loop"
    if is_prompt_echo(decoding.text, prompt):
        return "prompt_echo"
    if is_foreign(decoding, hot_words):
        return "not_chinese"
    if is_hot_word_echo(decoding, hot_words):
        return "prompt_echo"
    if is_boilerplate(decoding):
        return "boilerplate"
    if syllables(decoding.text) > decoding.voiced_s * MAX_CHARACTERS_PER_S + SPARE_CHARACTERS:
        return "too_dense"
    return _own_doubt(decoding)


def _own_doubt(decoding: Decoding) -> DropReason | None:
    if decoding.no_speech > NO_SPEECH and decoding.logprob < UNSURE_LOGPROB:
        return "no_speech"
    if not decoding.logprob >= MIN_LOGPROB:  # NaN is doubt too
        return "low_confidence"
    return None


def is_nobody(decoding: Decoding, shown: Sequence[str]) -> bool:
    """A noise: no language stands out, the words are unsure, and the model doubts that anyone spoke, recites, or finds
    neither a language nor words in a stretch long enough for both.

    Reciting is text put together of pieces of what the model was shown, its prompt and its hot words.
    """
    if decoding.chinese >= MIN_CHINESE or decoding.other >= OTHER_LANGUAGE:
        return False
    if decoding.confidence >= HEARD_CONFIDENCE:
        return False
    if decoding.no_speech > NOBODY or _is_blank(decoding):
        return True
    return _is_pieced(_letters(decoding.text), [_letters(s) for s in shown])


def _is_blank(decoding: Decoding) -> bool:
    letters = _letters(decoding.text)
    if decoding.voiced_s >= LONG_NOISE_S and decoding.confidence < HOPELESS:
        return True
    wordless = decoding.confidence < NO_WORDS or (len(letters) >= SEVERAL and len(set(letters)) == 1)
    least_s = LONG_NOISE_S if len(letters) >= SEVERAL else DRAWN_OUT_S
    return decoding.chinese < NO_TONGUE and wordless and decoding.voiced_s >= least_s


def undoubled(text: str, voiced_s: float) -> str:
    """A short utterance often comes out twice; too fast for twice, it was said once.

    >>> undoubled("可以,可以。", 0.4), undoubled("好的好的", 0.9)
    ('可以', '好的好的')
    """
    letters = _letters(text)
    half = len(letters) // 2
    twice = half > 1 and letters == letters[:half] * 2
    if not twice or syllables(letters) <= BRISK * voiced_s:
        return text
    ends = [at for at in range(1, len(text) + 1) if _letters(text[:at]) == letters[:half]]
    return text[: ends[0]]


def is_foreign(decoding: Decoding, hot_words: Sequence[str]) -> bool:
    """Another language was spoken: the sound says so, or the text is a sentence of Latin words.

    Names and codes of the domain, however many, are no foreign language.
    """
    tells = decoding.voiced_s >= LANGUAGE_TELLS_S
    if not decoding.chinese >= MIN_CHINESE and (tells or decoding.confidence < HEARD_CONFIDENCE):
        return True
    text = decoding.text
    for term in hot_words:
        if term.isascii():
            spaced = r"[\W_]*".join(re.findall(r"[A-Za-z0-9]+", term))
            text = re.sub(spaced, " ", text, flags=re.IGNORECASE)
    words = re.findall(r"[A-Za-z]*[a-z]{2,}", text)
    return len(words) >= 5 and len(words) > len(re.findall(r"[\u4e00-\u9fff]", text))


def is_loop(text: str) -> bool:
    """Something is repeated as nobody repeats it, however sure the model was.

    >>> is_loop("后,后,后,后,后,后,后"), is_loop("对对对对对"), is_loop("号码是13888888888")
    (True, False, False)
    """
    letters = _letters(text)
    for shortest, longest, times in LOOPS:
        for match in re.finditer(rf"(.{{{shortest},{longest}}}?)\1{{{times - 1},}}", letters):
            if not (match[1].isdecimal() and len(match[0]) <= _MAX_DIGITS_IN_A_ROW):
                return True
    coded = letters.encode()
    return len(coded) / max(1, len(zlib.compress(coded))) > MAX_COMPRESSION


def is_prompt_echo(text: str, prompt: str) -> bool:
    """The text is made of the prompt's character pairs. The prompt must be a sentence that no caller says.

    >>> is_prompt_echo("电话客服电话", "一段客服电话"), is_prompt_echo("客服电话是多少", "一段客服电话")
    (True, False)
    """
    letters, source = _letters(text), _letters(prompt)
    pairs = [letters[i : i + 2] for i in range(len(letters) - 1)]
    # Four pairs at least: 客服电话 alone is a question, however short.
    return len(pairs) >= 4 and sum(pair in source for pair in pairs) >= 0.8 * len(pairs)


def is_hot_word_echo(decoding: Decoding, hot_words: Sequence[str]) -> bool:
    """The list of hot words comes back instead of speech.

    Three neighbours of the list in a row, whatever the scores: the list has no order that speech would follow. Or
    nothing but hot words, when they are many, or few and the model is unsure.
    """
    letters = _letters(decoding.text)
    terms = [term for term in map(_letters, hot_words) if term]
    triples = zip(terms, terms[1:], terms[2:], strict=False)
    if any("".join(triple) in letters for triple in triples):
        return True
    rest, found = _without(letters, terms)
    if len(rest) > 0.1 * len(letters):
        return False
    unsure = decoding.confidence < (SURE_IN_SILENCE if decoding.no_speech > NO_SPEECH else SURE)
    return len(found) >= 5 or (unsure and bool(found))


def is_boilerplate(decoding: Decoding) -> bool:
    """A phrase of the model's training videos. What a caller may truly say goes only if it was short or unsure."""
    letters = _letters(decoding.text)
    if any(line in letters for line in CREDITS):
        return True
    if letters not in POLITE:
        return False
    # Six syllables a second is brisk; a voice that was heard for less than the phrase takes did not say it.
    hurried = syllables(decoding.text) > decoding.voiced_s * 6
    return hurried or not decoding.confidence >= POLITE_CONFIDENCE


def syllables(text: str) -> int:
    """How many syllables reading the text takes, at least: one a Chinese character, digit or capital; a Latin word
    of lower case one for every three letters."""
    single = len(re.findall(r"[^\W_a-z]", text))
    return single + sum(math.ceil(len(word) / 3) for word in re.findall(r"[a-z]+", text))


def _letters(text: str) -> str:
    return "".join(character for character in text.casefold() if character.isalnum())


def _is_pieced(letters: str, sources: Sequence[str]) -> bool:
    """Every character, each run of one taken once, stands in a pair that a source holds as well; two pairs at least."""
    letters = re.sub(r"(.)\1+", r"\1", letters)
    found = [any(letters[i : i + 2] in source for source in sources) for i in range(len(letters) - 1)]
    covered = [any(found[max(0, i - 1) : i + 1]) for i in range(len(letters))]
    return sum(found) >= 2 and all(covered)


def _without(letters: str, terms: Sequence[str]) -> tuple[str, set[str]]:
    """Letters left when every term is taken out, longest first, and the terms that were there."""
    found = set()
    for term in sorted(set(terms), key=len, reverse=True):
        if term in letters:
            found.add(term)
            letters = letters.replace(term, "")
    return letters, found

"""Laws of readings and of the sound classes, and the confusions they were drawn from."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pypinyin import lazy_pinyin

from retrieval.corpus import load_corpus
from retrieval.normalize import canonical
from retrieval.pinyin import HAN_RUN, faint_class, other_readings, readings, sound_class
from retrieval.surfaces import document_text

KB = Path(__file__).resolve().parents[2] / "data" / "kb"

HAN_TEXT = st.text(st.characters(min_codepoint=0x4E00, max_codepoint=0x9FA5), max_size=12)


def classes(text: str) -> list[str]:
    return [sound_class(syllable) for syllable in readings(text)]


@pytest.mark.parametrize(
    ("said", "heard"),
    [
        ("退款", "退宽"),
        ("发货", "发火"),
        ("积分", "机分"),
        ("优惠券", "油会劝"),
        ("收货地址", "收获地址"),
        ("无理由", "无礼由"),
        ("副卡", "复卡"),
        ("定制", "订置"),
    ],
)
def test_what_whisper_writes_for_a_term_reads_the_same_without_tones(said: str, heard: str) -> None:
    """Measured confusions that need no class: their toneless syllables are equal."""
    assert readings(said) == readings(heard)


@pytest.mark.parametrize(
    ("said", "heard"),
    [
        ("到账", "到战"),
        ("金卡", "警卡"),
        ("外地仓", "外地参"),
        ("赠品", "正品"),
        ("自提", "志提"),
        ("查询", "擦询"),
        ("商品", "伤品"),
        ("流量", "牛娘"),
        ("话费", "发费"),
        ("湖北", "福北"),
    ],
)
def test_sounds_that_callers_mix_up_share_a_class(said: str, heard: str) -> None:
    """zh/z ch/c sh/s, n/l, -ng/-n and f/hu differ as syllables and are equal as classes."""
    assert classes(said) == classes(heard)


@pytest.mark.parametrize(
    ("said", "heard"), [("银行", "遗憾"), ("兑换", "对话"), ("储蓄", "处讯"), ("寄到", "进到")]
)
def test_a_swallowed_nasal_is_equal_only_in_the_faint_class(said: str, heard: str) -> None:
    """What a telephone takes off the end of a syllable parts the sound classes but not the faint ones."""
    assert classes(said) != classes(heard)
    assert [faint_class(s) for s in readings(said)] == [faint_class(s) for s in readings(heard)]


@pytest.mark.parametrize(
    ("one", "other"), [("退货", "换货"), ("红灯", "蓝灯"), ("收费", "免费"), ("主卡", "副卡")]
)
def test_words_that_do_not_sound_alike_keep_apart(one: str, other: str) -> None:
    """The coarsest class still tells the words of the domain from one another."""
    assert [faint_class(s) for s in readings(one)] != [faint_class(s) for s in readings(other)]


def test_a_character_is_read_by_the_word_around_it() -> None:
    """行 in 银行 and in 旅行, 长 in 长度 and in 增长, 还 in 还款 and in 退还."""
    assert readings("银行卡旅行") == ["yin", "hang", "ka", "lv", "xing"]
    assert readings("长度增长") == ["chang", "du", "zeng", "zhang"]
    assert readings("退还和还没") == ["tui", "huan", "he", "hai", "mei"]
    assert "xing" in other_readings("行")
    assert other_readings("款") == ()


def test_the_readings_are_the_librarys_own() -> None:
    """On the shipped knowledge base at most one character in a thousand is read otherwise than by pypinyin."""
    texts = [canonical(document_text(passage)) for passage in load_corpus(KB).passages]
    runs = [match[0].replace(" ", "") for text in texts for match in HAN_RUN.finditer(text)]
    pairs = [pair for run in runs for pair in zip(readings(run), lazy_pinyin(run), strict=True)]
    assert len(pairs) > 10_000
    assert sum(ours != theirs for ours, theirs in pairs) <= len(pairs) / 1000


@given(HAN_TEXT)
def test_every_character_has_one_place_and_classes_do_not_move(text: str) -> None:
    """As many syllables as characters, all lower-case ASCII; a class is its own class."""
    syllables = readings(text)
    assert len(syllables) == len(text)
    for syllable in syllables:
        assert syllable == "" or (syllable.isascii() and syllable.islower() and syllable.isalpha())
        assert sound_class(sound_class(syllable)) == sound_class(syllable)
        assert faint_class(faint_class(syllable)) == faint_class(syllable)


def test_what_is_not_chinese_has_no_sound() -> None:
    """Letters, figures and marks read as nothing."""
    assert readings("A1，") == ["", "", ""]

"""What is heard is what was checked: the spoken form read back holds the same figures, units and codes."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import cn2an
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from retrieval.codes import code_keys
from retrieval.corpus import load_corpus
from retrieval.facts import quantities
from retrieval.marks import strip_marks
from retrieval.normalize import canonical
from retrieval.sentences import split_sentences
from voice_agent.reply.markup import without_markup
from voice_agent.reply.spoken import spoken_form

KB = Path(__file__).resolve().parents[2] / "data" / "kb"
NAMES = "零一二三四五六七八九"
ONE = "零一二三四五六七八九幺两"
WHOLE = rf"[{ONE}十][{ONE}十百千万亿]*"
RUN = re.compile(rf"{WHOLE}(?:点[{ONE}]+)*")
UNITS = {
    "兆每秒": "mbps", "兆赫兹": "mhz", "G 赫兹": "ghz", "千克": "kg", "公里": "km", "厘米": "cm", "毫米": "mm",
    "毫升": "ml", "毫安时": "mah", "平方米": "㎡", "摄氏度": "℃",
}  # fmt: skip


def figure(words: str) -> str:
    """A run of number words as figures, read by another library than ours; digits one by one stay digits."""
    whole, *parts = words.split("点")
    if not set(whole) & set("十百千万亿"):
        read = "".join(str("零一二三四五六七八九".index({"幺": "一", "两": "二"}.get(c, c))) for c in whole)
    else:
        try:
            read = str(cn2an.cn2an(whole, "smart"))
        except ValueError:
            return words
    return ".".join([read, *("".join(str(NAMES.index({"幺": "一"}.get(c, c))) for c in p) for p in parts)])


def heard(said: str) -> str:
    """What a careful listener writes down: figures for number words, codes and units in one piece."""
    text = re.sub(rf"(?<=[A-Za-z0-9_]) 下划线 ?|下划线 ?(?=[A-Za-z{ONE}])", "_", said)
    for words, unit in UNITS.items():
        text = re.sub(rf"(?<=[{ONE}十百千万亿]) ?{words}", unit, text)
    text = re.sub(rf"百分之({RUN.pattern})", lambda m: figure(m[1]) + "%", text)
    text = re.sub(rf"({WHOLE})点({WHOLE})分", lambda m: f"{figure(m[1])}点{figure(m[2])}分", text)
    text = RUN.sub(lambda m: figure(m[0]), text)
    text = re.sub(r"(?<=[A-Za-z0-9_]) (?=[A-Za-z0-9_])", "", text)
    text = re.sub(r" ?([A-Za-z0-9_]+) ?", r"\1", text)
    return text.replace("乘", "×")


def written_codes(text: str) -> frozenset[str]:
    """A hyphen inside a code is only a breath."""
    return code_keys(canonical(re.sub(r"(?<=[A-Za-z0-9])-(?=[A-Za-z0-9])", "", heard(text))))


def values(text: str) -> Counter[str]:
    return Counter(q.key for q in quantities(canonical(heard(text))))


def same_values(checked: str) -> None:
    written, said = without_markup(strip_marks(checked)), spoken_form(checked)
    assert values(said) == values(written), (checked, said, heard(said))
    assert written_codes(said) == written_codes(written), (checked, said, heard(said))
    assert not re.search(r"[0-9０-９\[\]【】*`#|~$%]", said), said


SENTENCES = sorted({s for p in load_corpus(KB).passages for s in split_sentences(p.text)})


@pytest.mark.parametrize("chunk", range(0, len(SENTENCES), 100))
def test_every_sentence_of_the_knowledge_base(chunk: int) -> None:
    """No figure, unit or code of any sentence that may be spoken is altered, added or lost."""
    for sentence in SENTENCES[chunk : chunk + 100]:
        same_values(f"{sentence}[S1]")


WIDE = {ord("0") + i: chr(ord("０") + i) for i in range(10)}
small = st.integers(0, 99)
amounts = st.integers(1, 999_999)
two = st.tuples(small, small).map(sorted)
digits = st.text("0123456789", min_size=4, max_size=4)
dash = st.sampled_from(["-", "~", "～", "—", "–", "到", "至"])
counted = st.sampled_from(
    ["天", "个工作日", "小时", "分钟", "个月", "次", "GB", "kg", "km", "元", "%", "位", "积分"]
)

values_written = st.one_of(
    amounts.map(lambda n: f"{n}元"),
    amounts.map(lambda n: f"{n:,}元"),
    amounts.map(lambda n: f"¥{n:,}.{n % 100:02d}"),
    amounts.map(lambda n: f"${n}"),
    st.tuples(small, counted).map(lambda v: f"{v[0]}{v[1]}"),
    st.tuples(two, dash, counted).map(lambda v: f"{v[0][0]}{v[1]}{v[0][1]}{v[2]}"),
    st.tuples(two, dash).map(lambda v: f"{v[0][0]}%{v[1]}{v[0][1]}%"),
    st.tuples(small, small).map(lambda v: f"{v[0]}.{v[1]}%"),
    small.map(lambda n: f"第{n + 1}次"),
    st.tuples(small, st.sampled_from(["月", "次", "分钟", "GB"])).map(lambda v: f"{v[0]}元/{v[1]}"),
    two.map(lambda v: f"-{v[1]}℃至-{v[0]}℃"),
    st.tuples(small, small).map(lambda v: f"{v[0]}．{v[1]}元".translate(WIDE)),
    st.dates().filter(lambda d: d.year >= 1000).map(lambda d: f"{d.year}年{d.month}月{d.day}日"),
    st.dates().filter(lambda d: d.year >= 1000).map(lambda d: d.isoformat()),
    st.tuples(st.integers(0, 23), st.integers(1, 59)).map(lambda t: f"{t[0]}:{t[1]:02d}"),
    digits.map(lambda d: f"1380{d[:3]}{d}"),
    digits.map(lambda d: f"400-{d[:3]}-{d}"),
    digits.map(lambda d: f"订单号2026{d}{d}"),
    digits.map(lambda d: f"尾号{d}"),
    st.sampled_from(["拨打110", "拨打12315", "10086", "95588"]),
)
codes = st.one_of(
    digits.map(lambda d: f"ERR_{d}"),
    st.tuples(small, small, small).map(lambda v: f"V{v[0]}.{v[1]}.{v[2]}"),
    st.integers(100, 9999).map(lambda n: f"X{n}"),
    st.integers(1000, 9999).map(lambda n: f"RTX-{n}"),
)
wrapped = st.sampled_from(
    ["{}", "**{}**", "`{}`", "约{}", "（{}）", "“{}”", "😀{}", "[{}](https://a.cn/1-2)"]
)
marked = st.sampled_from(
    ["。[S1]", "[S1]。", "。【S1】", "（S1）。", "。[S1,S2]", "。[S1][S2]", "。［Ｓ１］"]
)
pieces = st.tuples(
    st.sampled_from(["需要", "共", "在", "最多", "，", "包含", "请看"]),
    wrapped,
    st.one_of(values_written, codes),
)


@given(st.lists(pieces, min_size=1, max_size=4), marked)
@example([("退款", "{}", "3~5天")], "。[S1]")
@example([("处理", "{}", "3*24小时")], "。[S1]")
@example([("有", "{}", "12000积分")], "。[S1]")
def test_values_of_every_kind_in_any_dress(parts: list[tuple[str, str, str]], mark: str) -> None:
    """Amounts, ranges, shares, dates, times, telephone and order numbers, versions and codes, with marks and markup."""
    same_values("，".join(before + dress.format(value) for before, dress, value in parts) + mark)


@given(st.text(max_size=60))
def test_nothing_is_too_strange_to_be_said(text: str) -> None:
    """Any text at all has a spoken form without figures, and no error."""
    assert not re.search(r"[0-9０-９]", spoken_form(text))

"""Laws of the second opinion: it finds planted faults, leaves faithful sentences alone, and is of its own making."""

from __future__ import annotations

import json
import random
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "scripts"))

from llm.amounts import plain, shown, spoken_number, values  # noqa: E402
from llm.recheck import doubts  # noqa: E402

from retrieval.corpus import load_corpus  # noqa: E402
from retrieval.types import Passage  # noqa: E402

PASSAGES = load_corpus(ROOT / "data" / "kb").passages
BY_ID: dict[str, Passage] = {passage.id: passage for passage in PASSAGES}
CASES = [
    json.loads(line)
    for line in (ROOT / "data" / "eval" / "guard_cases.jsonl").read_text("utf-8").splitlines()
]
SENTENCES = [
    (sentence, passage) for passage in PASSAGES for sentence in re.findall("[^。！？\n]+。", passage.text)
]


def kinds(sentence: str, *passages: Passage) -> set[str]:
    return {doubt.kind for doubt in doubts(sentence, [(passage.title, passage.text) for passage in passages])}


def found_of(plant: Callable[[str, random.Random], str | None], kind: str) -> float:
    """The share of sentences of the knowledge base in which a planted fault is found by its kind."""
    rng = random.Random(7)
    planted = [(plant(sentence, rng), passage) for sentence, passage in SENTENCES]
    faults = [(sentence, passage) for sentence, passage in planted if sentence is not None]
    assert len(faults) >= 50, "too few to say anything"
    return sum(kind in kinds(sentence, passage) for sentence, passage in faults) / len(faults)


def other_number(sentence: str, rng: random.Random) -> str | None:
    found = list(re.finditer(r"(?<![A-Za-z0-9_\-.])\d+(?![A-Za-z0-9_\-.])", sentence))
    if not found:
        return None
    one = rng.choice(found)
    return f"{sentence[: one.start()]}{int(one[0]) * 7 + 4391}{sentence[one.end() :]}"


def other_code(sentence: str, rng: random.Random) -> str | None:
    found = list(re.finditer(r"[A-Z][A-Za-z_\-]*\d[A-Za-z0-9_\-]*", sentence))
    if not found:
        return None
    one = rng.choice(found)
    return f"{sentence[: one.start()]}{one[0]}9{sentence[one.end() :]}"


def other_unit(sentence: str, rng: random.Random) -> str | None:
    swaps = {
        "元": "美元",
        "天": "个工作日",
        "个工作日": "天",
        "小时": "天",
        "分钟": "小时",
        "个月": "天",
        "%": "折",
    }
    found = list(re.finditer(rf"(?<=\d)(?:{'|'.join(swaps)})", sentence))
    if not found:
        return None
    one = rng.choice(found)
    return f"{sentence[: one.start()]}{swaps[one[0]]}{sentence[one.end() :]}"


def not_so(sentence: str, rng: random.Random) -> str | None:
    """Without its one denial, or with one it did not have."""
    told = re.sub("不(?=支持|能|可|收取|予|参加|包含|含)", "", sentence, count=1)
    if told != sentence:
        return told
    told = re.sub("(?<![不未])(?=支持|可以)", "不", sentence, count=1)
    return told if told != sentence else None


def test_figures_codes_and_units_that_were_changed_are_found() -> None:
    """A number or a code that no passage holds is always found; a unit nearly always, for it may stand there too."""
    assert found_of(other_number, "value") == 1.0
    assert found_of(other_code, "code") == 1.0
    assert found_of(other_unit, "value") >= 0.98


def test_a_negation_that_was_turned_is_found() -> None:
    """Set or taken away, in nine of ten."""
    assert found_of(not_so, "negation") >= 0.9


def test_what_a_passage_says_is_not_doubted() -> None:
    """Word for word there is nothing to find."""
    assert not [sentence for sentence, passage in SENTENCES if kinds(sentence, passage)]


def test_faithful_words_are_not_doubted() -> None:
    """The hand-written ones; else its alarms would be read no more. Wrong numbers and units among them are found."""
    known = [case for case in CASES if case["passage"] in BY_ID]
    faithful = [case for case in known if case["faithful"]]
    assert len(faithful) >= 200
    assert not [case["sentence"] for case in faithful if kinds(case["sentence"], BY_ID[case["passage"]])]
    wrong = [case for case in known if case["kind"] in ("number", "unit")]
    assert all(kinds(case["sentence"], BY_ID[case["passage"]]) for case in wrong)


@pytest.mark.parametrize(
    ("written", "number"),
    [
        ("一万二千", 12000),
        ("二零四八", 2048),
        ("三点五", 3.5),
        ("十五", 15),
        ("两百零三", 203),
        ("一亿", 1e8),
    ],
)
def test_numerals_are_read(written: str, number: float) -> None:
    """By counting or digit by digit."""
    assert spoken_number(written) == number


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("三到5个工作日", ["3 workday", "5 workday"]),
        ("百分之二", ["2 percent"]),
        ("千分之一", ["0.1 percent"]),
        ("半年", ["6 month"]),
        ("九五折", ["9.5 tenth"]),
        ("一般当天一次性办理", []),
        ("错误ERR_2048", []),
        ("晚上10点", ["22 clock"]),
        ("2个小时", ["120 minute"]),
    ],
)
def test_values_are_read(text: str, read: list[str]) -> None:
    """With their units; words that only look like numbers are none."""
    assert [shown(value) for value in values(plain(text))] == read


def test_a_code_with_a_blank_in_it_is_still_that_code() -> None:
    """ERR 2084 is ERR_2084 of its passage, and ERR 2085 is not."""
    passage = BY_ID["err-2084"]
    assert not kinds("出现 ERR 2084 时，请打开手机的自动设置时间功能。", passage)
    assert kinds("出现 ERR 2085 时，请打开手机的自动设置时间功能。", passage) == {"value"}


def test_a_sentence_without_a_passage_may_hold_nothing() -> None:
    """A greeting is well; a figure in it is not."""
    assert not kinds("您好，请问有什么可以帮您？") and kinds("您好，三天到账。") == {"value"}


def test_it_is_of_its_own_making() -> None:
    """Neither it nor what it is made of imports anything of the agent."""
    for name in ("recheck_spoken", "llm/recheck.py", "llm/amounts.py", "llm/__init__.py"):
        text = (ROOT / "scripts" / name).read_text(encoding="utf-8")
        assert not re.search(r"^\s*(?:from|import) (?:retrieval|voice_agent|audio)", text, re.MULTILINE)


def row(text: str) -> str:
    shown_ = [{"citation_id": "S1", "title": "退款", "text": "退款在3天内到账。"}]
    return json.dumps(
        {"id": "q", "shown": shown_, "spoken": [{"text": text, "cited": ["S1"]}]}, ensure_ascii=False
    )


@pytest.mark.parametrize(
    ("content", "code", "told"),
    [
        (row("三天内到账。"), 0, '"doubts": 0'),
        (row("四天内到账。"), 1, "4 day"),
        ("no json", 2, "x.jsonl:1: not JSON"),
        ("{}", 2, "KeyError"),
    ],
)
def test_the_command_says_what_it_found(tmp_path: Path, content: str, code: int, told: str) -> None:
    """0: all supported, 1: something is not, 2: the file cannot be read."""
    path = tmp_path / "x.jsonl"
    path.write_text(content + "\n", encoding="utf-8")
    done = subprocess.run(
        [sys.executable, str(ROOT / "scripts" / "recheck_spoken"), str(path)], capture_output=True, text=True
    )
    assert done.returncode == code and told in done.stdout + done.stderr

"""Laws of names: what has the form of one must stand in the passage."""

from __future__ import annotations

import pytest

from retrieval.alignment import claim_of
from retrieval.names import unknown
from retrieval.readings import read_passage

PASSAGE = read_passage(
    "华夏科技有限公司",
    "首先，公司收购了草莓传媒有限公司。被告人宋某住苹果市青竹街21号，由苹果市人民医院诊断。按《售后规则》办理，型号为Aurora。",
)


def name_in(sentence: str) -> str:
    return unknown(claim_of(sentence, "", (PASSAGE,), [], None))


@pytest.mark.parametrize(
    "sentence",
    [
        "公司收购了草莓传媒有限公司。",
        "这一举措提升了公司的竞争力。",
        "华夏科技有限公司收购了它。",
        "草莓传媒有限公司被公司收购。",
        "宋某住在青竹街。",
        "他在苹果市人民医院看病。",
        "要按《售后规则》办理。",
        "请在APP里查看WiFi。",
        "线路和节省都不是地名，公司已上市。",
    ],
)
def test_names_of_the_passage_pass(sentence: str) -> None:
    """Also a plain 公司, a name said without what stands before it, and words that end like places."""
    assert name_in(sentence) == ""


@pytest.mark.parametrize(
    "sentence",
    [
        "公司收购了西瓜传媒有限公司。",
        "东方科技有限公司收购了它。",
        "他住在苹果市红叶街。",
        "王某住在青竹街。",
        "他在梨花市人民医院看病。",
        "要按《售前规则》办理。",
        "型号是Borealis。",
        "喜乐集团收购了它。",
    ],
)
def test_other_names_do_not(sentence: str) -> None:
    """One character is enough, and half a name of the passage is not that name."""
    assert name_in(sentence) != ""

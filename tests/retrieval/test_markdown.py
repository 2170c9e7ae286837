"""Laws of the Markdown reader."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retrieval.markdown import parse, plain

MANUAL = """---
version: 2026.1
valid_from: "2026-01-01"
---
# 手册

开头一段，
分成两行。

## 灯号

各灯的含义如下。

| 灯号 | 含义 | 是否报修 |
| --- | --- | --- |
| 红灯 | 故障 | 是 |
| 蓝灯 | 正常 | 否 |

### 步骤 ###
1. 关机
2. 等待
   两分钟
- 说明**重要**

```
# 不是标题
```

> 引用
"""


def test_headings_make_paths() -> None:
    """A section knows every heading above it."""
    assert [s.path for s in parse(MANUAL).sections] == [
        ("手册",),
        ("手册", "灯号"),
        ("手册", "灯号", "步骤"),
    ]


def test_front_matter_is_read_and_taken_off() -> None:
    """Fields at the top describe the document and are no text of it."""
    document = parse(MANUAL)
    assert document.fields == {"version": "2026.1", "valid_from": "2026-01-01"}
    assert document.sections[0].blocks[0].text == "开头一段，分成两行。"
    assert parse("---\n只是一条线\n---\n文字").fields == {}


def test_a_table_row_is_a_sentence_with_its_columns() -> None:
    """Nobody can say a table: each row names what its cells mean."""
    table = parse(MANUAL).sections[1].blocks[1]
    assert table.kind == "table"
    assert table.lines == ("灯号红灯的含义为故障，报修。", "灯号蓝灯的含义为正常，不报修。")


@pytest.mark.parametrize(
    ("head", "cell", "said"),
    [
        ("是否接受到付", "不接受", "不接受到付"),
        ("是否接受到付", "接受", "接受到付"),
        ("售后仓", "东区仓", "售后仓为东区仓"),
    ],
)
def test_a_yes_or_no_column_is_said_as_such(head: str, cell: str, said: str) -> None:
    """是否接受到付 + 不接受 must not be said as 为不接受."""
    table = parse(f"| 品类 | {head} |\n|---|---|\n| 手机 | {cell} |").sections[0].blocks[0]
    assert table.lines == (f"品类手机的{said}。",)


def test_lists_keep_numbers_and_wrapped_lines() -> None:
    """1. becomes 1、 so that no decimal is heard; a wrapped item is one item; code is no heading."""
    steps, code, quote = parse(MANUAL).sections[2].blocks
    assert steps.lines == ("1、关机", "2、等待两分钟", "说明重要")
    assert code.lines == ("# 不是标题",)
    assert quote.lines == ("引用",)


def test_code_is_a_block_of_its_own_without_blank_lines_around() -> None:
    """A fence right under a paragraph neither swallows it nor is read as text."""
    blocks = parse("说明\n```\n- a\n\n- b\n```\n后文").sections[0].blocks
    assert [(b.kind, b.lines) for b in blocks] == [
        ("paragraph", ("说明",)),
        ("code", ("- a", "", "- b")),
        ("paragraph", ("后文",)),
    ]


@pytest.mark.parametrize(
    ("marked", "bare"),
    [
        ("**粗**和`code`", "粗和code"),
        ("[链接](http://a.cn)和![图](b.png)", "链接和图"),
        ("update_billing_address", "update_billing_address"),
        ("3*4=12", "3*4=12"),
        ("*斜*体", "*斜*体"),
        ("一行<br>两行", "一行 两行"),
        (r"\*星号\*", "*星号*"),
    ],
)
def test_inline_markup_goes_and_names_stay(marked: str, bare: str) -> None:
    """Underscores of API names and arithmetic are no emphasis."""
    assert plain(marked) == bare


@given(st.text(alphabet="#|-*`>1. \n退货ab:", max_size=80))
@settings(max_examples=300, deadline=None)
def test_any_text_is_a_document(text: str) -> None:
    """Reading never fails, and no block is empty."""
    assert all(block.lines for section in parse(text).sections for block in section.blocks)

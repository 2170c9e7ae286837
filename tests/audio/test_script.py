"""Traditional to Simplified."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audio.script import to_simplified


@pytest.mark.parametrize(
    ("written", "simplified"),
    [
        ("退款後怎麼辦？", "退款后怎么办？"),
        ("優惠券與發票", "优惠券与发票"),
        ("看著後面的皇后", "看着后面的皇后"),
        ("乾隆年間的頭髮很乾燥", "乾隆年间的头发很干燥"),
        ("著名的著作", "著名的著作"),
        ("ERR_2048 報錯", "ERR_2048 报错"),
        ("", ""),
    ],
)
def test_a_mixture_of_scripts_becomes_simplified(written: str, simplified: str) -> None:
    """Characters change by their phrase; Latin, digits and punctuation stay; words are not exchanged."""
    assert to_simplified(written) == simplified


@given(st.text(st.characters(min_codepoint=0x4E00, max_codepoint=0x9FA5), max_size=8))
def test_simplified_text_stays(text: str) -> None:
    """Converting twice is converting once, for any Chinese characters."""
    once = to_simplified(text)
    assert to_simplified(once) == once


def test_importing_loads_no_tables() -> None:
    """Whoever only imports the module pays for no conversion tables."""
    code = "import sys, audio.script; sys.exit('opencc' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0

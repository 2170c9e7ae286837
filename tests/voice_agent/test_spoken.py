"""The spoken form: no marks or markup, every value the one that was checked."""

from __future__ import annotations

import pytest

from voice_agent.reply.spoken import spoken_form


@pytest.mark.parametrize(
    ("checked", "said"),
    [
        ("退款在3到5个工作日内到账。[S1]", "退款在三到五个工作日内到账。"),
        ("退款3-5天到账【S1】。", "退款三到五天到账。"),
        ("一共1,299元，优惠10%。[S1,S2]", "一共一千二百九十九元，优惠百分之十。"),
        ("满2元减0.5元。", "满两元减零点五元。"),
        ("2026年1月1日起生效。", "二零二六年一月一日起生效。"),
        ("截止2026-01-05。", "截止二零二六年一月五日。"),
        ("请在18:30前办理，或者9:05到店。", "请在十八点三十分前办理，或者九点零五分到店。"),
        ("请拨打10086。", "请拨打幺零零八六。"),
        ("电话是13800138000。", "电话是幺三八零零幺三八零零零。"),
        ("每月20GB流量，速率500Mbps。", "每月二十 G 流量，速率五百兆。"),
        ("**注意**：请先`重启`😀。", "注意：请先重启。"),
        ("第12次和第22个。", "第十二次和第二十二个。"),
    ],
)
def test_how_values_are_said(checked: str, said: str) -> None:
    """Amounts as amounts, ranges as ranges, dates as dates, phone numbers digit by digit."""
    assert spoken_form(checked) == said


@pytest.mark.parametrize("code", ["ERR_2048", "0x80070005", "X100", "V2.3.1", "RTX-4090", "BB-619"])
def test_codes_are_spelled_out(code: str) -> None:
    """Every digit of a code is said by itself, in order, and never as a quantity."""
    names = dict(zip("0123456789", "零一二三四五六七八九", strict=True))
    said = spoken_form(f"出现{code}时请重启。")
    digits = [names[mark] for mark in code if mark in names]
    assert [mark for mark in said if mark in names.values()] == digits
    assert not set(said) & set("0123456789百千")

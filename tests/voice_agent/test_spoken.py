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
        ("每月20GB流量，速率500Mbps。", "每月二十 G 流量，速率五百兆每秒。"),
        ("**注意**：请先`重启`😀。", "注意：请先重启。"),
        ("第12次、第2次和第22个。", "第十二次、第二次和第二十二个。"),
        ("退款3~5天到账，折扣10%-20%。", "退款三到五天到账，折扣百分之十到百分之二十。"),
        ("8:00-20:30营业，费用¥100-200。", "八点到二十点三十分营业，费用一百元到二百元。"),
        ("流量5-10GB，温度0~40℃。", "流量五到十 G，温度零到四十摄氏度。"),
        ("截至2026-01-05日。", "截至二零二六年一月五日。"),
        ("3*24小时内处理。", "三乘二十四小时内处理。"),
        ("12000积分，10000条短信。", "一万两千积分，一万条短信。"),
        ("充值$50。", "充值五十美元。"),
        (
            "订单号20261130000123已发货，尾号1234。",
            "订单号二零二六幺幺三零零零零幺二三已发货，尾号幺二三四。",
        ),
        ("电话010-12345678转801，紧急请拨打119。", "电话零幺零幺二三四五六七八转八零幺，紧急请拨打幺幺九。"),
        ("验证码是0815，密码800元。", "验证码是零八幺五，密码八百元。"),
        ("## 步骤\n- 第1步：见[说明](https://a.cn/b)\n> 注意", "步骤第一步：见说明注意"),
        ("详见https://a.cn/x。请在3天内联系。", "详见网页链接。请在三天内联系。"),
        ("| 套餐 | 19元 |", "套餐，十九元"),
        ("费用３．５元，１０：３０开门。", "费用三点五元，十点三十分开门。"),
        ("99元/月，0.5元/条，和/或。", "九十九元每月，零点五元每条，和或或。"),
        ("2024-2026年，按3:2分成，1203室。", "二零二四年到二零二六年，按三比二分成，幺二零三室。"),
        ("温度-10℃至-5℃。", "温度负十摄氏度至负五摄氏度。"),
        ("快递单号SF1234567。", "快递单号 S F 幺二三四五六七。"),
        ("设置→网络→重置⚠️，1️⃣打开<br>2️⃣确认。", "设置，网络，重置，一打开二确认。"),
        ("~~原价~~ __99元__，C#和ERR_2048。", "原价九十九元，C 井号和 E R R 下划线二零四八。"),
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


@pytest.mark.parametrize(
    "mark", ["[S1]", "【S1】", "［Ｓ１］", "(S1)", "（S1）", "[S1,S2]", "[S1-S3]", "[S1][S2]", "S1、S2"]
)
def test_no_citation_mark_is_ever_said(mark: str) -> None:
    """A7-12, B9-13: marks in every form, before the full stop and behind it."""
    assert spoken_form(f"退款原路退回。{mark}") == "退款原路退回。"
    if mark != "S1、S2":
        assert spoken_form(f"退款原路退回{mark}。") == "退款原路退回。"


@pytest.mark.parametrize(
    "written",
    [
        "**退款原路退回**。",
        "# 退款原路退回。",
        "- 退款原路退回。",
        "> 退款原路退回。",
        "`退款原路退回`。",
        "~~退款原路退回~~。",
        "__退款原路退回__。",
        "[退款原路退回](https://a.cn/x)。",
        "😀退款原路退回✅。",
        "<b>退款原路退回</b>。",
    ],
)
def test_no_markup_is_ever_said(written: str) -> None:
    """A7-13: emphasis, headings, lists, quotes, code, links, tags and emoji leave the words alone."""
    assert spoken_form(written).replace(" ", "") == "退款原路退回。"


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("请拨打119", "请拨打幺幺九"),
        ("共119元", "共一百一十九元"),
        ("拨打12315", "拨打幺二三幺五"),
        ("12315积分", "一万两千三百一十五积分"),
        ("订单号10086110", "订单号幺零零八六幺幺零"),
        ("10086110元", "一千零八万六千一百一十元"),
        ("尾号2024", "尾号二零二四"),
        ("2024年", "二零二四年"),
        ("2024个", "两千零二十四个"),
    ],
)
def test_a_number_is_read_by_what_it_names(written: str, said: str) -> None:
    """A7-15: the same digits are an amount before a measure and a name behind a word for one."""
    assert spoken_form(f"{written}。") == f"{said}。"


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("500MB", "五百兆"),
        ("500Mbps", "五百兆每秒"),
        ("5月", "五月"),
        ("5个月", "五个月"),
        ("5分", "五分"),
        ("5分钟", "五分钟"),
        ("5%", "百分之五"),
        ("5个百分点", "五个百分点"),
        ("5元", "五元"),
        ("$5", "五美元"),
        ("提高到20%", "提高到百分之二十"),
        ("提高了20%", "提高了百分之二十"),
        ("八五折", "八五折"),
        ("双十一", "双十一"),
    ],
)
def test_units_that_differ_sound_different(written: str, said: str) -> None:
    """B9-6, -10, -11: what the check holds apart stays apart in the voice; words that are no numbers are left alone."""
    assert spoken_form(f"{written}。") == f"{said}。"

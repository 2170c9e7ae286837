"""The figure a question asks for, and passages about the right thing that do not state it."""

from __future__ import annotations

import pytest

from retrieval.slot import asked_units, slot_missing


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("寄付的件，首重按几公斤算", "寄付包裹的运费由寄件人支付。"),
        ("预售的定金一般占总价百分之几", "预售商品的定金付款后不予退还。预售尾款须在72小时内支付。"),
        ("停机保号一年之内可以申请几回", "停机保号每月收费3元，最长6个月。"),
        ("换开一次发票要掏多少手续费", "发票开出后90天内可以申请换开。每张发票可以换开1次。"),
        ("没电梯的老楼最高搬到几楼", "大件家电搬运上楼每层收费10元。"),
        ("X100喇叭功率是多少瓦", "X100只支持2.4GHz无线网络。"),
        ("快递改派大概几个小时有回音", "包裹改派的费用为每次6元。"),
        ("把包裹喊回来，一次收几块", "派送中的包裹不能撤回。"),
        ("满500那种券，一个人能领几张", "满500元优惠券每张减60元，15天内有效。"),
        ("去年一共有多少人申请换货", "商品签收后30天内可以换货。"),
    ],
)
def test_the_asked_figure_is_missing(question: str, text: str) -> None:
    """The passage is about the topic and holds figures of other kinds only."""
    assert slot_missing(question, text)


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("退款几天到账", "退款在3到5个工作日内到账。"),
        ("退款几天到账", "退款三天内到账。"),
        ("多少钱能包邮", "单笔订单实付满79元包邮。"),
        ("安装要收多少钱", "首次安装免费。"),
        ("流量几号失效", "结转的流量在次月月底失效。"),
        ("违约金是百分之几", "违约金按每日0.1%收取。"),
        ("首月打几折", "新用户首月套餐费打五折。"),
        ("每月多少流量", "每月含30GB国内流量。"),
        ("今年流量涨到几个G了", "每月含30GB国内流量。"),
        ("RTX4080官方推荐上多少瓦", "建议使用850瓦以上的电源。"),
        ("得传几张图", "须上传三张以上的照片。"),
    ],
)
def test_the_asked_figure_is_there(question: str, text: str) -> None:
    """A figure of a unit that answers, written in digits or not, or the words that stand for one."""
    assert asked_units(question)
    assert not slot_missing(question, text)


@pytest.mark.parametrize(
    "question",
    [
        "退款多久能到账",
        "能不能退货",
        "我买了三件想退其中一件",
        "我试错好几回进不去了",
        "租房合同里哪几条最容易吃亏",
        "小孩三年级作业怎么教",
        "支持三个月免息分期吗",
        "",
    ],
)
def test_what_asks_for_no_figure_misses_none(question: str) -> None:
    """A figure the caller states, 好几 and 哪几, and questions answered in words ask for nothing here."""
    assert asked_units(question) == ()
    assert not slot_missing(question, "任何一段没有数字的话。")

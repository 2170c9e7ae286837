"""The traps of Chinese that a sentence check must know: each row is a passage, a sentence, and what becomes of it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date

import pytest

from retrieval.citations import CheckRules, check
from retrieval.types import Passage, PassageId

DAY = date(2026, 11, 30)
Row = tuple[str, str, str]


def verdict(
    passage: str,
    sentence: str,
    question: str = "",
    title: str = "",
    before: tuple[str, ...] = (),
    after: tuple[str, ...] | None = (),
) -> str:
    evidence = {"S1": Passage(PassageId("p"), passage, title)}
    rules = CheckRules(before=before, after=after)
    found = check(f"{sentence}[S1]", question, evidence, DAY, None, rules)
    return found.reason.value if found.reason else "passed"


def rows(*cases: Row) -> pytest.MarkDecorator:
    return pytest.mark.parametrize(("passage", "sentence", "expected"), cases)


@rows(
    ("退货运费由买家承担。", "退货的运费由买家来承担。", "passed"),
    ("退货运费由买家承担。", "退货的运费由卖家承担。", "ROLE_OR_ANTONYM"),
    ("境外使用须重启手机。", "在境内使用须重启手机。", "ROLE_OR_ANTONYM"),
    ("新装宽带免收安装费。", "新装宽带要收取安装费。", "ROLE_OR_ANTONYM"),
    ("新装宽带收取安装费。", "新装宽带是免收安装费的。", "ROLE_OR_ANTONYM"),
    ("商家支持上门取件。", "商家拒绝上门取件。", "ROLE_OR_ANTONYM"),
    ("到期后自动续费。", "到期以后手动续费。", "ROLE_OR_ANTONYM"),
    ("新用户首单减免10元运费。", "老用户首单减免10元运费。", "ROLE_OR_ANTONYM"),
    ("质量问题可以换货。", "有质量问题可以退款。", "ROLE_OR_ANTONYM"),
    ("运费由卖家向买家支付。", "运费要由买家向卖家支付。", "ROLE_OR_ANTONYM"),
    ("主卡用户可以开通漫游。", "副卡用户是可以开通漫游的。", "ROLE_OR_ANTONYM"),
    ("寄回运费由买家承担，重新发货的运费由卖家承担。", "重新发货的运费由买家承担。", "ROLE_OR_ANTONYM"),
    ("签收后请立即反馈破损。", "请您在签收前立即反馈破损。", "ROLE_OR_ANTONYM"),
    ("保修期内维修不收费。", "保修期外的维修不收费。", "ROLE_OR_ANTONYM"),
)
def test_roles_and_antonyms(passage: str, sentence: str, expected: str) -> None:
    """Who pays whom and which way it goes: no number, no negation, nearly the same characters."""
    assert verdict(passage, sentence) == expected


def test_the_subject_comes_from_the_question() -> None:
    """Asked about the 信用卡, a sentence that names no card must not come from a passage that only knows another."""
    passage, title = "储蓄卡的退款在审核通过后3到5个工作日到账。", "储蓄卡退款时效"
    sentence = "审核通过之后需要3到5个工作日到账。"
    assert verdict(passage, sentence, "信用卡退款多久到", title) == "ENTITY_MISMATCH"
    assert verdict(passage, sentence, "储蓄卡退款多久到", title) == "passed"


def test_the_subject_comes_from_the_sentence_before() -> None:
    """它需要3天: 它 is what the sentence before spoke of."""
    passage, title = "储蓄卡的退款3到5个工作日到账。", "储蓄卡退款时效"
    sentence = "它一共需要3到5个工作日到账。"
    assert (
        verdict(passage, sentence, "退款多久", title, ("信用卡的退款是另外一种。[S2]",)) == "ENTITY_MISMATCH"
    )
    assert verdict(passage, sentence, "退款多久", title, ("储蓄卡的退款原路退回。[S1]",)) == "passed"


def test_the_question_decides_between_equal_places() -> None:
    """人工费是30元 is right for one kind of fault and wrong for another of the same passage."""
    passage = "轻度故障的人工费为30元。\n中度故障的人工费为80元。\n重度故障的人工费为150元。"
    assert verdict(passage, "人工费一共是30元。", "轻度故障人工费多少") == "passed"
    assert verdict(passage, "人工费一共是150元。", "轻度故障人工费多少") == "NUM_UNSUPPORTED"


def test_the_figure_in_the_name_of_the_thing_asked_about() -> None:
    """Asked about the 129元套餐, a sentence from the passage on the 99元套餐 is about something else."""
    passage, title = "畅享99元套餐每月含60GB流量。", "畅享99元套餐流量"
    assert verdict(passage, "每个月有60GB的流量。", "129元套餐有多少流量", title) == "ENTITY_MISMATCH"
    assert verdict(passage, "每个月有60GB的流量。", "99元套餐有多少流量", title) == "passed"


@pytest.mark.parametrize("sentence", ["可以。", "是的。", "是的，可以。", "不行。"])
def test_a_bare_answer_is_not_judged_by_the_passage_alone(sentence: str) -> None:
    """是的 to 不能退吗 agrees with the no."""
    assert verdict("拆封的软件不支持退货。", sentence, "拆封的软件不能退吗") == "UNCHECKABLE"


def test_a_yes_must_fit_what_follows_it() -> None:
    """是的 to 能退吗, followed by 不支持退货, says both."""
    passage = "拆封的软件不支持退货。"
    assert verdict(passage, "是的，拆封以后的软件不支持退货。", "拆封的软件能退吗") == "UNCHECKABLE"
    assert verdict(passage, "是的，拆封以后的软件不支持退货。", "拆封的软件不能退吗") == "passed"


@rows(
    ("同城订单一般1天送达。", "同城的订单1天送达。", "MODALITY"),
    ("同城订单一般1天送达。", "同城的订单通常1天送达。", "passed"),
    ("订单预计5天送达。", "您的订单会在5天送达。", "MODALITY"),
    ("加急订单最快2小时送达。", "加急的订单2小时送达。", "MODALITY"),
    ("原则上不予退款。", "这种情况不予退款。", "MODALITY"),
    ("维修可能清除数据。", "维修会清除数据。", "MODALITY"),
    ("维修可能清除数据。", "维修时有可能清除数据。", "passed"),
    ("旧用户可以选择升级。", "旧用户必须升级。", "MODALITY"),
    ("旧用户必须升级。", "旧用户可以升级。", "MODALITY"),
    ("送修前建议备份照片。", "送修之前必须备份照片。", "MODALITY"),
    ("送修前建议备份照片。", "送修之前备份照片。", "MODALITY"),
    ("地址默认开通，无须申请。", "地址是默认开通的，不能申请。", "MODALITY"),
    ("地址默认开通，无须申请。", "地址是默认开通的，不用申请。", "passed"),
    ("商品3天送达。", "商品最快3天送达。", "MODALITY"),
)
def test_modality(passage: str, sentence: str, expected: str) -> None:
    """A hedge dropped makes a promise of an estimate; 可以, 必须, 建议, 无需 and 不能 are five things."""
    assert verdict(passage, sentence) == expected


@rows(
    ("商品七天内可退。但定制商品除外。", "商品在七天内是可以退的。", "SCOPE_DROPPED"),
    ("商品七天内可退。但定制商品除外。", "商品在七天内可以退，定制商品除外。", "passed"),
    ("满500元优惠券减60元。该券仅限自营商品使用。", "满500元的优惠券能减60元。", "SCOPE_DROPPED"),
    ("专票仅限企业账户申请。", "专票可以由企业账户申请。", "SCOPE_DROPPED"),
    ("会员在实名认证后才能使用优惠。", "会员能使用优惠。", "SCOPE_DROPPED"),
    ("签收时已拆封的，不支持退货。", "商品不支持退货。", "SCOPE_DROPPED"),
    ("如果申请人未满18岁，须由监护人办理。", "须由监护人来办理。", "SCOPE_DROPPED"),
)
def test_conditions(passage: str, sentence: str, expected: str) -> None:
    """A limit, condition or exception that is left out, also when it is the passage's next sentence."""
    assert verdict(passage, sentence) == expected


@rows(
    ("出现故障时，请次日再付或者联系银行。", "您可以再付或者联系银行。", "SCOPE_DROPPED"),
    ("出现故障时，请次日再付或者联系银行。", "出现故障时，请隔天再付或者联系银行。", "passed"),
    ("套餐变更自次月生效。", "套餐变更后就生效。", "SCOPE_DROPPED"),
    ("套餐变更自次月生效。", "套餐变更从下个月生效。", "passed"),
)
def test_a_later_day_is_not_left_out(passage: str, sentence: str, expected: str) -> None:
    """Asked whether it works today, a real model left 次日 out and said that it does."""
    assert verdict(passage, sentence) == expected


@rows(
    ("可以先选自动获取。选择宽带账号时，须填写账号和密码。", "能先选自动获取。", "passed"),
    (
        "可以先选自动获取。选择宽带账号时，须填写账号和密码。",
        "能先选自动获取，也有宽带账号。",
        "SCOPE_DROPPED",
    ),
    ("报修可以在网页提交。报修时须提供账号。", "报修能在网页提交。", "SCOPE_DROPPED"),
    ("可以先选自动获取。选择宽带账号时，须付10元。", "能先选自动获取。", "SCOPE_DROPPED"),
    ("CW-6000的包装内另有支架1个。CW-3000的包装内不含支架。", "CW-6000的包装里另有一个支架。", "passed"),
    ("主机的包装内有支架1个。CW-3000的包装内不含支架。", "主机的包装里有一个支架。", "SCOPE_DROPPED"),
)
def test_a_neighbour_of_another_case_is_no_condition(passage: str, sentence: str, expected: str) -> None:
    """A duty of who chose the other way, and what another model lacks, limit nothing; a price and an exception do."""
    assert verdict(passage, sentence) == expected


def test_an_exception_is_not_taken_back_by_the_next_sentence() -> None:
    """定制商品可以退。定制商品除外。 says both."""
    passage = "商品七天内可退。但定制商品除外。"
    assert verdict(passage, "定制商品七天内可退。", after=("但定制商品除外。[S1]",)) != "passed"


@rows(
    ("来电人处于危险时，请拨打120。", "我撑不下去了，处于危险。", "UNCHECKABLE"),
    ("退款在3天内到账。", "我保证退款在3天内到账。", "UNCHECKABLE"),
    ("在我的订单里查看物流。", "在我的订单里能查看物流。", "passed"),
    ("我们在3天内退款。", "我们会在3天内退款。", "passed"),
)
def test_nobody_speaks_of_himself(passage: str, sentence: str, expected: str) -> None:
    """A model that repeats the caller, and one that promises something in its own name, is carried by no passage."""
    assert verdict(passage, sentence) == expected


def test_a_condition_may_be_spoken_beside_the_sentence() -> None:
    """The other sentences of the answer count; what is not known yet counts for a sentence said word for word."""
    passage = "商品七天内可退。但定制商品除外。"
    sentence = "商品七天内可退。"
    beside = "但定制商品除外。[S1]"
    assert verdict(passage, sentence, after=(beside,)) == "passed"
    assert verdict(passage, "商品七天内是可以退的。", after=(beside,)) == "passed"
    assert verdict(passage, sentence, after=None) == "passed"
    assert verdict(passage, sentence, after=()) == "SCOPE_DROPPED"
    assert verdict(passage, "商品七天内是可以退的。", after=None) == "SCOPE_DROPPED"


@rows(
    (
        "商品签收后30天内降价可以申请价格保护。限时秒杀活动的价格除外。每件商品累计可以申请价格保护2次。",
        "秒杀价比您买的便宜，可以申请价格保护。",
        "SCOPE_DROPPED",
    ),
    (
        "商品签收后30天内降价可以申请价格保护。限时秒杀活动的价格除外。每件商品累计可以申请价格保护2次。",
        "签收后30天内降价可以申请价格保护，限时秒杀的价格除外。",
        "passed",
    ),
)
def test_an_exception_is_not_said_as_the_rule(passage: str, sentence: str, expected: str) -> None:
    """A real model promised what the exception takes back, and leaned on a third sentence that has none."""
    assert verdict(passage, sentence) == expected


def test_what_the_caller_said_fulfils_a_condition_but_no_exception() -> None:
    """Asked about 未拆封, the answer need not repeat it; asked about 定制商品, it must not forget the exception."""
    passage = "未拆封的商品，可以无理由退货。"
    assert verdict(passage, "可以无理由退货的。", "未拆封的商品能退吗") == "passed"
    assert verdict(passage, "可以无理由退货的。", "我想退货") == "SCOPE_DROPPED"
    passage = "商品七天内可退。但定制商品除外。"
    assert verdict(passage, "商品七天内是可以退的。", "定制商品能退吗") == "SCOPE_DROPPED"


@rows(
    ("税率提高到20%。", "税率现在提高了20%。", "COMPARATOR"),
    ("税率提高到20%。", "税率现在提高到了20%。", "passed"),
    ("销量增加2倍。", "销量是2倍。", "COMPARATOR"),
    ("销量翻一番。", "销量翻了两番。", "NUM_UNSUPPORTED"),
    ("费用降一半。", "费用降到百分之三十。", "NUM_UNSUPPORTED"),
    ("价格上调10元。", "价格下调了10元。", "ROLE_OR_ANTONYM"),
)
def test_changes(passage: str, sentence: str, expected: str) -> None:
    """到 is a level, 了 a difference; 上调 is not 下调."""
    assert verdict(passage, sentence) == expected


@rows(
    ("订单满200元包邮。", "200元以上的订单包邮。", "passed"),
    ("订单满200元包邮。", "超过200元的订单包邮。", "COMPARATOR"),
    ("单件不满3000元可以代签。", "单件3000元以下可以代签。", "COMPARATOR"),
    ("电池健康度不低于85%。", "电池健康度至少85%。", "passed"),
    ("电池健康度不低于85%。", "电池健康度不高于85%。", "COMPARATOR"),
    ("最多连接64台设备。", "可以连接的设备不超过64台。", "passed"),
    ("最多连接64台设备。", "至少可以连接64台设备。", "COMPARATOR"),
    ("3天内发货。", "要在3天后发货。", "COMPARATOR"),
    ("提前3天通知。", "会在3天内通知您。", "COMPARATOR"),
    ("光纤长度约30米。", "光纤长度是30米。", "COMPARATOR"),
    ("光纤长度约30米。", "光纤长度30米左右。", "passed"),
    ("声明价值不能超过20000元。", "声明价值最高2万元。", "passed"),
    ("退货期限为7天。", "7天之内是可以退货的，这是退货期限。", "passed"),
)
def test_bounds(passage: str, sentence: str, expected: str) -> None:
    """以上, 以内 and 满 hold their end, 超过 and 不满 do not; 内, 后 and 提前 are three times."""
    assert verdict(passage, sentence) == expected


@rows(
    ("套餐每月59元。", "套餐每年要59元。", "COMPARATOR"),
    ("套餐每月59元。", "套餐的月费是59元。", "passed"),
    ("套餐每月59元。", "套餐59元。", "COMPARATOR"),
    ("单笔限额5000元。", "累计限额是5000元。", "COMPARATOR"),
    ("单笔限额5000元。", "每笔的限额是5000元。", "passed"),
    ("首月费用五折。", "每个月的费用五折。", "COMPARATOR"),
    ("前3个月免费试用。", "近3个月免费试用。", "COMPARATOR"),
    ("第3个月起收费。", "3个月起收费。", "NUM_UNSUPPORTED"),
    ("光猫每台120元。", "光猫一台120元。", "passed"),
    ("运费每单8元。", "运费每件8元。", "COMPARATOR"),
)
def test_rates(passage: str, sentence: str, expected: str) -> None:
    """每月, 每单, 单笔, 累计 and 首月 change what a figure means; so do 前, 近 and 第."""
    assert verdict(passage, sentence) == expected


@rows(
    ("运费一百五十元。", "运费是一百五。", "passed"),
    ("押金25000元。", "押金要两万五千元。", "passed"),
    ("短信每条3.5元。", "短信一条要三块五。", "passed"),
    ("保修18个月。", "保修一年半。", "passed"),
    ("合约期30个月。", "合约期两年半。", "passed"),
    ("保修期12个月。", "保修期是一年。", "passed"),
    ("折扣为85%。", "折扣是八五折。", "passed"),
    ("达到90%为合格。", "达到九成就合格。", "passed"),
    ("需要三十多天。", "一共需要三十多天。", "passed"),
    ("需要三十多天。", "一共需要三十天。", "NUM_UNSUPPORTED"),
    ("需要十几天。", "一共需要十五天。", "NUM_UNSUPPORTED"),
    ("资产为1.2亿元。", "资产是120000000元。", "passed"),
    ("资产为1.2亿元。", "资产是一点二亿元。", "passed"),
    ("新版规则2024年3月1日生效。", "新版规则二零二四年三月一号起生效。", "COMPARATOR"),
    ("新版规则2024年3月1日生效。", "新版规则是在二零二四年三月一号生效的。", "passed"),
    ("违约金为5%。", "违约金是百分之五。", "passed"),
    ("违约金为0.1%。", "违约金是千分之一。", "passed"),
    ("损坏费用壹佰元。", "损坏费用是100元。", "passed"),
)
def test_numerals(passage: str, sentence: str, expected: str) -> None:
    """One value in all its writings; 三十多 and 十几 have no one value."""
    assert verdict(passage, sentence) == expected


@rows(
    ("请在第一时间联系客服。", "请您第一时间联系客服。", "passed"),
    ("双十一订单延迟发货。", "双十一的订单延迟发货。", "passed"),
    ("商品支持七天无理由退货。", "这个商品支持七天无理由退货。", "passed"),
    ("客服电话是10086。", "客服的电话是10086。", "passed"),
    ("客服电话是10086。", "客服的电话是10085。", "NUM_UNSUPPORTED"),
    ("千万不要自行拆机。", "您千万不要自行拆机。", "passed"),
)
def test_words_that_only_look_like_numbers(passage: str, sentence: str, expected: str) -> None:
    """第一时间, 双十一, 七天无理由 and 千万 hold no amount."""
    assert verdict(passage, sentence) == expected


@rows(
    ("7个工作日内寄出。", "会在7天内寄出。", "UNIT_MISMATCH"),
    ("合约期3个月。", "合约期到3月。", "NUM_UNSUPPORTED"),
    ("30天内有效。", "1个月内有效。", "NUM_UNSUPPORTED"),
    ("24小时内上门。", "1天内上门。", "NUM_UNSUPPORTED"),
    ("运费10美元。", "运费是10元。", "UNIT_MISMATCH"),
    ("利率上升5个百分点。", "利率上升5%。", "UNIT_MISMATCH"),
    ("流量500MB。", "流量有500GB。", "UNIT_MISMATCH"),
    ("下午6点关门。", "18点就关门了。", "passed"),
    ("5个自然日内到账。", "5个工作日内到账。", "UNIT_MISMATCH"),
    ("冷却20分钟。", "要冷却20分。", "NUM_UNSUPPORTED"),
)
def test_units(passage: str, sentence: str, expected: str) -> None:
    """天 is no 工作日, 个月 no 月 and no 30天, 24小时 no 1天, 元 no 美元, % no 百分点."""
    assert verdict(passage, sentence) == expected


@rows(
    ("商品不支持退货。", "这个商品支持退货。", "POLARITY"),
    ("商品支持退货。", "这个商品不支持退货。", "POLARITY"),
    ("商品不支持退货。", "这个商品不能退货。", "passed"),
    ("商品不支持退货。", "这个商品退货是不支持的。", "passed"),
    ("积分不仅可以抵扣，还可以兑换。", "积分可以抵扣，还可以兑换。", "passed"),
    ("订单不得不取消。", "订单必须取消。", "passed"),
    ("非本人签收不可。", "必须本人签收。", "passed"),
    ("没有一个订单不收运费。", "订单不收运费。", "POLARITY"),
    ("优惠券不都能叠加。", "优惠券都不能叠加。", "POLARITY"),
    ("停机期间不能接打电话。", "停机的时候打不了电话。", "passed"),
    ("停机期间不能接打电话。", "停机的时候能接打电话。", "POLARITY"),
    ("停机期间不收月费。", "停机期间免收月费。", "passed"),
    ("满79元免运费。", "满79元不收运费。", "passed"),
    ("能否退货以页面提示为准。", "能不能退货以页面提示为准。", "passed"),
    ("已经拆封的商品不能退。", "没有拆封的商品不能退。", "POLARITY"),
    ("无线网络可以使用。", "没有网络可以使用。", "POLARITY"),
    ("除非质量有问题，否则不能退货。", "质量有问题才能退货。", "passed"),
    ("对不起，系统差不多恢复了。", "系统差不多恢复了。", "passed"),
)
def test_negation(passage: str, sentence: str, expected: str) -> None:
    """Which 不 denies, how far it reaches, and which two denials make an affirmation."""
    assert verdict(passage, sentence) == expected


@rows(
    ("退款3到5个工作日到账。", "退款最快3个工作日到账。", "NUM_UNSUPPORTED"),
    ("退款3到5个工作日到账。", "退款最长5个工作日到账。", "passed"),
    ("退款3到5个工作日到账。", "退款5个工作日到账。", "NUM_UNSUPPORTED"),
    ("营业收入为15亿元，净利润为6亿元。", "净利润是15亿元。", "NUM_UNSUPPORTED"),
    ("营业收入为15亿元，净利润为6亿元。", "净利润是6亿元，营业收入是15亿元。", "passed"),
    ("满200元减30元。", "满30元减200元。", "NUM_UNSUPPORTED"),
    ("移动端满**999**元包邮。", "移动端满999元包邮。", "passed"),
)
def test_figures_and_what_they_are_about(passage: str, sentence: str, expected: str) -> None:
    """A figure of another subject in the same passage supports nothing; a weaker claim about a range is no quote."""
    assert verdict(passage, sentence) == expected


@rows(
    ("澄湾音箱X100支持蓝牙。", "澄湾音箱X200支持蓝牙。", "ENTITY_MISMATCH"),
    ("日本漫游日包每天28元。", "美国漫游日包每天28元。", "ENTITY_MISMATCH"),
    ("金卡会员享受专属客服。", "黑卡会员可以享受专属客服。", "ENTITY_MISMATCH"),
    ("东方科技有限公司负责配送。", "由西方科技有限公司负责配送。", "ENTITY_MISMATCH"),
    ("东方科技有限公司负责配送。", "配送由东方科技有限公司负责。", "passed"),
    ("宋某负责审核。", "审核由王某负责。", "ENTITY_MISMATCH"),
    ("按《退货规则》处理。", "要按《换货规则》处理。", "ENTITY_MISMATCH"),
)
def test_entities(passage: str, sentence: str, expected: str) -> None:
    """A code, a name, a title or a kind that the passage does not hold."""
    assert verdict(passage, sentence) == expected


def test_two_passages_may_be_combined() -> None:
    """A sentence that cites both may take a figure from each, and still nothing that neither holds."""
    evidence: Mapping[str, Passage] = {
        "S1": Passage(PassageId("a"), "储蓄卡退款3到5个工作日到账。"),
        "S2": Passage(PassageId("b"), "信用卡退款5到10个工作日到账。"),
    }
    rules = CheckRules(after=())
    said = "储蓄卡退款要3到5个工作日，信用卡退款要5到10个工作日[S1,S2]。"
    assert check(said, "", evidence, DAY, None, rules).passed
    said = "储蓄卡退款要5到10个工作日，信用卡退款要3到5个工作日[S1,S2]。"
    assert not check(said, "", evidence, DAY, None, rules).passed


def test_the_cited_passage_must_be_the_one_that_says_it() -> None:
    """A true sentence with the mark of another passage of the turn is a wrong citation."""
    evidence = {
        "S1": Passage(PassageId("a"), "恢复出厂设置须按住复位孔。"),
        "S2": Passage(PassageId("b"), "定制商品确认稿件后不能修改内容。"),
    }
    found = check("定制商品在稿件确认以后就不能修改内容了[S1]。", "", evidence, DAY)
    assert found.reason == "IRRELEVANT"
    assert check("定制商品在稿件确认以后就不能修改内容了[S2]。", "", evidence, DAY).passed

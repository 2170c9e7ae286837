"""What a question asks for besides figures, and whether a passage can hold it: a reason, a person, a day, a comparison.

为什么不给价保 is near the passage that excludes it, and no passage says why; 我还有多少积分 is in no document at all.
Each kind is a pattern of questions and what a passage that answers would have to say. Coarse on purpose: a hint to the
gate, which weighs it, and never a decision of its own.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal

from retrieval.normalize import canonical

Wanted = Literal["reason", "person", "day", "own_account", "comparison", "address", "opinion", "history"]


@dataclass(frozen=True, slots=True)
class _Kind:
    """`asked` in the question calls for `told` in the passage; None: no document tells it."""

    name: Wanted
    asked: re.Pattern[str]
    told: re.Pattern[str] | None


def _kind(name: Wanted, asked: str, told: str | None) -> _Kind:
    return _Kind(name, re.compile(asked), None if told is None else re.compile(told))


_KINDS: Final = (
    _kind(
        "reason",
        "为什么|为啥|为何|凭(?:什么|啥)(?!凭证|证件?|查|返|办|号|领)|干[嘛吗][非要]|[什啥]么?原因|什么道理|讲讲道理|图什么"
        "|什么依据|什么用意|法律依据",
        "因|由于|原因|为了|以便|避免|防止|造成|引起|导致|表示|以免|故障|说明|属于|未|不足|超时|异常|失效|过期|错误|不在|请不要",
    ),
    _kind(
        "person",
        "谁(?![都也])|哪家|哪个部门|哪位|哪个?单位|哪个?公司|什么公司|哪个厂|拍的?板",
        "由|承担|负责|部门|公司|厂|专员|本人|机主|客服|师傅|[买卖商]家|家人|用户|他人|持有人|工程师|人员|[收寄]货?件?人"
        "|签收|快递员|主卡|户主|代[办理]|监护|银行|机构",
    ),
    _kind(
        "day",
        "哪[一]?天(?!开始算|起)|(?<!打)几月几号|哪[一]?年|什么日期|啥日子",
        r"\d年|\d月|\d日|每月|每年|当[日天月]|次[日月]|月[初底]|年底|期限|周[一二三四五六日末]|工作日|\d号|\d天",
    ),
    _kind(
        "own_account",
        "[帮给替]我(?:查|看看|看一下)|查一?下我|我(?:的|账户|帐户|余额|手[里头]|这个号)?(?:里头?)?(?:现在|这会儿|目前)?"
        "(?:还有|还剩|剩下?)(?:多少|几)|我[^，。]{0,8}你们收到几|我那[^，。]{0,8}哪天(?:签|办|买)",
        None,
    ),
    _kind(
        "comparison",
        "比谁|[跟和].{1,8}比|哪个(?:更|好|划算|强|便宜|快|耐用|值)|哪[种款]更|更划算|有(?:什么|啥)(?:不同|不一样|区别)|差在哪",
        "比|更|区别|不同|高于|低于|优于",
    ),
    _kind(
        "address",
        "地址(?:是|在|念|给|多少|告诉|发)|[什哪](?:么|个)地址|网址|链接|电话(?:号码)?是|号码是多少|哪条路|邮箱|微信号|公众号",
        r"地址|网址|链接|热线|电话|拨打|号码|邮箱|公众号|http|www|\d号|\d{3,4}-\d{3}|(?<![0-9a-z])\d{5,}(?![0-9a-z])",
    ),
    _kind(
        "opinion",
        "值不值|值得[买办]|好不好用|靠不靠谱|推荐[哪什个]|评价怎么?样|口碑|好评率|销量|卖了多少|多少人[用买办]|的人有多少",
        "推荐|适合|建议",
    ),
    _kind(
        "history",
        "(?:什么时候|哪[一]?天|哪[一]?年|何时)(?:开始有|推出|上线|发布|改的|定的|[放出做]出?来?的)|上市时间|发布时间|从哪年开始",
        r"\d{4}年|\d月\d+日|此前|上线|发布|推出|起[执施]行",
    ),
)


def unmet(question: str, passage: str) -> tuple[Wanted, ...]:
    """The kinds of thing that are asked for and that this passage cannot hold.

    >>> unmet("为什么秒杀不给价保", "限时秒杀的价格不参加价格保护。")
    ('reason',)
    >>> unmet("退货运费谁出", "退货运费由买家承担。")
    ()
    """
    asked, told = canonical(question), canonical(passage)
    return tuple(
        kind.name
        for kind in _KINDS
        if kind.asked.search(asked) and not (kind.told is not None and kind.told.search(told))
    )

"""Questions that the demo knowledge base answers, with the words and numbers that must be heard for that."""

from __future__ import annotations

from dataclasses import dataclass

from retrieval.normalize import canonical, simplify


@dataclass(frozen=True, slots=True)
class Sentence:
    """What is said, and which parts of it carry the question. Numbers in any notation."""

    text: str
    keywords: tuple[str, ...]
    numbers: tuple[str, ...] = ()

    def keywords_in(self, heard: str) -> int:
        return sum(canonical(word) in canonical(heard) for word in self.keywords)

    def numbers_in(self, heard: str) -> int:
        """How many were heard, whether written 十五 or 15."""
        return sum(canonical(number) in canonical(heard) for number in self.numbers)


SENTENCES = (
    Sentence("更换光猫需要几天？", ("更换", "光猫")),
    Sentence("宽带提示代码六九一，怎么办？", ("宽带", "代码"), ("六九一",)),
    Sentence("满两百块包邮吗？", ("包邮",), ("两百",)),
    Sentence("银行卡退款需要十五个工作日吗？", ("银行卡", "退款", "工作日"), ("十五",)),
    Sentence("国际漫游怎么开通？", ("国际漫游", "开通")),
    Sentence("耳机的保修期是十八个月还是十二个月？", ("耳机", "保修期"), ("十八", "十二")),
    Sentence("八月三号买的手机还能换货吗？", ("手机", "换货"), ("八月三号",)),
    Sentence("优惠券过期了能不能补？", ("优惠券", "过期")),
    Sentence("宽带移机收六十块钱吗？", ("宽带", "移机"), ("六十",)),
    Sentence("我的会员积分怎么兑换？", ("会员", "积分", "兑换")),
    Sentence("路由器怎么恢复出厂设置？", ("路由器", "恢复", "出厂设置")),
    Sentence("副卡最多可以办三张吗？", ("副卡",), ("三张",)),
    Sentence("发票抬头开错了怎么改？", ("发票", "抬头")),
    Sentence("日本漫游的日包二十八块一天？", ("日本", "漫游", "日包"), ("二十八",)),
    Sentence("快递显示签收，可是我没有收到。", ("快递", "签收")),
    Sentence("商品签收七天之内可以无理由退货吗？", ("签收", "无理由", "退货"), ("七天",)),
)


def in_one_script(raw: str) -> bool:
    """Whether the model wrote Simplified by itself."""
    return simplify(raw) == raw

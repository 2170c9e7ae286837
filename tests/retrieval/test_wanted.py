"""What a question asks for besides figures: a passage that cannot hold it does not answer, however near it is."""

from __future__ import annotations

import pytest

from retrieval.wanted import unmet

PRICE_PROTECT = "限时秒杀的商品不参加价格保护。"
FREIGHT = "质量问题的退货运费由卖家承担，其他退货由买家承担。"


@pytest.mark.parametrize(
    ("question", "passage", "kinds"),
    [
        ("为什么秒杀的不给价保", PRICE_PROTECT, ("reason",)),
        ("秒杀的给不给价保", PRICE_PROTECT, ()),
        ("设备为什么连不上", "设备连不上一般因为密码错误。", ()),
        ("退货邮费谁出", FREIGHT, ()),
        ("这个规定是谁拍的板", "退货期限为7天。", ("person",)),
        ("这个固件是哪天发布的", "固件修复了访客网络的问题。", ("day", "history")),
        ("账单哪天出", "账单在每月3日出账。", ()),
        ("我还有多少积分", "100积分抵1元。", ("own_account",)),
        ("一百积分抵多少钱", "100积分抵1元。", ()),
        ("你们59的套餐跟别家比哪个更划算", "59元套餐含30GB流量。", ("comparison",)),
        ("更新服务器地址念给我", "该代码表示更新服务器连接超时。", ("address",)),
        ("凭什么凭证保修", "保修凭电子订单或发票办理。", ()),
        ("", "", ()),
    ],
)
def test_what_is_asked_for_and_not_told(question: str, passage: str, kinds: tuple[str, ...]) -> None:
    """Only a kind that is plainly asked for, and only where the passage has no sign of it."""
    assert unmet(question, passage) == kinds

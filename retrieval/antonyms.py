"""Words that exclude one another: who, which way, which kind. Data, and the reader that finds them in a text.

Within a group each row is one member and its words; two members of a group cannot both be meant in one place.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final


@dataclass(frozen=True, slots=True)
class Group:
    """`near`: the group counts only in clauses that match it. `entity`: its members are things, not roles.

    `inherited`: asked about one member, a sentence that names none must not come from a passage about another.
    """

    name: str
    words: re.Pattern[str]
    starts: frozenset[str]
    near: re.Pattern[str] | None = None
    entity: bool = False
    inherited: bool = False


@dataclass(frozen=True, slots=True)
class Role:
    """Member number `member` of a group, at [start, end) of a folded text."""

    group: Group
    member: int
    word: str
    start: int
    end: int


def _starts(members: str) -> frozenset[str]:
    """The characters that a member may begin with: a text without any of them need not be searched."""
    found: set[str] = set()
    for word in re.split(r"\||/", members):
        word = re.sub(r"^\(\?<[!=][^)]*\)", "", word.strip())
        found.update(word[:1], word[2:3] if word[1:2] == "?" else "")
    return frozenset(found)


def _group(
    name: str, members: str, near: str = "", *, entity: bool = False, inherited: bool = False
) -> Group:
    words = "|".join(f"(?P<m{number}>{member.strip()})" for number, member in enumerate(members.split(" / ")))
    return Group(
        name, re.compile(words), _starts(members), re.compile(near) if near else None, entity, inherited
    )


_BODY: Final = "[肺眼耳肾肝膝髋肩臂腿手脚足上下颈腹胸乳心房室腰肘腕踝额颞顶枕面]"
_PAYS: Final = "由|联系|承担|支付|负担|付|垫|出钱|出(?=$|[，。；])|结清|退回|退还|返还|寄回|寄给|收取|取"

GROUPS: Final = (
    _group(
        "payer",
        "买家|买方|用户|客户|顾客|消费者|您自己|自己 / 卖家|卖方|商家|商户|澄湾|平台|商城|我们|我方",
        _PAYS,
    ),
    _group("parcel", "寄件人|寄件方|寄方|发件人 / 收件人|收件方|收货人|收方", inherited=True),
    _group("card", "主卡 / 副卡", inherited=True),
    _group("user", "新用户|新客户?|新人|新会员 / 老用户|老客户?|老会员", inherited=True),
    _group("border", "境内|国内|内地|大陆(?!架) / 境外|国外|海外|国际|出境"),
    _group("return", "退货|退款|退换?(?=$|[，。；]) / 换货|换新|更换"),
    _group("manual", "自动 / 手动|人工"),
    _group("open", "打开|开启|开通|启用 / 关闭|关掉|停用|关停"),
    _group("charge", "收取|收费|加收|另收|付费|扣费 / 免费|不收|不收取|不另收|包邮|免息"),
    _group("allow", "支持|允许|接受|同意 / 拒绝|禁止|谢绝"),
    _group("call", "呼出|主叫 / 呼入|被叫"),
    _group("port", "转入|迁入|流入|汇入 / 转出|迁出|流出|汇出"),
    _group("channel", "线上|网上 / 线下|门店|营业厅"),
    _group("form", "电子 / 纸质"),
    _group("stock", "现货 / 预售|定制"),
    _group("wire", "有线 / 无线"),
    _group("first", "首次|第1次 / 末次|最后1?次|第2次"),
    _group("half", "上午|早上|早晨|清晨 / 下午 / 晚上|夜间|晚间|傍晚"),
    _group("owner", "企业|公司|单位 / 个人|家庭", "认证|账户|宽带|用户"),
    _group("whole", "整单|全部|全额|全体 / 部分|一半|半数"),
    _group("fixed", "临时 / 长期|永久"),
    _group(
        "change",
        "增加|上升|增长|提高|上调|升高|上涨|增大|扩大|提升|增强|加强|上浮|加重|增多|延长"
        " / 减少|下降|降低|下调|下跌|缩小|缩减|削减|削弱|减弱|减轻|下滑|减小|缩短",
    ),
    _group("gain", "盈利|利润|获利|收益|赢利 / 亏损|损失"),
    _group("cash", "收入(?!院) / 支出|费用|成本"),
    _group("deal", "收购|买入|购买|购入|采购 / 出售|卖出|转让|处置|剥离"),
    _group("balance", "总?资产(?!负债|重组|收购|处置|重估|减值|结构|评估) / 总?负债(?!比)"),
    _group("court", "原告 / 被告(?!人)|被告人 / 被害人|受害人|受害者 / 辩护人 / 公诉机关|检察院"),
    _group("verdict", "有罪 / 无罪"),
    _group("guilt", "成立 / 不成立"),
    _group("legal", "合法 / 非法|违法|不法"),
    _group("mind", "故意 / 过失"),
    _group("side", f"左侧|左边|左(?={_BODY}) / 右侧|右边|右(?={_BODY}) / 双侧|两侧|双(?={_BODY})"),
    _group("limb", "上肢|上腹|上叶|上唇 / 下肢|下腹|下叶|下唇"),
    _group("test", "阳性 / 阴性"),
    _group("course", "急性 / 慢性"),
    _group("growth", "良性 / 恶性"),
    _group("sex", "男性?(?=[，。；、患]|$) / 女性?(?=[，。；、患]|$)"),
    _group("stay", "入院|住院 / 出院"),
    _group("degree", "轻度|轻微|轻型 / 中度 / 重度|严重|重型"),
    _group("normal", "正常|健康 / 异常|不正常"),
    _group("wed", "已婚 / 未婚 / 离异|离婚"),
    _group("dose", "口服 / 静脉|静滴|注射|肌注 / 外用|外敷"),
    _group("inside", "内侧 / 外侧"),
    _group("surgery", "术前 / 术中 / 术后"),
    _group("better", "好转|缓解|改善|减轻|减退|痊愈 / 恶化|加重|加剧"),
    _group("better2", "优势|优点|利好|有利 / 劣势|缺点|不利"),
    _group("strict", "普通|一般(?=商品|用户|会员) / 特殊|专用"),
    _group("paycard", "储蓄卡|借记卡 / 信用卡|贷记卡 / 礼品卡 / 余额(?!不足)", entity=True, inherited=True),
    _group("member", "银卡 / 金卡 / 黑卡 / 白金卡? / 钻石卡?", entity=True, inherited=True),
    _group(
        "land",
        "日本 / 美国 / 韩国 / 英国 / 法国 / 德国 / 泰国 / 新加坡 / 加拿大 / 澳大利亚|澳洲 / 俄罗斯 / 印度(?!尼) / 越南"
        " / 北美 / 欧洲 / 东南亚 / 香港 / 澳门 / 台湾",
        entity=True,
        inherited=True,
    ),
    _group(
        "device",
        "手机(?!号|卡|与|套|壳|贴膜) / 耳机 / 显卡 / 路由器 / 光猫 / 音箱 / 电视 / 冰箱 / 洗衣机 / 笔记本(?:电脑)?"
        " / 平板 / 手表 / 键盘 / 鼠标 / 投影仪 / 扫地机 / 充电宝 / 数据线 / 充电头 / 贴膜 / 显示器 / 机顶盒 / 摄像头",
        entity=True,
    ),
    _group(
        "fee",
        "运费|邮费 / 安装费 / 手续费 / 违约金 / 押金 / 检测费 / 人工费 / 零件费 / 上楼费 / 保价费 / 定金 / 尾款",
        entity=True,
    ),
    _group("time", "工作日 / 节假日|周末 / 自然日"),
    _group("proof", "身份证 / 营业执照 / 驾驶证 / 护照 / 户口本", entity=True),
)


@lru_cache(maxsize=8192)
def roles(text: str) -> tuple[Role, ...]:
    """Every member of every group in a folded text, in the order of the groups."""
    found = []
    held = set(text)
    for group in GROUPS:
        if group.starts.isdisjoint(held):
            continue
        if group.near and not group.near.search(text):
            continue
        for match in group.words.finditer(text):
            number = int((match.lastgroup or "m0")[1:])
            found.append(Role(group, number, match[0], match.start(), match.end()))
    return tuple(found)

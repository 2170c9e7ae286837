"""False sentences from true ones, one class of error each. What may still be true is left out by rule."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from guard.rewrites import pairs

FIGURE = re.compile(
    r"(?<![\d.,A-Za-z_:/-])(?P<value>\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)(?P<unit>%|个百分点|万美元|亿美元|美元|万元|亿元|元"
    "|个工作日|工作日|个月|小时|分钟|天|年|月|日|岁|次/分|次|台|张|件|倍|名|人|条|位|折|GB|MB|Mbps|cm|mm|kg|mg|ml|℃)"
)


@dataclass(frozen=True)
class Source:
    """A true sentence, its passage, and names of other documents to exchange for its own."""

    sentence: str
    passage: str
    names: Sequence[str]
    people: Sequence[str]


Mutation = Callable[[Source, random.Random], str | None]


def _places(text: str, old: str) -> Iterator[tuple[str, str]]:
    """What stands before and behind each place of a word."""
    for match in re.finditer(re.escape(old), text):
        yield text[: match.start()], text[match.end() :]


def _put(text: str, match: re.Match[str], new: str) -> str:
    return text[: match.start()] + new + text[match.end() :]


def _pick(options: list[str], source: Source, rng: random.Random) -> str | None:
    """One at random that is a real change and not itself in the passage."""
    real = [
        option
        for option in options
        if option != source.sentence and option.rstrip("。") not in source.passage
    ]
    return rng.choice(real) if real else None


def _is_calendar(match: re.Match[str]) -> bool:
    return match["unit"] == "年" and len(match["value"]) == 4


def digit(source: Source, rng: random.Random) -> str | None:
    """One digit changed; the new figure stands nowhere in the passage."""
    options = []
    for match in FIGURE.finditer(source.sentence):
        value = match["value"]
        i = rng.choice([i for i, char in enumerate(value) if char.isdigit()])
        new = value[:i] + rng.choice([d for d in "123456789" if d != value[i]]) + value[i + 1 :]
        same = float(new.replace(",", "")) == float(value.replace(",", ""))
        month = match["unit"] == "月" and float(new) > 12
        if not same and not month and not re.search(rf"(?<![\d.]){re.escape(new)}(?![\d.])", source.passage):
            options.append(_put(source.sentence, match, new + match["unit"]))
    return _pick(options, source, rng)


UNITS = dict(
    pairs(
        "元>美元 美元>元 万元>亿元 亿元>万元 万美元>万元 亿美元>亿元 天>个工作日 个工作日>天 工作日>天 "
        "个月>年 年>个月 小时>天 分钟>小时 %>个百分点 个百分点>% 岁>个月 GB>MB MB>GB cm>mm mm>cm mg>g "
        "ml>升 kg>克 台>件 次>天 倍>% Mbps>Gbps"
    )
)


def unit(source: Source, rng: random.Random) -> str | None:
    """The unit exchanged; calendar years are left alone."""
    options = [
        _put(source.sentence, match, match["value"] + UNITS[match["unit"]])
        for match in FIGURE.finditer(source.sentence)
        if match["unit"] in UNITS
        and not _is_calendar(match)
        and match["value"] + UNITS[match["unit"]] not in source.passage
    ]
    return _pick(options, source, rng)


BOUNDS = pairs(
    "不超过>至少 不低于>不高于 不少于>不超过 不得超过>不得少于 超过>不到 至少>最多 最多>至少 最高>最低 "
    "最低>最高 以上>以下 以下>以上 以内>以外 最长>最短 高于>低于 低于>高于 大于>小于 小于>大于 "
    "未满>超过 约>超过 左右>以上 多于>少于 少于>多于 约>- 左右>- 最多>- 至少>- 不超过>- 超过>-"
)
BEHIND_THE_FIGURE = ("以上", "以下", "以内", "左右")


def comparator(source: Source, rng: random.Random) -> str | None:
    """A bound turned, dropped or added beside a figure."""
    options = []
    for old, new in BOUNDS:
        for before, behind in _places(source.sentence, old):
            beside = before[-5:] if old in BEHIND_THE_FIGURE else behind[:6]
            word = behind[:1] in tuple("束定期日") or before[-1:] in tuple("预合契大不违签")
            if re.search(r"\d", beside) and not word:
                options.append(before + new + behind)
    for match in re.finditer("(?<=[天月时钟日])内(?![存容部地科])", source.sentence):
        options.append(_put(source.sentence, match, "后"))
    for match in re.finditer(r"(?<=[为是])(?=\d+(?:\.\d+)?(?:%|万|亿|元|天|小时))", source.sentence):
        options.append(_put(source.sentence, match, rng.choice(["不到", "超过", "至少", "最多"])))
    return _pick(options, source, rng)


RATES = pairs(
    "每月>每年 每年>每月 每天>每周 每日>每周 单笔>累计 每单>每件商品 累计>每次 首月>每月 每次>每年 "
    "同比>环比 每台>每次 每张>每月 每层>每单 每周>每月 每期>每年 每笔>每月 全年>上半年 每小时>每天 "
    "次/分>次/小时 每GB>每MB 每MB>每GB 年均>月均 年度收入>季度收入 年度净利润>季度净利润"
)


def rate(source: Source, rng: random.Random) -> str | None:
    """What a figure counts by, or the period it holds for, exchanged."""
    options = []
    for old, new in RATES:
        for before, behind in _places(source.sentence, old):
            clause = before[-6:] + re.split("[，。；]", behind)[0]
            if re.search(r"\d", clause) and new not in source.passage:
                options.append(before + new + behind)
    return _pick(options, source, rng)


def swap(source: Source, rng: random.Random) -> str | None:
    """A figure exchanged for another of the same unit in the passage."""
    found = list(FIGURE.finditer(source.sentence))
    here = {match[0] for match in found}
    options = []
    for match in found:
        others = [
            m for m in FIGURE.finditer(source.passage) if m["unit"] == match["unit"] and m[0] not in here
        ]
        options += [
            _put(source.sentence, match, m[0]) for m in others if _is_calendar(m) is _is_calendar(match)
        ]
    return _pick(options, source, rng)


NEGATED = pairs(
    "不支持>支持 不能>能 不可以>可以 不予>予以 没有>有 未见>可见 不会>会 不得>可以 不在>在 不需要>需要 "
    "未>已 无明显>有明显 否认>承认有 无法>可以 不含>含 不影响>影响 不收>收取 免收>收取 无须>必须 "
    "支持>不支持 可以>不可以 能够>不能 具有>没有 获得了>没有获得 完成了>没有完成 进行了>没有进行 "
    "存在>不存在 承认>没有承认 构成>不构成 导致>没有导致 提升了>没有提升 须>无须 需要>不需要 "
    "包括>不包括 享受>不享受 给予>不给予 无>有 影响>不影响 符合>不符合 增加了>没有增加 同意>不同意 "
    "采取了>没有采取 决定>没有决定 表明>不能表明"
)
NO_NEGATION_HERE = re.compile("[不未没无可非否功才性所拥占如必]$|可能$|方便$")
WORDS_WITH = {
    "无": re.compile("[线论理法需须人条限形菌期]"),
    "未": re.compile("[来成必婚]"),
    "影响": re.compile("[力了因，。范]|$"),
    "决定": re.compile("[的书权，。]|$"),
    "支持": re.compile("[和的，。]|$"),
    "没有": re.compile("[\u4e00-\u9fff]{1,3}的"),
}


def negation(source: Source, rng: random.Random) -> str | None:
    """A negation taken away or put in."""
    options = []
    for old, new in NEGATED:
        for before, behind in _places(source.sentence, old):
            word = old in WORDS_WITH and WORDS_WITH[old].match(behind)
            if not word and not NO_NEGATION_HERE.search(before):
                options.append(before + new + behind)
    return _pick(options, source, rng)


MODAL = pairs(
    "一般>- 通常>- 预计>- 预计>一定 可能>- 可能>一定 最快>- 原则上>- 建议>必须 建议>- 必须>可以 "
    "可以>必须 考虑为>确诊为 疑似>确诊 怀疑>确诊 须>可以 需要>可以 应当>可以 有望>一定 不排除>确诊 "
    "无须>不能 不需要>不能 往往>- 计划>已经 需>可以"
)
NOT_MODAL_BEFORE = re.compile("[不无必毋供所急亟的些出战略]$|(?<=[的和])建议$")
NOT_MODAL_BEHIND = {
    "一般": re.compile("状况|情况(?!下)|健康|检查|人"),
    "可能": re.compile("性|的"),
    "建议": re.compile("[和，。的、及与书]"),
    "需": re.compile("[求要]"),
    "需要": re.compile("的|[，。]"),
    "预计": re.compile("的"),
    "计划": re.compile("(?![加提实通增减进建采投改])"),
    "怀疑": re.compile("[，。]"),
}


def modality(source: Source, rng: random.Random) -> str | None:
    """A hedge dropped, or permission, duty and advice exchanged."""
    options = []
    for old, new in MODAL:
        for before, behind in _places(source.sentence, old):
            wrong = NOT_MODAL_BEFORE.search(before) or (
                old in NOT_MODAL_BEHIND and NOT_MODAL_BEHIND[old].match(behind)
            )
            planned = old != "计划" or re.search("(?:公司|集团|[还也并，])$", before)
            if planned and not wrong:
                options.append(before + new + behind)
    return _pick(options, source, rng)


ROLES = pairs(
    "买家>卖家 寄件人>收件人 主卡>副卡 新用户>老用户 境内>境外 收取>免收 自动>手动 退货>换货 退款>换货 "
    "由用户>由澄湾 增加>减少 上升>下降 增长>下降 提高>降低 收购>出售 流入>流出 盈利>亏损 总资产>总负债 "
    "左侧>右侧 上肢>下肢 阳性>阴性 急性>慢性 良性>恶性 男性>女性 被告人>被害人 原告>被告 入院>出院 "
    "术前>术后 好转>恶化 缓解>加重 正常>异常 轻度>重度 口服>静脉注射 升高>降低 扩大>缩小 打开>关闭 "
    "签收后>签收前 付款后>付款前 上午>下午 线上>线下 电子发票>纸质发票 保修期内>保修期外 整单>部分 "
    "呼出>呼入 转入>转出 减轻>加重 加强>削弱 提升>降低 故意>过失 长期>临时 已婚>未婚 餐前>餐后 "
    "公诉机关>辩护人 优势>劣势 上涨>下跌 内侧>外侧 收货人>寄件人 储蓄卡>信用卡 工作日>节假日"
)
NOT_BEFORE = {"被告": re.compile("人"), "工作日": re.compile("志")}


def role(source: Source, rng: random.Random) -> str | None:
    """A role or an antonym exchanged."""
    options = []
    for one, other in [*ROLES, *((new, old) for old, new in ROLES)]:
        for before, behind in _places(source.sentence, one):
            if not (one in NOT_BEFORE and NOT_BEFORE[one].match(behind)) and before[-1:] not in ("不", "免"):
                options.append(before + other + behind)
    return _pick(options, source, rng)


CONDITION = re.compile(
    "(?:如果|(?<![倘假])若(?!干)|如(?=[不有需遇未无])|一旦|只要|除非|只有在?"
    "|当(?![地天日晚时场前事庭年月局选])(?=[^，。；]{2,24}时，))[^，。；]{2,30}，"
    "|[^，。；]{2,24}(?:的情况下|的前提下|的条件下)，|除(?!了)[^，。；]{2,24}(?:外|之外|以外)，(?!还|也)"
    "|，[^，。；]{2,24}(?:除外|为限)(?=[，。])|(?:仅|(?<![不船])只)(?=[限由在能对支适])限?于?"
    "|，(?:但|不过)[^，。；]{4,40}(?:除外|不适用|不能用|不算)(?=[，。])"
    "|(?<![^。，；])[^，。；0-9]{3,20}[^同临小及当平按准]时，|^[^，。；]{3,20}[^目是有]的，"
)


def condition(source: Source, rng: random.Random) -> str | None:
    """A condition, limit or exception of the sentence left out."""
    options = []
    for match in CONDITION.finditer(source.sentence):
        inner = match[0][0] == "，" and match.end() < len(source.sentence) - 1
        option = (
            _put(source.sentence, match, "，" if inner else "").replace("，，", "，").replace("，。", "。")
        )
        if len(option) >= 8 and option[0] != "，":
            options.append(option)
    return _pick(options, source, rng)


CODE = re.compile(r"(?<![A-Za-z0-9])(?:[A-Z][A-Za-z]*[-_ ]?[A-Za-z]*\d+[A-Z]?(?![A-Za-z0-9.])|0x[0-9A-F]+)")
PERSON = re.compile(r"[^与和及等对被由将向为了的在于\W]某某?")


def entity(source: Source, rng: random.Random) -> str | None:
    """A name or code exchanged for one that the passage does not hold."""
    options = []
    for match in PERSON.finditer(source.sentence):
        others = [
            name for name in source.people if name[0] not in source.passage and len(name) == len(match[0])
        ]
        options += [_put(source.sentence, match, rng.choice(others))] if others else []
    for name in source.names:
        others = [other for other in source.names if other[:2] not in source.passage]
        if name in source.sentence and others:
            options.append(source.sentence.replace(name, rng.choice(others)))
    for match in CODE.finditer(source.sentence):
        new = match[0][:-1] + rng.choice([c for c in "13579" if c != match[0][-1]])
        if new not in source.passage and match[0] in source.passage:
            options.append(_put(source.sentence, match, new))
    return _pick(options, source, rng)


MUTATIONS: dict[str, Mutation] = {
    f.__name__: f for f in (digit, unit, comparator, rate, swap, negation, modality, role, condition, entity)
}

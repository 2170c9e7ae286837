"""Pure: where a text says who somebody is or where they live.

Names are found by what leads to them (我叫, 免贵姓, 收件人是, …), for nothing in a name itself sets it apart: 高峰 is
one after 我叫 and none before 时段. Addresses are found by a street or estate with a number, by three levels of
region, or by what leads to them (我住在, 寄到). Where a text could be either, it is taken for personal.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from voice_agent.record.secrets import WIDE, Secret

_SURNAMES = (
    "赵钱孙李周吴郑王冯陈褚卫蒋沈韩杨朱秦尤许何吕施张孔曹严华金魏陶姜戚谢邹喻柏窦章云苏潘葛奚范彭郎鲁韦昌马苗凤花方俞任袁柳鲍史唐费"
    "廉岑薛雷贺倪汤滕殷罗毕郝邬安常乐傅皮卞齐康伍余卜顾孟黄穆萧肖尹姚邵湛汪祁毛禹狄米贝臧伏戴谈宋茅庞熊纪舒屈项祝董梁杜阮蓝闵席季麻强"
    "贾路娄危江童颜郭梅盛林刁钟徐邱丘骆高夏蔡田樊胡凌霍虞万柯管卢莫房裘缪宗丁宣邓郁杭洪包诸左石崔吉龚程嵇邢滑裴陆荣翁荀羊惠甄曲封储靳"
    "糜松井段富巫乌焦巴弓牧山谷车侯班仰秋仲伊宫宁仇栾甘厉戎祖武符刘景詹束龙叶幸韶黎薄印宿白怀蒲卓蔺屠蒙池乔胥苍闻党翟谭贡劳姬申扶堵冉"
    "宰雍桑桂牛寿边扈燕冀浦尚农温庄晏柴瞿阎闫连茹习艾鱼容向古易慎戈廖庾居衡步耿弘匡文寇欧沃利蔚越隆师巩聂晁敖融冷辛阚简饶曾沙鞠丰巢关"
    "荆游竺权盖桓付代涂佟兰佘苟喀尕冼仝鄢揭覃阙战亓丛岳帅亢况"
)
_ALSO_WORDS = "于时应成明国查单解计平全元干支经从满能双别都后公红通广相家和那空须"
# Surnames too, but in a sentence seldom ones: believed only after 姓 and 我叫.
_DOUBLE = (
    "欧阳|上官|司马|诸葛|东方|皇甫|尉迟|公孙|慕容|令狐|司徒|长孙|宇文|夏侯|端木|南宫|独孤|轩辕|百里|呼延"
)

_HAN = "\u4e00-\u9fff"
_SURNAME = f"(?:{_DOUBLE}|[{_SURNAMES}])"
_ANY_SURNAME = f"(?:{_DOUBLE}|[{_SURNAMES}{_ALSO_WORDS}])"
_PARTICLES = "的了吗呢吧啊呀哦嘛是不到去过在就都也"
_GOES_ON = "想要问我来说和电手身住号订退换买查办打今昨现这那您你他她请麻先女小前下有报反咨之从给用没家"
# What follows a name of two characters in a caller's sentence; as the third of a name it is believed at a clause's end.
_GIVEN = f"[{_HAN}](?:[{_HAN}](?<![{_PARTICLES}{_GOES_ON}])|[{_GOES_ON}](?![{_HAN}A-Za-z0-9]))?"
_NAME = f"{_ANY_SURNAME}(?![{_PARTICLES}]){_GIVEN}"
_LIKELY_NAME = f"{_SURNAME}(?![{_PARTICLES}]){_GIVEN}"
_OTHER_NAME = f"(?![车{_PARTICLES}]|外卖|快递|客服|人工|师傅|骑手|取件|什么|啥)[{_HAN}]{{2,4}}(?![{_HAN}])"
_DOTTED = f"[{_HAN}]{{1,8}}(?:[·•・][{_HAN}]{{1,8}}){{1,3}}"
_LATIN = r"[A-Za-z][A-Za-z.'-]{1,20}(?: [A-Z][A-Za-z.'-]{0,20}){0,3}"
_GAP = r"[ :,，：、]{0,2}"

_NAMED = re.compile(
    rf"(?:我叫|我的?名字(?:叫|是)|我全名(?:叫|是)?|本人(?:叫|姓名)|免贵叫|名叫|大名叫?){_GAP}"
    rf"(?P<name>{_DOTTED}|{_NAME}|{_LATIN}|{_OTHER_NAME})"
)
_LABELLED = re.compile(
    r"(?:姓名|名字|收件人|收货人|寄件人|联系人|户名|户主|持卡人|开户人|机主)(?:就?是|叫|为|写的?是?|[ ：:])"
    rf"{_GAP}(?P<name>{_DOTTED}|{_LIKELY_NAME})"
)
_CALLED = re.compile(
    rf"(?:(?<=[,，。；; ])|(?<=姓[{_SURNAMES}{_ALSO_WORDS}]))叫{_GAP}(?P<name>{_LIKELY_NAME})"
)
_FAMILY = re.compile(
    rf"(?<![百同])姓(?!名|氏|什么|啥)(?:是)?{_GAP}(?P<name>{_ANY_SURNAME})(?:[，, ]?名叫?(?P<given>[{_HAN}]{{1,2}}))?"
)
_TITLED = re.compile(rf"(?:我是|这边是|这里是|本人)(?P<name>{_SURNAME})(?=先生|女士|小姐|太太|老师)")
_MAY_LEAD = re.compile("叫|姓|名|我是|[边里]是|本人|[件货系卡户]人|户主|机主")
_NAME_BEGUN = re.compile(rf"(?:我叫|名字(?:叫|是)|姓){_GAP}(?P<name>[{_HAN}A-Za-z]{{1,4}})\W*\Z")

_N = r"(?:\d{1,5}|[零〇一二三四五六七八九十百两幺]{1,6})"
_DOOR = rf"(?:[A-Za-z]|{_N})(?:之{_N}|-\d{{1,4}}){{0,2}}(?:号楼|号院|号|弄|栋|幢|座|单元|层|楼|室|户|房|组)"
_ESTATE = "小区|花园|公馆|苑|公寓|大厦|社区|家园"
_STREET = (
    "(?:(?<![电线网回短思一半顺上出带])路|街|(?<![通频轨管渠赛报知味])道|巷|胡同|村|屯|镇|" + _ESTATE + ")"
)
_SECTION = "(?:[东西南北中]?[一二三四五]?段)?[，, ]?"
_WITHIN = rf"(?:[，, ]?(?:[{_HAN}]{{2,8}}(?:{_ESTATE})[，, ]?)?{_DOOR}){{0,4}}"
_ROOM = r"(?:[，, ]?\d{3,4}(?![\d.元块天个]))?"
_HOUSE = re.compile(rf"(?P<street>[{_HAN}0-9]{{1,24}}{_STREET}){_SECTION}{_DOOR}{_WITHIN}{_ROOM}")
_HOUSE_BEGUN = re.compile(rf"(?P<place>[{_HAN}]{{1,24}}{_STREET}{_SECTION}{_N})\W*\Z")
_REGIONS = re.compile(
    rf"[{_HAN}]{{2,8}}(?:省|自治区|市)[，, ]?[{_HAN}]{{1,8}}(?:市|区|县|旗|州)[，, ]?"
    rf"[{_HAN}]{{1,10}}(?:区|县|镇|乡|村|街道|路|街|小区)"
)
_MAY_BE_PLACE = re.compile("[路街道巷村屯镇苑厦县旗州区寓园室号]|胡同|公馆|[住家]在|家住|住址")
_UNITS = "省|市|区|县|镇|乡|村|街|路|巷|弄|栋|幢|座|单元|室|号|楼|苑|花园"
_LIVES = re.compile(
    rf"(?:我?住在|家在|家住|住址[是为：:])[ ，,]?(?P<place>[{_HAN}A-Za-z0-9-]{{2,30}}(?:{_UNITS}))"
)
_SENT_TO = re.compile(
    rf"(?:地址[是为改成：:到]{{1,3}}|寄到|寄往|送到|发到)[ ，,]?"
    rf"(?P<place>[{_HAN}A-Za-z0-9-]{{1,20}}(?:{_UNITS})[{_HAN}A-Za-z0-9-]{{1,20}}(?:{_UNITS}))"
)
_PLACE_BEGUN = re.compile(
    rf"(?:住在|家在|家住|住址是|地址是|寄到|送到){_GAP}(?P<place>[{_HAN}A-Za-z0-9-]{{2,}})\W*\Z"
)
_LEADS_TO_PLACE = re.compile(
    "住在|家在|家住|住址[是为]?|地址[是为]?|[寄送发]到|寄往|位于|改成|我在|就在|[在是到去来]"
)
_ASKING = re.compile("哪|什么|怎么|多久|几|吗|多少|能不能|是否")

_TAIL_CHARS = 200
_LEAST_STREET = 2


def find_names(text: str) -> list[Secret]:
    """Names of people, by the words that lead to them."""
    if not _MAY_LEAD.search(text):
        return []
    folded = text.translate(WIDE)
    found = []
    for pattern in (_NAMED, _LABELLED, _CALLED, _FAMILY, _TITLED):
        for m in pattern.finditer(folded):
            found += [_secret("NAME", m, group) for group in m.groupdict() if m[group] is not None]
    return found


def find_addresses(text: str) -> list[Secret]:
    """Where somebody lives or has things sent."""
    if not _MAY_BE_PLACE.search(text):
        return []
    folded = text.translate(WIDE)
    found = []
    for m in _HOUSE.finditer(folded):
        start = _led_to(m)
        if m.end("street") - start >= _LEAST_STREET:
            found.append(Secret("ADDRESS", start, m.end(), folded[start : m.end()]))
    for m in _REGIONS.finditer(folded):
        if not _ASKING.search(m[0]):
            start = _led_to(m)
            found.append(Secret("ADDRESS", start, m.end(), folded[start : m.end()]))
    for pattern in (_LIVES, _SENT_TO):
        found += [
            _secret("ADDRESS", m, "place") for m in pattern.finditer(folded) if not _ASKING.search(m["place"])
        ]
    return found


def find_person_begun(text: str) -> list[Secret]:
    """A name or address at the end of a text that is still being spoken."""
    start = max(0, len(text) - _TAIL_CHARS)
    tail = text[start:].translate(WIDE)
    found = []
    for kind, pattern in (("NAME", _NAME_BEGUN), ("ADDRESS", _PLACE_BEGUN), ("ADDRESS", _HOUSE_BEGUN)):
        if m := pattern.search(tail):
            found.append(Secret(kind, start + m.start(1), start + m.end(1), m[1]))
    return found


PEOPLE: tuple[Callable[[str], list[Secret]], ...] = (find_addresses, find_names)


def _led_to(m: re.Match[str]) -> int:
    """Where the place begins in what stands before its last part: after the last word that leads to it."""
    last = m.end("street") - 1 if "street" in m.groupdict() else m.start() + 4
    leads = [lead.end() for lead in _LEADS_TO_PLACE.finditer(m.string, m.start(), last)]
    return max([m.start(), *(end for end in leads if end < last)])


def _secret(kind: str, m: re.Match[str], group: str) -> Secret:
    return Secret(kind, m.start(group), m.end(group), m[group])

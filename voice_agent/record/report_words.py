"""What the report calls things in Chinese. Pure; a code that has no word here is shown as it is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from voice_agent.record.values import Relation
from voice_agent.record.waterfall import Lane

LANE: Final[Mapping[Lane, str]] = {
    "caller": "来电者",
    "vad": "人声检测",
    "partial": "边听边认",
    "endpoint": "断句",
    "asr": "听写",
    "search": "检索门控",
    "write": "成句",
    "check": "核对",
    "speech": "合成等候",
    "play": "播放",
    "floor": "话权",
}

FLOOR: Final[Mapping[str, str]] = {
    "paused": "暂停",
    "resumed": "接着说",
    "barge_in": "打断",
    "halt": "中止",
    "handoff": "转人工",
    "handoff_unspoken": "转接语没有说出",
    "error": "故障",
    "device": "声卡",
}

OUTCOME: Final[Mapping[str, str]] = {
    "answered": "已回答",
    "clarify": "已反问",
    "refused": "未回答",
    "blocked": "核对拦下",
    "failed": "出错",
    "interrupted": "被打断",
    "asked": "要求人工",
    "courtesy": "客套",
    "repeated": "重说一遍",
    "goodbye": "道别",
    "said": "固定用语",
    "unfinished": "未完成",
}

ENDING: Final[Mapping[str, str]] = {
    "handed_off": "转人工",
    "callback": "留待回电",
    "handoff_failed": "转人工未成",
    "hung_up": "挂断",
    "goodbye": "道别",
    "no_answer": "无人应答",
    "max_length": "通话过长",
}

GATE: Final[Mapping[str, str]] = {"ANSWER": "回答", "CLARIFY": "反问", "REFUSE": "不答"}

STAGE: Final[Mapping[str, str]] = {
    "asr": "听写",
    "recall": "召回",
    "rerank": "重排",
    "gate": "门控",
    "generate": "生成",
    "check": "核对",
    "speech": "说出",
}

HANDOFF: Final[Mapping[str, str]] = {
    "VERDICT": "核对不过",
    "GATE": "门控不答",
    "ASKED": "来电者要求",
    "LOW_ASR": "听不清",
    "FAULT": "故障",
    "MAX_LENGTH": "通话过长",
}

REASON: Final[Mapping[str, str]] = {
    "NO_INDEX": "没有可查的资料",
    "EMPTY_QUERY": "没有可查的词",
    "LOW_SCORE": "把握不够",
    "CODE_UNCOVERED": "编号不在资料里",
    "SLOT_MISSING": "资料没写所问的数",
    "AMBIGUOUS": "问得不明确",
    "CONFLICT": "资料互相矛盾",
    "CONDITION_UNMET": "条件不合",
    "CHANNEL_DOWN": "一路检索没有结果",
    "ASR_LOW": "听写没把握",
    "MUST_HANDOFF": "规定转人工",
    "NO_CITE": "没有引用",
    "BAD_ID": "引用的编号不存在",
    "STALE": "资料已失效",
    "NUM_UNSUPPORTED": "数值没有依据",
    "UNIT_MISMATCH": "单位不符",
    "COMPARATOR": "界限不符",
    "ENTITY_MISMATCH": "说的不是同一样东西",
    "ROLE_OR_ANTONYM": "谁对谁说反了",
    "POLARITY": "是与不是说反了",
    "MODALITY": "语气说过头了",
    "SCOPE_DROPPED": "丢了条件",
    "IRRELEVANT": "与所引资料无关",
    "NOT_ENTAILED": "推不出来",
    "UNCHECKABLE": "无法核对",
    "CHECK_ERROR": "核对出错",
}

RELATION: Final[Mapping[Relation, str]] = {
    "same": "相同",
    "bound or rate differs": "界限或比率不同",
    "unit differs": "单位不同",
    "value differs": "数值不同",
    "absent": "依据中没有",
}

LAYER: Final[Mapping[str, str]] = {
    "bm25": "词面",
    "dense": "语义",
    "phonetic": "读音",
    "examples": "例问",
    "fused": "融合",
    "reranked": "重排",
}


def word(names: Mapping[str, str], code: str | None) -> str:
    """The word for a code; the code where there is none; empty for None."""
    return names.get(code, code) if code else ""


def coded(names: Mapping[str, str], code: str | None) -> str:
    """把握不够 LOW_SCORE: the word and the code, as operators search for both."""
    name = word(names, code)
    return name if name == (code or "") else f"{name} {code}"

"""How well recordings were heard: characters, the knowledge base's own words, codes and figures. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from audio.cer import character_error_rate, characters, edit_distance
from retrieval import metrics
from retrieval.codes import find_codes
from retrieval.domain_terms import LONGEST, DomainTerms, sound_key
from retrieval.facts import quantities
from retrieval.normalize import canonical
from retrieval.numbers import UNITS
from retrieval.pinyin import readings
from voice_agent.evaluation.measures import rate_of, rounded
from voice_agent.evaluation.recordings import Heard

Kept = Callable[[str], Counter[str]]
"""What of a text must be heard, repeats counted."""


def heard_measures(heard: Sequence[Heard], terms: DomainTerms) -> dict[str, Any]:
    """The error rate over all that was said, and the share of domain terms, codes and figures that arrived.

    A figure arrives with its unit in whatever form it is written: 三个工作日 is 3个工作日.
    """
    spoken = [one for one in heard if characters(one.said)]
    errors = sum(edit_distance(characters(one.said), characters(one.text)) for one in spoken)
    total = sum(len(characters(one.said)) for one in spoken)
    exact = sum(characters(one.said) == characters(one.text) for one in spoken)
    return {
        "recordings": len(heard),
        "cer": rounded(errors / total) if total else None,
        "exact": rate_of(exact, len(spoken)),
        "heard_in_silence": sum(bool(one.text) for one in heard if not characters(one.said)),
        "dropped": dict(Counter(one.dropped for one in heard if one.dropped).most_common()),
        "keywords": _arrived(spoken, lambda text: keywords(text, terms)),
        "codes": _arrived(spoken, codes),
        "numbers": _arrived(spoken, figures),
        "invented_numbers": sum((figures(one.text) - figures(one.said)).total() for one in spoken),
        "asr_ms": {
            "p50": rounded(metrics.percentile([one.ms for one in heard], 0.5), 1),
            "p95": rounded(metrics.percentile([one.ms for one in heard], 0.95), 1),
        },
    }


def _arrived(heard: Sequence[Heard], kept: Kept) -> dict[str, float | int | None]:
    said = [kept(one.said) for one in heard]
    got = [(wanted & kept(one.text)).total() for wanted, one in zip(said, heard, strict=True)]
    return rate_of(sum(got), sum(wanted.total() for wanted in said))


def keywords(text: str, terms: DomainTerms) -> Counter[str]:
    """The corpus's own terms in the text, the longest at each place, none overlapping."""
    simple = canonical(text)
    found: Counter[str] = Counter()
    at = 0
    while at < len(simple):
        length = next((n for n in range(LONGEST, 1, -1) if _is_term(simple[at : at + n], n, terms)), 0)
        if length:
            found[simple[at : at + length]] += 1
        at += max(length, 1)
    return found


def _is_term(piece: str, length: int, terms: DomainTerms) -> bool:
    if len(piece) < length:
        return False
    sounds = readings(piece)
    return all(sounds) and any(term.text == piece for term in terms.sounding(sound_key(sounds)))


def codes(text: str) -> Counter[str]:
    """Order numbers, error codes and models, by their key."""
    return Counter(code.key for code in find_codes(canonical(text)))


def figures(text: str) -> Counter[str]:
    """Figures with their unit, outside codes. A breath is written as a blank: an odd word behind it is no unit."""
    simple = canonical(text)
    found: Counter[str] = Counter()
    for quantity in quantities(simple):
        breath = simple[quantity.end : quantity.end + 1] == " "
        found[quantity.value if breath and quantity.unit not in UNITS else quantity.key] += 1
    return found


def heard_row(heard: Heard) -> dict[str, Any]:
    """One recording for the record."""
    cer = character_error_rate(heard.said, heard.text) if characters(heard.said) else None
    return {
        "said": heard.said,
        "text": heard.text,
        "cer": rounded(cer),
        "confidence": rounded(heard.confidence),
        "dropped": heard.dropped,
    }

"""Which of the passages found an answer may be written from: the best, and those that come close to it. Pure.

A weak model reads from whatever lies before it, though the best passage holds the very code that was asked for. Of 396
answerable questions of `data/eval` that the gate lets through, the right passage is among the citable of 395, and 1.1
passages are citable in the mean.
"""

from __future__ import annotations

from dataclasses import dataclass

from retrieval.code_book import CodeBook
from retrieval.gauge import level
from retrieval.rerank import Scale
from retrieval.types import Evidence, Found


@dataclass(frozen=True, slots=True)
class Citable:
    """At most `most` passages: none that is `lead` or more behind the best on the reranker's scale (see `level`), and
    none that answers for fewer of the asked codes, by `codes`, than the best does.
    """

    codes: CodeBook
    scale: Scale
    most: int = 3
    lead: float = 0.05

    def __call__(self, found: Found) -> tuple[Evidence, ...]:
        """Best first; the best is always among them."""
        best, asked = found.evidence[: self.most], found.query.codes
        if not best:
            return ()
        held = self.codes.covered(best[0].passage.id, asked) or 0.0
        return tuple(
            one
            for one in best
            if one is best[0]
            or (self._near(best[0], one) and (self.codes.covered(one.passage.id, asked) or 0.0) >= held)
        )

    def _near(self, best: Evidence, one: Evidence) -> bool:
        """Nothing is left out for a score that is not there."""
        if best.rerank is None or one.rerank is None:
            return True
        return level(best.rerank, self.scale) - level(one.rerank, self.scale) < self.lead

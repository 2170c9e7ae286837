"""Which characters of a growing guess can be relied on: what two successive guesses agree on. Pure.

Whisper guesses anew at every partial, so its last characters change and its punctuation comes and goes. A character is
settled when two guesses in a row have it in the same place, counted in letters and digits alone and in one script.
"""

from __future__ import annotations

from dataclasses import dataclass

from audio.script import to_simplified


@dataclass(frozen=True, slots=True)
class Guesses:
    """The newest guess as it was written, and how many of its letters are settled."""

    text: str = ""
    letters: str = ""
    settled: int = 0

    @property
    def settled_text(self) -> str:
        """The part of the newest guess that will not change any more, punctuation inside it included."""
        count = 0
        for i, char in enumerate(self.text):
            if count == self.settled:
                return self.text[:i]
            count += char.isalnum()
        return self.text if self.settled else ""


def agree(before: Guesses, text: str) -> Guesses:
    """The next guess. What was settled stays settled: a guess that denies it is not believed.

    >>> agree(agree(Guesses(), "我想退宽"), "我想，退款多久").settled_text
    '我想，退'
    """
    letters = bare(to_simplified(text))
    if letters[: before.settled] != before.letters[: before.settled]:
        return before
    common = 0
    for mine, theirs in zip(letters, before.letters, strict=False):
        if mine != theirs:
            break
        common += 1
    return Guesses(text, letters, max(common, before.settled))


def bare(text: str) -> str:
    """Letters and digits alone, in lower case: what two texts are compared by where punctuation does not count."""
    return "".join(char for char in text.casefold() if char.isalnum())

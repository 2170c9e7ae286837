"""How far heard text is from what was said: the character error rate of Chinese speech recognition."""

from __future__ import annotations

import unicodedata

from audio.script import to_simplified


def characters(text: str) -> str:
    """What the error rate compares: letters and digits of one width, one case and one script; nothing else.

    >>> characters("ＥＲＲ_2048，怎麼辦？")
    'err2048怎么办'
    """
    folded = to_simplified(unicodedata.normalize("NFKC", text)).casefold()
    return "".join(character for character in folded if character.isalnum())


def character_error_rate(reference: str, heard: str) -> float:
    """Fewest characters to insert, delete or replace to make `heard` the reference, per character of the reference.

    0.0 is perfect; above 1.0 when much was heard that nobody said. Raises ValueError for a reference without
    characters: such a rate does not exist and must not enter a mean.
    """
    said, got = characters(reference), characters(heard)
    if not said:
        raise ValueError("a reference without letters or digits has no error rate: leave it out of the mean")
    return edit_distance(said, got) / len(said)


def edit_distance(one: str, other: str) -> int:
    """Levenshtein distance by rows, O(len(one) * len(other)) time and O(len(other)) memory."""
    row = list(range(len(other) + 1))
    for i, left in enumerate(one, start=1):
        above = row
        row = [i]
        for j, right in enumerate(other, start=1):
            row.append(min(above[j] + 1, row[j - 1] + 1, above[j - 1] + (left != right)))
    return row[-1]

"""One script: whatever mixture of Traditional and Simplified a recogniser writes becomes Simplified.

Whisper changes script from one utterance to the next, so text is converted once, where it leaves the recogniser;
retrieval, display and tests then see one form.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from audio.errors import ModelError


def to_simplified(text: str) -> str:
    """Traditional characters replaced by their Simplified forms, everything else kept; idempotent.

    Phrases are looked at before characters (乾燥 -> 干燥, 乾隆 stays), and Taiwan's 著 becomes 着 where it is one:
    that is the Traditional Whisper writes. Words are not exchanged. The tables load on the first call, once a
    process. Raises ModelError when they cannot be read.
    """
    return _converter()(text)


@cache
def _converter() -> Callable[[str], str]:
    # Imported here: whoever never recognises speech needs no conversion tables.
    try:
        from opencc import OpenCC

        convert: Callable[[str], str] = OpenCC("tw2s").convert
    except (ImportError, OSError, RuntimeError) as fault:
        raise ModelError(
            f"opencc: the conversion tables do not load ({fault}): install the package again"
        ) from fault
    return convert

"""The frame of a page that is one file: its head, and a policy under which it can load nothing and send nothing. Pure.

Only the script given here runs: the policy names its hash, so that no other would, even if one came in with a text.
"""

from __future__ import annotations

import hashlib
import re
from base64 import b64encode
from html import escape

from voice_agent.page.style import SHEET

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]+")
# Also what turns the writing direction, and halves of surrogate pairs, which no file can hold.


def shown(text: object) -> str:
    """A text from outside as markup-free HTML, fit for an element and for a quoted attribute."""
    return escape(_CONTROL.sub("\N{REPLACEMENT CHARACTER}", str(text)))


def page(title: str, body: str, style: str = "", script: str = "") -> str:
    """The whole file. `title` is plain text; `body` is HTML; `style` follows the common sheet."""
    code = f"<script>{script}</script>" if script else ""
    return (
        f'<!doctype html><html lang="zh"><head><meta charset="utf-8"><title>{shown(title)}</title>'
        f'<meta http-equiv="Content-Security-Policy" content="{escape(_policy(script))}">'
        f'<meta name="viewport" content="width=device-width,initial-scale=1"><style>{SHEET}{style}</style></head>'
        f"<body>{body}{code}</body></html>\n"
    )


def _policy(script: str) -> str:
    parts = ["default-src 'none'", "base-uri 'none'", "form-action 'none'", "style-src 'unsafe-inline'"]
    if script:
        digest = b64encode(hashlib.sha256(script.encode()).digest()).decode()
        parts += [f"script-src 'sha256-{digest}'", "media-src data:"]
    return "; ".join(parts)

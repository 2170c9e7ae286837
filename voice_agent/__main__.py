"""`python -m voice_agent` is the same as `voice-agent`."""

from __future__ import annotations

import sys

from voice_agent.launcher import main

if __name__ == "__main__":
    sys.exit(main())

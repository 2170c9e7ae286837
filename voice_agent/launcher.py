"""The console script: sets what must be set before numpy and the engines are imported, then opens the door.

Thread pools read their size once, at import. All engines share the machine, so the pools of the libraries beneath them
stay at one thread; each engine is then given its own budget by the configuration (`threads`).
"""

from __future__ import annotations

import os
import sys

_POOLS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")


def main() -> int:
    """Runs the command line; returns its exit code."""
    for name in _POOLS:
        os.environ.setdefault(name, "1")
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
    from voice_agent.doors.cli import run

    return run(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())

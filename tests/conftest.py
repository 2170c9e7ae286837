"""Settings every test shares."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("ours", deadline=None)  # tests never assert wall time; CI machines are noisy
settings.load_profile("ours")

"""Faults of the agent itself.

AgentError
├── ConfigError     the configuration names something that does not exist or cannot be (exit 2)
├── InputError      a file or argument the user gave cannot be used (exit 2)
├── WeightsError    a model file is missing, unreachable or has the wrong hash (exit 2)
└── LoadError       a part could not be made ready (exit 1)
"""

from __future__ import annotations


class AgentError(Exception):
    """Any fault of the agent package. Its message is one line: what, where, how to mend."""


class ConfigError(AgentError):
    """config.yaml or an override is wrong; the message names the key."""


class InputError(AgentError):
    """A path or argument cannot be used."""


class WeightsError(AgentError):
    """A model file is missing, unreachable, or not the one we know."""


class LoadError(AgentError):
    """A part could not be built or warmed."""

"""Single settings put over a configuration file's: from the environment and from the command line. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import yaml

from voice_agent.errors import ConfigError

PREFIX: Final = "VOICE_AGENT__"
"""VOICE_AGENT__SECTION__KEY=VALUE overrides section.key of the file."""


def override_by_environment(values: dict[str, Any], environment: Mapping[str, str]) -> None:
    """Every variable with the prefix. Raises ConfigError naming the variable."""
    for name, text in sorted(environment.items()):
        if name.startswith(PREFIX):
            key = name.removeprefix(PREFIX).replace("__", ".").lower()
            apply(values, f"{key}={text}", name)


def apply(values: dict[str, Any], override: str, where: str) -> None:
    """Puts `section.key=value`, the value as YAML. Raises ConfigError, which begins with `where`."""
    key, equals, text = override.partition("=")
    *sections, last = key.split(".")
    if not equals or not last:
        raise ConfigError(f"{where}: write it as section.key=value")
    here = values
    for section in sections:
        here = here.setdefault(section, {})
        if not isinstance(here, dict):
            raise ConfigError(f"{where}: {section} is a value, not a section")
    try:
        here[last] = yaml.safe_load(text)
    except yaml.YAMLError as e:
        raise ConfigError(f"{where}: not a YAML value") from e

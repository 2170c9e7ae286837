"""API keys: shown once when made, kept only as SHA-256 hashes, and asked for in the Authorization header alone.

A key is 256 random bits, so its plain hash cannot be guessed back. `ask` keys may ask; `admin` keys may also read calls
and reload the knowledge base.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, cast, get_args

from voice_agent.errors import ConfigError
from voice_agent.service.problem import Problem

Role = Literal["ask", "admin"]

ENVIRONMENT: Final = "VOICE_AGENT_API_KEYS"
PREFIX: Final = "va_"
"""Begins every key, so that one in a URL, a log or a repository is recognised."""

_ENTRY: Final = re.compile(r"(ask|admin):([0-9a-f]{64})")
_SHOWN: Final = 8


@dataclass(frozen=True, slots=True)
class Client:
    """Who asks: the first digits of the key's hash, or `local` where no key is needed."""

    name: str
    role: Role


LOCAL: Final = Client("local", "ask")
"""Anyone on this machine, while the service listens only here and has no keys."""


class KeyRing:
    """The keys that are accepted. An empty one accepts everybody as LOCAL: only for the loopback interface."""

    def __init__(self, roles: Mapping[str, Role]) -> None:
        self._roles = dict(roles)

    def __len__(self) -> int:
        return len(self._roles)

    def who(self, authorization: str | None) -> Client:
        """The client of an Authorization header. Raises Problem."""
        if not self._roles:
            return LOCAL
        scheme, _, key = (authorization or "").partition(" ")
        if scheme.lower() != "bearer" or not key:
            raise Problem("no-key", "send the key in the header `Authorization: Bearer KEY`")
        given = hash_of(key.strip())
        # Every hash is compared, so the time tells nothing about which one nearly fits.
        found = [known for known in self._roles if hmac.compare_digest(known, given)]
        if not found:
            raise Problem("no-key", "this key is not known; ask the operator for one")
        return Client(found[0][:_SHOWN], self._roles[found[0]])


def new_key() -> tuple[str, str]:
    """A fresh key and its hash."""
    key = PREFIX + secrets.token_urlsafe(32)
    return key, hash_of(key)


def hash_of(key: str) -> str:
    """SHA-256 in hexadecimal digits."""
    return hashlib.sha256(key.encode("utf-8", "surrogateescape")).hexdigest()


def read_keys(environment: str, file: Path | None) -> KeyRing:
    """The keys of the variable and the file, each entry `ask:HASH` or `admin:HASH`, apart by commas or lines.

    Raises ConfigError.
    """
    roles = _roles(environment.replace(",", "\n").splitlines(), ENVIRONMENT)
    if file is not None:
        try:
            lines = file.read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError) as e:
            raise ConfigError(f"service.keys_file: {file} cannot be read ({e}); name a text file") from e
        roles |= _roles(lines, str(file))
    return KeyRing(roles)


def _roles(lines: Iterable[str], where: str) -> dict[str, Role]:
    roles: dict[str, Role] = {}
    for number, line in enumerate(lines, start=1):
        entry = line.partition("#")[0].strip()
        if not entry:
            continue
        found = _ENTRY.fullmatch(entry)
        if found is None:  # not shown: it may be a key where its hash was meant
            roles_known = " or ".join(f"{role}:HASH" for role in get_args(Role))
            raise ConfigError(
                f"{where}:{number}: not {roles_known}; voice-agent serve --new-key ask makes a key and its entry"
            )
        roles[found[2]] = cast(Role, found[1])
    return roles

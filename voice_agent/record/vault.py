"""What a call's placeholders stand for, encrypted beside its journal, where an operator has laid down a key.

`<call>.vault`: one Fernet token a line, each of them one placeholder and its value. Without `privacy.key_env` there is
no such file, and what was masked is gone for good.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from voice_agent.errors import AgentError, ConfigError, InputError
from voice_agent.record.journal import check_call_id
from voice_agent.record.privacy import Masker

if TYPE_CHECKING:
    from cryptography.fernet import Fernet

_OWNER_ONLY = 0o600


@contextmanager
def masking(key_env: str, folder: Path, call: str) -> Iterator[Masker]:
    """The masker of one call. `key_env` names the variable that holds the key; "" keeps nothing.

    Raises ConfigError when the key or the library is missing, InputError when the file exists or cannot be made.
    """
    if not key_env:
        yield Masker()
        return
    lock = opened_by(key_env)
    path = folder / f"{check_call_id(call)}.vault"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND, _OWNER_ONLY)
    except OSError as e:
        raise InputError(f"{path}: cannot be written ({e.strerror}); choose another call id or folder") from e

    def keep(placeholder: str, value: str) -> None:
        token = lock.encrypt(json.dumps([placeholder, value]).encode())
        try:
            os.write(descriptor, token + b"\n")
        except OSError as e:
            raise AgentError(f"{path}: a value is lost ({e.strerror}); free some disk space") from e

    try:
        yield Masker(named=keep)
    finally:
        os.close(descriptor)


def opened_by(key_env: str) -> Fernet:
    """The lock that this variable's key opens. Raises ConfigError."""
    try:
        from cryptography.fernet import Fernet
    except ImportError as e:
        raise ConfigError("privacy.key_env: needs the extra vault; pip install 'voice-agent[vault]'") from e
    try:
        return Fernet(os.environ[key_env])
    except KeyError as e:
        raise ConfigError(f"privacy.key_env: {key_env} is not set; export it or leave key_env empty") from e
    except ValueError as e:
        raise ConfigError(f"{key_env}: no Fernet key (32 bytes in URL-safe base64); make one with it") from e


def reveal(path: Path, lock: Fernet) -> dict[str, str]:
    """Placeholder -> value, as first said. A last line cut off by a kill is left out.

    Raises InputError when there is no such file or another key locked it.
    """
    from cryptography.fernet import InvalidToken

    try:
        *tokens, _ = path.read_bytes().split(b"\n")
        return dict(json.loads(lock.decrypt(token)) for token in tokens)
    except OSError as e:
        raise InputError(f"{path}: cannot be read ({e.strerror}); this call was kept without a key") from e
    except InvalidToken as e:
        raise InputError(f"{path}: another key locked it, or it was changed; set the key of that time") from e

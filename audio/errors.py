"""What can go wrong with sound, split by whose fault it is.

AudioError
├── FormatError      the file or stream is not audio we read (the user mends the input)
├── DeviceError      a microphone or loudspeaker failed (the user mends the device)
└── ModelError       a recogniser, detector or synthesiser failed (we or the model's files)
    └── SpeechError  a speech service failed, by kind of fault (the service or the way to it)
"""

from __future__ import annotations

from enum import StrEnum


class AudioError(Exception):
    """Any fault of the audio package. Its message is one line: what, where, how to mend."""


class FormatError(AudioError):
    """The bytes are not audio this package reads."""


class DeviceError(AudioError):
    """A sound device is missing, refused or gone."""


class ModelError(AudioError):
    """A model could not be loaded or failed while running."""


class SpeechFault(StrEnum):
    """What went wrong with a speech service."""

    UNREACHABLE = "TTS_UNREACHABLE"
    FORBIDDEN = "TTS_FORBIDDEN"
    NO_AUDIO = "TTS_NO_AUDIO"
    SLOW = "TTS_SLOW"
    CUT = "TTS_CUT"
    GARBLED = "TTS_GARBLED"
    RESTING = "TTS_RESTING"


class SpeechError(ModelError):
    """A speech service gave no usable sound. `fault` is the kind, the message one line."""

    def __init__(self, fault: SpeechFault, message: str) -> None:
        super().__init__(" ".join(message.split()))
        self.fault = fault

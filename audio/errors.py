"""What can go wrong with sound, split by whose fault it is.

AudioError
├── FormatError      the file or stream is not audio we read (the user mends the input)
├── DeviceError      a microphone or loudspeaker failed (the user mends the device)
└── ModelError       a recogniser, detector or synthesiser failed (we or the model's files)
"""

from __future__ import annotations


class AudioError(Exception):
    """Any fault of the audio package. Its message is one line: what, where, how to mend."""


class FormatError(AudioError):
    """The bytes are not audio this package reads."""


class DeviceError(AudioError):
    """A sound device is missing, refused or gone."""


class ModelError(AudioError):
    """A model could not be loaded or failed while running."""

"""Our G.711 against the codec of FFmpeg, which comes with av."""

from __future__ import annotations

import av
import numpy as np
import pytest

from audio import pcm


@pytest.mark.parametrize(("codec", "law"), [("pcm_mulaw", "mulaw"), ("pcm_alaw", "alaw")])
def test_every_code_means_what_it_means_to_others(codec: str, law: str) -> None:
    """All 256 codes decode to the same values as FFmpeg's."""
    codes = np.arange(256, dtype=np.uint8)
    decoder = av.CodecContext.create(codec, "r")
    assert isinstance(decoder, av.AudioCodecContext)
    decoder.sample_rate, decoder.layout = 8_000, "mono"
    theirs = np.concatenate([f.to_ndarray() for f in decoder.decode(av.Packet(codes.tobytes()))], axis=1)[0]
    ours = pcm.mulaw_to_int16(codes) if law == "mulaw" else pcm.alaw_to_int16(codes)
    assert ours.tolist() == theirs.tolist()

"""The telephone door: calls that come over a provider's media stream or from Asterisk, at 8 kHz."""

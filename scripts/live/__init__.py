"""Measuring calls that are replayed at the pace at which they were spoken."""

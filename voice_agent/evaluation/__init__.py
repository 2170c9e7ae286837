"""Measuring the agent: labelled questions or recordings in, the measures of every layer out."""

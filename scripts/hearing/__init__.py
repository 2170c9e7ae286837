"""What the benches of hearing share: sounds in which nobody speaks, short words that callers say, the way to a turn."""

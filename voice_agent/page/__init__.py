"""Pages that are one file and need nothing else: their looks, their frame, their plots. Pure."""

"""From a heard question to checked, speakable sentences."""

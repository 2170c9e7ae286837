"""How many workers a load needs, by a short simulation."""

"""Where model files come from and how they are proved to be the right ones."""

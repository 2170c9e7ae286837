"""Pure decisions about who may speak."""

"""From a question to evidence and a decision, and from a sentence to a verdict. Synchronous; knows no sound."""

"""What the configuration names of the knowledge base, read from disk: its passages. Light enough for every door."""

from __future__ import annotations

from retrieval.chunk import ChunkRules
from retrieval.corpus import Corpus, load_corpus
from voice_agent.config import Config


def read_corpus(config: Config) -> Corpus:
    """The knowledge base in passages of the configured size. Raises CorpusError."""
    sizes = config.chunks
    rules = ChunkRules.of_tokens(sizes.target_tokens, sizes.limit_tokens, sizes.overlap)
    return load_corpus(config.paths.kb, rules)

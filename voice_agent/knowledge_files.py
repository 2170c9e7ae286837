"""What the configuration names of the knowledge base, read from disk: passages and words. Light for every door."""

from __future__ import annotations

from retrieval.chunk import ChunkRules
from retrieval.corpus import Corpus, load_corpus
from retrieval.documents import Documents
from retrieval.terms import Lexicon, lexicon, load_user_words
from voice_agent.config import Config
from voice_agent.weights.store import model_home


def read_corpus(config: Config) -> Corpus:
    """The knowledge base in passages of the configured size. Raises CorpusError.

    Word, PDF and HTML files are converted once; their Markdown is kept beside the models and may be deleted.
    """
    sizes = config.chunks
    rules = ChunkRules.of_tokens(sizes.target_tokens, sizes.limit_tokens, sizes.overlap)
    return load_corpus(config.paths.kb, rules, Documents(model_home().parent / "documents"))


def read_lexicon(config: Config) -> Lexicon:
    """The one tokenizer of passages and questions, with the user's own words. Raises CorpusError naming bad lines."""
    dictionary = config.retrieval.dictionary
    return lexicon(load_user_words(dictionary) if dictionary else ())

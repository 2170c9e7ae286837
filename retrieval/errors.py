"""What can go wrong with a knowledge base and its index, split by whose fault it is.

RetrievalError
├── CorpusError     a document is not what it must be (the user mends the file and line named)
├── StoreError      an index on disk is missing, broken or of another make (build it again)
└── ModelError      an encoder or reranker could not be loaded, failed, or scores on an unknown scale
"""

from __future__ import annotations


class RetrievalError(Exception):
    """Any fault of the retrieval package. Its message is one line: what, where, how to mend."""


class CorpusError(RetrievalError):
    """A knowledge-base file cannot be read as such."""


class StoreError(RetrievalError):
    """An index on disk is missing, broken, or was made by another model."""


class ModelError(RetrievalError):
    """An encoder or reranker could not be loaded or failed its self-test."""

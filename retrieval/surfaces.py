"""The texts a passage is found by: pure functions, so that the index, the channels and the tests agree on them."""

from __future__ import annotations

from retrieval.types import Passage


def body_text(passage: Passage) -> str:
    """Title and text, without the questions: one dense surface of the passage."""
    return f"{passage.title}\n{passage.text}" if passage.title else passage.text


def dense_surfaces(passage: Passage) -> tuple[str, ...]:
    """What gets a vector of its own: the body, then each question. A caller's words are nearest to a question."""
    return (body_text(passage), *passage.questions)


def document_text(passage: Passage) -> str:
    """Title, questions and text, one below the other: what word search and the reranker read."""
    return "\n".join(part for part in (passage.title, *passage.questions, passage.text) if part)

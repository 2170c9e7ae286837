"""Parts of `scripts/train_reranker`."""

"""What the retrieval benches share: the public question set as a knowledge base, the ways to rank, their comparison."""

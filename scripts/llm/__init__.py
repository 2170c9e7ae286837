"""What bench_llm and recheck_spoken are made of: weak models to test with, asking them, counting what came of it."""

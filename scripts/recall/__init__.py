"""What the retrieval benches share: the public question set as a knowledge base, the ways to rank, their comparison."""

UNHURRIED = ("retrieval.channel_deadline_ms=60000", "retrieval.rerank_budget_ms=60000")
"""Settings of every bench: what is found must not depend on what else the machine is doing. Time is measured apart."""

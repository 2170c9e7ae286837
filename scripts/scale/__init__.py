"""Parts of scripts/bench_search."""

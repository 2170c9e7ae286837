"""True and false sentences made by a seeded script, for `bench_guard`. Knows nothing of how the check decides."""

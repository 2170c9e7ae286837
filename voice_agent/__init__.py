"""The agent itself: who holds the floor, what is said, what is recorded, and the doors people come in by."""

"""Sound in and sound out: frames, voice activity, recognition, synthesis. Knows neither retrieval nor the agent."""

"""The agent over HTTP: typed questions, their journals, and the duties of a service."""

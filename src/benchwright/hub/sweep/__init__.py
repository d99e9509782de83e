"""The sweep of registered pull requests: what is still seen, what is done about the rest, ranks over time."""

"""Opening pull requests: a plan that says what is right to post, and the one writer that posts it, once a model."""

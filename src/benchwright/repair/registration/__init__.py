"""Repairs of rows that are registered, each with its undo file."""

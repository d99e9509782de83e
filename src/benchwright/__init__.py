"""Benchwright keeps benchmark results true from the first fit to the published row."""

__version__ = "0.1.0"

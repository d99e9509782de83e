"""Evaluation results on the Hub: leaderboards and ranks, what models declare, pull requests of results and their care.

The formats are those of https://huggingface.co/docs/hub/eval-results.
"""

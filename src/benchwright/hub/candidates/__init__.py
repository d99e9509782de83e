"""Results published elsewhere that may belong on the Hub's leaderboards: leads, what the Hub says of each, batches.

A lead is not evidence: a value goes to the Hub only when it is found at its authors' own source.
"""

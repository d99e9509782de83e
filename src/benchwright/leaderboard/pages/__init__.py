"""The interactive pages of a subset: the table, two Pareto charts, the win rates; each a file that needs no other."""

from benchwright.leaderboard.pages.write import write_pages

__all__ = ["write_pages"]

"""What all HTML pages share: one frame, one look, and the way from a template to a file that needs no other."""

from benchwright.pages.render import embedded, environment

__all__ = ["embedded", "environment"]

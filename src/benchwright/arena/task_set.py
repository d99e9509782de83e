"""An arena's splits as one value that can be narrowed."""

"""Undoing what one unit, a session or a dream, did to memories: what became of each, and what brings it back."""

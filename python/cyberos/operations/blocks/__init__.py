"""Block memory, as a user asks for it: by the store at hand and the name of a project."""

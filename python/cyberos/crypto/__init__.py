"""Keys and what is done with them: bytes in, bytes out. Nothing here knows stores or memories."""

"""The file-backed memory."""

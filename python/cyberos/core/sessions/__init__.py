"""The transcript ledger: sessions, their states, and what was said in them.

What a session is now is what the log says of it; files beside the log only make it quick to find, and a crash is told
from them. `cyberos.core.session` has the functions that others call.
"""

"""`cyberos serve`: the operations over HTTP. Needs the extra `serve`; only `cyberos serve` imports it."""

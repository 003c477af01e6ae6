"""One file for each command; `cyberos.cli.main` has their table."""

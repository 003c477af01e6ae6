"""One function for each thing a user can ask for: plain arguments in, frozen results out. Every surface calls these."""

"""The command line. The only part that reads the environment, prints and exits."""

"""One module for each command: NAME, HELP, `add_arguments`, `run`."""

"""The command line: argv and environment in, stdout, stderr and an exit code out."""

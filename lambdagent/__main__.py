"""``python -m lambdagent``: the command, wherever the package is installed."""

from lambdagent.cli.main import entry

if __name__ == "__main__":
    entry()

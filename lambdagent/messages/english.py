"""The words of every diagnostic in English."""

from __future__ import annotations

from lambdagent.messages import agent_files, commands, imports, lambda_texts, lint, runs
from lambdagent.messages.text import Text

MESSAGES: dict[str, Text] = {
    **agent_files.MESSAGES,
    **lint.MESSAGES,
    **lambda_texts.MESSAGES,
    **runs.MESSAGES,
    **commands.MESSAGES,
    **imports.MESSAGES,
}

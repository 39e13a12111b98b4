"""The words of every diagnostic in Chinese, and the words that are filled into them."""

from __future__ import annotations

from lambdagent.messages.text import Text
from lambdagent.messages.zh import (
    agent_files,
    command_words,
    commands,
    file_words,
    import_words,
    imports,
    lambda_texts,
    lint,
    lint_words,
    reach_words,
    run_words,
    runs,
    server_words,
    store_words,
    syntax,
    values,
    words,
)

MESSAGES: dict[str, Text] = {
    **agent_files.MESSAGES,
    **lint.MESSAGES,
    **lambda_texts.MESSAGES,
    **runs.MESSAGES,
    **commands.MESSAGES,
    **imports.MESSAGES,
}

# By their English: the templates of `Phrase`s.
PHRASES: dict[str, str] = {
    **words.PHRASES,
    **values.PHRASES,
    **syntax.PHRASES,
    **lint_words.PHRASES,
    **run_words.PHRASES,
    **store_words.PHRASES,
    **file_words.PHRASES,
    **command_words.PHRASES,
    **import_words.PHRASES,
    **reach_words.PHRASES,
    **server_words.PHRASES,
}
# Those that are found again in the data of a run, longest first: what they say is the most exact.
OF_RUNS: tuple[str, ...] = tuple(sorted(run_words.PHRASES, key=len, reverse=True))

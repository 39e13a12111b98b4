"""The arguments of a call written as in Python: `query="x", n=3`.

In: the text between the brackets. Out: a dict for keywords, the value of a single literal, or the
text itself when it is neither.
"""

import ast
import warnings
from typing import Any

from lambdagent.ir.loose_json import Budget, read_value

_MAX_TEXT = 10_000
_MAX_BRACKETS = 50


def read_arguments(text: str) -> Any:
    """Return the arguments in `text`; None if there are none.

    Example:
        >>> read_arguments('query="tides", days=2')
        {'query': 'tides', 'days': 2}
        >>> read_arguments("tides in Porto")
        'tides in Porto'
    """
    text = text.strip()
    if not text:
        return None
    if text.startswith("{"):
        found = read_value(text, 0, Budget(text))
        if found.status == "whole" and found.end == len(text):
            return found.value
    if len(text) > _MAX_TEXT or sum(map(text.count, "([{")) > _MAX_BRACKETS:
        return text
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            call = ast.parse(f"f({text})", mode="eval").body
        return _literals(call, text)
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError):
        return text


def _literals(call: ast.expr, text: str) -> Any:
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
        return text
    if call.keywords and not call.args and all(keyword.arg for keyword in call.keywords):
        return {keyword.arg: ast.literal_eval(keyword.value) for keyword in call.keywords}
    if len(call.args) == 1 and not call.keywords:
        return ast.literal_eval(call.args[0])
    return text

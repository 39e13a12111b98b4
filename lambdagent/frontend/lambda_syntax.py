"""λ text → core term, definitions and site rows; or the agent that it is.

The grammar is `lambda.lark`. The parser builds the tree while it reads, bottom-up with a stack of
its own. `lambda_names` turns names into indices; a text of agents is read by `lambda_agents`. So
texts may nest as deep as they like.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from lark.exceptions import UnexpectedCharacters, UnexpectedInput, UnexpectedToken

from lambdagent.errors import LambdaSyntaxError
from lambdagent.frontend.lambda_agents import holds_agents, read_agent
from lambdagent.frontend.lambda_faults import explained
from lambdagent.frontend.lambda_names import LambdaFile, resolve
from lambdagent.frontend.lambda_parser import parse_tree
from lambdagent.ir.core import Term
from lambdagent.source import Source


def parse_lambda(source: Source, known: Mapping[str, Term] | None = None) -> LambdaFile:
    """Return what a λ text says.

    Linear in the text, whatever its nesting. The term may be missing, sites may be unknown and
    ``^i`` may be free: `lambda_program` asks for more.

    Args:
        source: The text.
        known: Terms of names that are defined elsewhere, such as in a prelude.

    Raises:
        LambdaSyntaxError: The text is not of the language, or uses a name that is not defined.
    """
    try:
        file = parse_tree(source.text)
        if holds_agents(file):
            return LambdaFile(source, None, {}, {}, {}, None, read_agent(file))
        return resolve(file, source, known)
    except UnexpectedInput as error:
        fault = cast("UnexpectedToken | UnexpectedCharacters", error)
        raise LambdaSyntaxError(explained(fault, source.text), source) from None
    except LambdaSyntaxError as error:
        raise LambdaSyntaxError(error.diagnostics, source) from None

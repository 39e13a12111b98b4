"""How many tokens a text is for a model: by the vocabulary of the provider where it is at hand.

At hand is what loads without the network: for models of OpenAI the package ``tiktoken``, which is
optional, if their vocabulary is in its cache. All else is the estimate of `ir.tokens`: other
providers ship no vocabulary, or one that takes seconds to load (``dashscope``, 3.4 s).
"""

import importlib
from collections.abc import Iterable, Iterator
from functools import cache, partial
from typing import Any, Final

import attrs

from lambdagent.effects.fork_safe_lock import ForkSafeLock
from lambdagent.effects.protocol import Message, ModelCall
from lambdagent.ir.data import Record
from lambdagent.ir.data_text import data_text
from lambdagent.ir.tokens import OF_A_MESSAGE, OF_A_REQUEST, Counter, estimate_tokens

# A child would find the package as it is in the middle of a loading.
_LOADING: Final = ForkSafeLock(holds_up_forks=True)
_NEWEST: Final = "o200k_base"


@cache
def counter_of(provider: str, model: str) -> Counter:
    """Return what counts the tokens of texts for a model; the same for the whole process."""
    counter = _tiktoken(model) if provider == "openai" else None
    return partial(estimate_tokens, provider=provider) if counter is None else counter


def request_tokens(call: ModelCall, messages: Iterable[Message]) -> int:
    """Return how many tokens the request of `call` is, of which `messages` is what was said."""
    count = counter_of(call.model.provider, call.model.name)
    return OF_A_REQUEST + sum(count(text) + OF_A_MESSAGE for text in _texts(call, messages))


def _texts(call: ModelCall, messages: Iterable[Message]) -> Iterator[str]:
    """Yield all that a request says: what was said and thought, tools, their calls, the form."""
    for message in messages:
        yield message.text
        if message.reasoning is not None:
            yield message.reasoning
        for each in message.tool_calls:
            yield data_text(each.to_data())
    for tool in call.tools:
        yield data_text(Record(attrs.asdict(tool, recurse=False)))
    if call.form is not None and not call.form.is_told:
        yield call.form.prompt


def _tiktoken(model: str) -> Counter | None:
    """Return the tokenizer of OpenAI, if its vocabulary is in the cache of the package."""
    try:
        package: Any = importlib.import_module("tiktoken")
        load: Any = importlib.import_module("tiktoken.load")
    except ImportError:
        return None
    with _LOADING:
        read = load.read_file
        load.read_file = _refuse  # what is not in the cache would be downloaded
        try:
            encoding = package.get_encoding(_encoding_name(package, model))
        except _NotHereError:
            return None
        finally:
            load.read_file = read
    return lambda text: len(encoding.encode_ordinary(text))


def _encoding_name(package: Any, model: str) -> str:
    try:
        return str(package.encoding_name_for_model(model))
    except KeyError:  # newer than the package
        return _NEWEST


class _NotHereError(Exception):
    """A vocabulary would have to be downloaded."""


def _refuse(path: str) -> bytes:
    raise _NotHereError(path)

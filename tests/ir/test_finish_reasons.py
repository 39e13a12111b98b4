"""Why a model stopped, in the words of each service."""

import pytest

from lambdagent.ir.finish_reasons import finish_of_reason
from lambdagent.machine.called import is_cut

# By their documentation; Google's by way of those who pass its words on.
SERVICES = {
    "openai": "stop length tool_calls content_filter function_call",
    "anthropic": "end_turn max_tokens tool_use refusal stop_sequence",
    "zhipu": "stop length tool_calls sensitive stop",
    "mistral": "stop model_length tool_calls stop stop",
    "google": "STOP MAX_TOKENS STOP SAFETY RECITATION",
}


@pytest.mark.parametrize("service", SERVICES)
def test_services_say_the_same_in_other_words(service: str):
    meant = [finish_of_reason(word) for word in SERVICES[service].split()]
    assert None not in meant
    assert meant[:2] == ["stop", "length"]


@pytest.mark.parametrize("word", [None, "", "pause_turn", "error", "stop "])
def test_other_words_mean_nothing_known(word: str | None):
    assert finish_of_reason(word) is None
    assert not is_cut(word)


def test_what_is_cut_is_what_has_a_length():
    assert is_cut("Max_Tokens")
    assert not is_cut("stop")

"""Models that are known by name: how many tokens each can read, and what they cost.

Names change faster than this table: a name that is not in it is no fault, and its price is
unknown, never a guess. A price belongs to a host, since the same model costs other sums in other
places. It is in here where two price lists that are kept up publicly say the same, and is one of
ordinary requests: neither batches nor priority, which no run asks for. Left out are prices that
depend on the hour (DeepSeek) and those in other currencies.
"""

from __future__ import annotations

from typing import Final

import attrs

# The day on which the prices were looked up.
PRICES_OF: Final = "2026-11-30"


@attrs.frozen
class Price:
    """US dollars for a million tokens.

    Attributes:
        cached: Of tokens that were read from the provider's cache; None where they cost as others.
        from_tokens: Requests of more tokens than this cost `above` in all; None where all cost
            the same.
    """

    input: float
    output: float
    cached: float | None = None
    from_tokens: int | None = None
    above: Price | None = None

    def of(self, read: int, written: int, cached: int) -> float:
        """Return the dollars of a call.

        Args:
            read: All tokens of the request.
            written: Those of the answer.
            cached: How many of `read` came from the provider's cache.
        """
        if self.above is not None and self.from_tokens is not None and read > self.from_tokens:
            return self.above.of(read, written, cached)
        cheap = self.input if self.cached is None else self.cached
        total = (read - cached) * self.input + cached * cheap + written * self.output
        return total / 1e6


@attrs.frozen
class KnownModel:
    """What is known of a model.

    Attributes:
        window: How many tokens it can read.
        host: Where `price` is asked for.
    """

    window: int
    host: str | None = None
    price: Price | None = None


def _anthropic(
    window: int, read: float, written: float, cached: float | None = None
) -> KnownModel:
    return KnownModel(window, "api.anthropic.com", Price(read, written, cached))


def _openai(window: int, read: float, written: float, cached: float | None = None) -> KnownModel:
    return KnownModel(window, "api.openai.com", Price(read, written, cached))


def _long(window: int, read: float, written: float, cached: float) -> KnownModel:
    """A model of OpenAI whose long requests cost twice as much to read, half more to write."""
    above = Price(read * 2, written * 1.5, cached * 2)
    return KnownModel(window, "api.openai.com", Price(read, written, cached, 272_000, above))


def _moonshot(window: int, read: float, written: float, cached: float | None = None) -> KnownModel:
    return KnownModel(window, "api.moonshot.ai", Price(read, written, cached))


def _zai(window: int, read: float, written: float, cached: float | None = None) -> KnownModel:
    return KnownModel(window, "api.z.ai", Price(read, written, cached))


MODELS: Final[dict[str, KnownModel]] = {
    # anthropic: input, output, cached
    "claude-3-haiku-20240307": KnownModel(200_000),
    "claude-3-opus-20240229": KnownModel(200_000),
    "claude-3-5-haiku-20241022": KnownModel(200_000),
    "claude-3-5-sonnet-20241022": KnownModel(200_000),
    "claude-3-7-sonnet-20250219": KnownModel(200_000),
    "claude-opus-4-20250514": KnownModel(200_000),
    "claude-sonnet-4-20250514": KnownModel(200_000),
    "claude-fable-5": _anthropic(1_000_000, 10, 50, 1),
    "claude-fable-5-1": _anthropic(1_000_000, 10, 50, 0.25),
    "claude-haiku-4-5": _anthropic(200_000, 1, 5, 0.1),
    "claude-haiku-4-5-20251001": _anthropic(200_000, 1, 5, 0.1),
    "claude-haiku-5-5": KnownModel(
        1_000_000,
        "api.anthropic.com",
        Price(0.1, 0.5, 0.01, 100_000, Price(0.5, 2.5, 0.05)),
    ),
    "claude-opus-4-5": _anthropic(200_000, 5, 25, 0.5),
    "claude-opus-4-5-20251101": _anthropic(200_000, 5, 25, 0.5),
    "claude-opus-4-6": _anthropic(1_000_000, 5, 25, 0.5),
    "claude-opus-4-7": _anthropic(1_000_000, 5, 25, 0.5),
    "claude-opus-4-8": _anthropic(1_000_000, 5, 25, 0.5),
    "claude-opus-5": _anthropic(1_000_000, 5, 25, 0.5),
    "claude-opus-5-5": _anthropic(1_000_000, 4, 20, 0.2),
    "claude-sonnet-4-6": _anthropic(1_000_000, 3, 15, 0.3),
    "claude-sonnet-5": _anthropic(1_000_000, 2, 10, 0.2),
    "claude-sonnet-5-5": _anthropic(1_000_000, 2, 10, 0.1),
    # openai
    "gpt-3.5-turbo": _openai(16_385, 0.5, 1.5),
    "gpt-4": _openai(8_192, 30, 60),
    "gpt-4-turbo": _openai(128_000, 10, 30),
    "gpt-4.1": _openai(1_047_576, 2, 8, 0.5),
    "gpt-4.1-mini": _openai(1_047_576, 0.4, 1.6, 0.1),
    "gpt-4.1-nano": _openai(1_047_576, 0.1, 0.4, 0.025),
    "gpt-4o": _openai(128_000, 2.5, 10, 1.25),
    "gpt-4o-mini": _openai(128_000, 0.15, 0.6, 0.075),
    "gpt-5": _openai(400_000, 1.25, 10, 0.125),
    "gpt-5-mini": _openai(400_000, 0.25, 2, 0.025),
    "gpt-5-nano": _openai(400_000, 0.05, 0.4, 0.005),
    "gpt-5.1": _openai(400_000, 1.25, 10, 0.125),
    "gpt-5.2": _openai(400_000, 1.75, 14, 0.175),
    "gpt-5.4": _long(1_050_000, 2.5, 15, 0.25),
    "gpt-5.4-mini": _openai(400_000, 0.75, 4.5, 0.075),
    "gpt-5.4-nano": _openai(400_000, 0.2, 1.25, 0.02),
    "gpt-5.5": _long(1_050_000, 5, 30, 0.5),
    "gpt-5.6": _long(1_050_000, 4, 20, 0.4),
    "gpt-5.6-luna": _long(1_050_000, 0.2, 1.2, 0.02),
    "gpt-5.6-sol": _long(1_050_000, 4, 20, 0.4),
    "gpt-5.6-terra": _long(1_050_000, 2, 12, 0.2),
    "gpt-6-astra": _long(1_050_000, 10, 50, 1),
    "gpt-6-luna": _long(1_050_000, 0.1, 0.5, 0.01),
    "gpt-6-sol": _long(1_050_000, 2, 10, 0.2),
    "gpt-6.1-sol": _long(1_050_000, 2, 10, 0.1),
    "gpt-6.1-terra": _long(1_050_000, 1, 5, 0.05),
    "o1": _openai(200_000, 15, 60, 7.5),
    "o3": _openai(200_000, 2, 8, 0.5),
    "o3-mini": _openai(200_000, 1.1, 4.4, 0.55),
    "o4-mini": _openai(200_000, 1.1, 4.4, 0.275),
    # dashscope
    "qwen-max": KnownModel(32_768),
    "qwen-plus": KnownModel(131_072),
    "qwen-turbo": KnownModel(1_000_000),
    "qwen3-max": KnownModel(262_144),
    # deepseek
    "deepseek-chat": KnownModel(128_000),
    "deepseek-reasoner": KnownModel(128_000),
    "deepseek-v4-flash": KnownModel(1_000_000),
    "deepseek-v4-pro": KnownModel(1_000_000),
    # moonshot
    "kimi-k2-0711-preview": KnownModel(128_000),
    "kimi-k2.5": _moonshot(262_144, 0.6, 3, 0.1),
    "kimi-k2.6": _moonshot(262_144, 0.95, 4, 0.16),
    "kimi-k2.7-code": _moonshot(262_144, 0.95, 4, 0.19),
    "kimi-k3": _moonshot(1_048_576, 3, 15, 0.3),
    "kimi-k3.1-pro": _moonshot(1_048_576, 2, 10, 0.2),
    "moonshot-v1-8k": _moonshot(8_192, 0.2, 2),
    "moonshot-v1-32k": _moonshot(32_768, 1, 3),
    "moonshot-v1-128k": _moonshot(131_072, 2, 5),
    # zhipu
    "glm-4-air": KnownModel(128_000),
    "glm-4-airx": KnownModel(8_192),
    "glm-4-flash": KnownModel(128_000),
    "glm-4-long": KnownModel(1_000_000),
    "glm-4-plus": KnownModel(128_000),
    "glm-4.5": KnownModel(128_000),
    "glm-4.5-air": KnownModel(128_000),
    "glm-4.6": _zai(200_000, 0.6, 2.2, 0.11),
    "glm-4.7": _zai(200_000, 0.6, 2.2, 0.11),
    "glm-5": _zai(200_000, 1, 3.2, 0.2),
    "glm-5.1": _zai(200_000, 1.4, 4.4, 0.26),
    "glm-5.2": _zai(1_000_000, 1.4, 4.4, 0.26),
    "glm-5.3": _zai(1_000_000, 1.4, 4.4, 0.26),
    "glm-5.3-flash": _zai(1_048_576, 0.15, 0.5, 0.03),
}


def price_of(name: str, host: str | None) -> Price | None:
    """Return what the model `name` costs at `host`, if that is known."""
    known = MODELS.get(name)
    return None if known is None or known.host != host else known.price

"""Models that are known by name, and how many tokens each can read.

Names change faster than this table: a name that is not in it is no fault. It serves to notice
slips of the pen, and conversations that cannot fit.
"""

from typing import Final

WINDOWS: Final[dict[str, int]] = {
    # openai
    "gpt-3.5-turbo": 16_385,
    "gpt-4": 8_192,
    "gpt-4-turbo": 128_000,
    "gpt-4.1": 1_047_576,
    "gpt-4.1-mini": 1_047_576,
    "gpt-4.1-nano": 1_047_576,
    "gpt-4o": 128_000,
    "gpt-4o-mini": 128_000,
    "gpt-5": 400_000,
    "gpt-5-mini": 400_000,
    "gpt-5-nano": 400_000,
    "o1": 200_000,
    "o3": 200_000,
    "o3-mini": 200_000,
    "o4-mini": 200_000,
    # anthropic
    "claude-3-haiku-20240307": 200_000,
    "claude-3-opus-20240229": 200_000,
    "claude-3-5-haiku-20241022": 200_000,
    "claude-3-5-sonnet-20241022": 200_000,
    "claude-3-7-sonnet-20250219": 200_000,
    "claude-opus-4-20250514": 200_000,
    "claude-sonnet-4-20250514": 200_000,
    # dashscope
    "qwen-max": 32_768,
    "qwen-plus": 131_072,
    "qwen-turbo": 1_000_000,
    "qwen3-max": 262_144,
    # deepseek
    "deepseek-chat": 128_000,
    "deepseek-reasoner": 128_000,
    # moonshot
    "kimi-k2-0711-preview": 128_000,
    "moonshot-v1-8k": 8_192,
    "moonshot-v1-32k": 32_768,
    "moonshot-v1-128k": 131_072,
    # zhipu
    "glm-4-air": 128_000,
    "glm-4-airx": 8_192,
    "glm-4-flash": 128_000,
    "glm-4-long": 1_000_000,
    "glm-4-plus": 128_000,
    "glm-4.5": 128_000,
    "glm-4.5-air": 128_000,
}

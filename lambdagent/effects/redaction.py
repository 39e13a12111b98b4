"""Secrets of the environment, kept out of everything that a run says, keeps or is told.

What a model, a tool or a person says is looked through at the border, before the machine has it:
so no journal, state, trace, recording or answer can hold a secret, and a run that goes on asks the
same as before.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from urllib.parse import quote

from lambdagent.ir.data import Data, Record
from lambdagent.ir.exchange import Failure

_NAMES = re.compile(
    r"(?:^|_|API)KEYS?(?:_ID)?(?:_?\d+)?$|(?:^|_)(?:PAT|PWD)$"
    r"|(?:TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIAL)S?(?:_?\d+)?$",
    re.IGNORECASE,
)
# The password in the address of a database or a service.
_IN_URL = re.compile(r"[a-z][a-z0-9+.-]*://[^/?#:@]*:([^/?#@]+)@", re.IGNORECASE)
# Shorter ones are words that stand anywhere.
_SHORTEST = 8
# The same of what is called a secret.
_SHORTEST_NAMED = 4


def names_a_secret(variable: str) -> bool:
    """Whether an environment variable holds a secret, to go by its name.

    >>> names_a_secret("OPENAI_API_KEY"), names_a_secret("HOME"), names_a_secret("PWD")
    (True, False, False)
    """
    return variable not in {"PWD", "OLDPWD"} and _NAMES.search(variable) is not None


def is_secret(name: str, value: str) -> bool:
    """Whether `value`, which stands under `name`, is a secret that can be told from words.

    >>> is_secret("user", "user"), is_secret("user", "mary.ann"), is_secret("password", "user")
    (False, True, True)
    """
    return len(value) >= (_SHORTEST_NAMED if names_a_secret(name) else _SHORTEST)


def _secrets_in(name: str, value: str) -> list[str]:
    whole = [value.strip()] if names_a_secret(name) else []
    return whole + _IN_URL.findall(value)


def forms_of(secret: str) -> set[str]:
    """Return `secret` as it is, and as it stands inside JSON and URLs."""
    return {secret, json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1]} | {
        quote(secret),
        quote(secret, safe=""),
    }


class Redaction:
    """Puts ``[NAME]`` in the place of the values of variables that hold secrets."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        """Look for the secrets of `environment`."""
        found = {
            form: f"[{name}]"
            for name, value in environment.items()
            for secret in _secrets_in(name, value)
            if len(secret) >= _SHORTEST
            for form in forms_of(secret)
        }
        # A secret may be a part of another one.
        self._secrets = sorted(found.items(), key=lambda each: len(each[0]), reverse=True)

    @property
    def is_empty(self) -> bool:
        """Whether there is no secret to look for."""
        return not self._secrets

    def named_in(self, text: str) -> str | None:
        """Return the name of a variable whose secret stands in `text`, if one does."""
        return next((shown[1:-1] for secret, shown in self._secrets if secret in text), None)

    def text(self, text: str) -> str:
        """Return `text` without secrets."""
        for secret, shown in self._secrets:
            if secret in text:
                text = text.replace(secret, shown)
        return text

    def stream(self) -> RedactedStream:
        """Return what takes the secrets out of a text that comes in pieces."""
        return RedactedStream(self, [secret for secret, _ in self._secrets])

    def data(self, data: Data) -> Data:
        """Return `data` without secrets; as it is if it holds none."""
        if not self._secrets:
            return data
        if isinstance(data, str):
            return self.text(data)
        if isinstance(data, tuple):
            return tuple(map(self.data, data))
        if isinstance(data, Record):
            return self._record(data)
        return data

    def _record(self, data: Record) -> Record:
        """Return `data` without secrets; keys that are the same without them stay apart."""
        found: dict[str, Data] = {}
        for key, value in data.items():
            name, number = self.text(key), 1
            while name in found:
                number += 1
                name = f"{self.text(key)} {number}"
            found[name] = self.data(value)
        return Record(found)

    def answer(self, answer: Data | Failure) -> Data | Failure:
        """Return an answer without secrets."""
        if isinstance(answer, Failure):
            return Failure(answer.kind, self.text(answer.message), self.data(answer.data))
        return self.data(answer)


class RedactedStream:
    """Takes secrets out of a text that comes in pieces: `hear` each, then `end`.

    What may become a secret is held back until it is known whether it does. The pieces that come
    out are together what `Redaction.text` returns for the whole.
    """

    def __init__(self, redaction: Redaction, secrets: list[str]) -> None:
        """Look for `secrets`, as `redaction` does."""
        self._redaction = redaction
        self._secrets = secrets
        self._held = ""

    def hear(self, piece: str) -> str:
        """Return what can be shown now."""
        if not self._secrets:
            return piece
        text = self._held + piece
        at = self._cut(text)
        self._held = text[at:]
        return self._redaction.text(text[:at])

    def end(self) -> str:
        """Return what is still held back: no more comes."""
        held, self._held = self._held, ""
        return self._redaction.text(held)

    def _cut(self, text: str) -> int:
        """Return where to cut: before what may become a secret, and through none that is there."""
        at = min(_building(text, secret) for secret in self._secrets)
        while True:
            crossed = (_crossing(text, secret, at) for secret in self._secrets)
            first = min(crossed)
            if first == at:
                return at
            at = first


def _building(text: str, secret: str) -> int:
    """Return where the longest end of `text` begins that is a beginning of `secret`."""
    at = text.find(secret[0], max(0, len(text) - len(secret) + 1))
    while at >= 0:
        if secret.startswith(text[at:]):
            return at
        at = text.find(secret[0], at + 1)
    return len(text)


def _crossing(text: str, secret: str, at: int) -> int:
    """Return where `secret` begins if it stands across `at`, else `at`."""
    found = text.find(secret, max(0, at - len(secret) + 1), at + len(secret) - 1)
    return at if found < 0 else found

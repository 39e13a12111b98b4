"""Providers that are classes of others: by their path, or by a name that a package gave them.

A package names its providers in entry points of the group `GROUP`, as in
``my-models = "my_package.models:MyModels"``. They are looked for only where an agent file names a
provider that is not in the table of services.
"""

from __future__ import annotations

import re
from importlib import import_module
from typing import Final

from lambdagent.ir.services import SERVICES

GROUP: Final = "lambdagent.providers"
_PATH: Final = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*(\.[^\W\d]\w*)*")


def class_path(provider: str) -> str | None:
    """Return the path of the class that serves as `provider`; None if none does.

    >>> class_path("my_package.models:MyModels")
    'my_package.models:MyModels'
    >>> class_path("nobody-has-this-name")
    """
    if provider in SERVICES:
        return None
    if _PATH.fullmatch(provider):
        return provider
    # What looks for them is loaded for such names alone.
    entry_points = import_module("importlib.metadata").entry_points
    found = next(iter(entry_points(group=GROUP, name=provider)), None)
    return None if found is None else f"{found.module}:{found.attr}"

"""Texts → XML that any reader takes: nothing in them is markup, steers, or is forbidden in XML."""

from __future__ import annotations

import re
from collections.abc import Mapping
from html import escape

from lambdagent.source import visible

# What XML 1.0 has no character for, besides those that are hidden.
_REFUSED = re.compile("[\ufffe\uffff]")
_INSTEAD = "\ufffd"

Attributes = Mapping[str, str | int | float]


def plain(text: str) -> str:
    r"""Return `text` with a mark for each character that XML or a reader should not get.

    >>> plain("a\x1b[31m\u202eb")
    'a�[31m�b'
    """
    return _REFUSED.sub(_INSTEAD, visible(text))


def element(tag: str, attributes: Attributes, *content: str) -> str:
    """Return an element around `content`, which is XML.

    >>> element("rect", {"x": 1.50, "id": "<"})
    '<rect x="1.5" id="&lt;"/>'
    """
    names = "".join(f" {name}={_value(value)}" for name, value in attributes.items())
    inner = "".join(content)
    return f"<{tag}{names}>{inner}</{tag}>" if content else f"<{tag}{names}/>"


def text_element(tag: str, text: str, attributes: Attributes | None = None) -> str:
    """Return an element that holds `text` and nothing else.

    >>> text_element("title", "<b> & ]]>")
    '<title>&lt;b&gt; &amp; ]]&gt;</title>'
    """
    return element(tag, attributes or {}, escape(plain(text), quote=False))


def _value(value: str | float) -> str:
    if isinstance(value, float):
        value = f"{value:.2f}".rstrip("0").rstrip(".")
    return f'"{escape(plain(str(value)))}"'

"""What a prompt says of tools that are called by text."""

from typing import Any

from lambdagent.effects.tool_docs import tool_prompt
from lambdagent.ir.data import Record, freeze


def test_parameters_are_told_with_their_types_and_what_they_are():
    schema = {
        "type": "object",
        "properties": {
            "query": {"type": "string", "description": "What to find."},
            "limit": {"type": "integer", "default": 5},
            "kind": {"enum": ["a", "b"]},
            "filter": {
                "type": "object",
                "properties": {"after": {"type": ["string", "null"]}},
                "required": ["after"],
            },
            "spots": {"type": "array", "items": {"$ref": "#/$defs/Spot"}},
            "either": {"anyOf": [{"$ref": "#/$defs/Spot"}, {"type": "null"}]},
            "any": {},
        },
        "required": ["query", "filter"],
        "$defs": {"Spot": {"type": "object", "properties": {"x": {"type": "number"}}}},
    }
    tool = Record(name="search", description="Find pages.", parameters=freeze(schema))
    plain = Record(name="wait", description="")
    _, _, listed = tool_prompt((tool, plain)).partition("Tools:\n")
    assert (
        listed
        == """\
- search: Find pages.
    query (string): What to find.
    limit (integer, optional, default 5)
    kind (one of "a", "b", optional)
    filter (object)
        after (string or null)
    spots (array of object, optional)
        x (number, optional)
    either (object or null, optional)
        x (number, optional)
    any (anything, optional)
- wait"""
    )


def test_a_prompt_says_whether_several_may_be_called_at_once():
    tool = Record(name="wait", description="")
    assert "several at once" not in tool_prompt((tool,))
    assert "each on a line of its own.\nYou will get" in tool_prompt((tool,), several=True)


def told(schema: dict[str, Any]) -> list[str]:
    """Return the lines of the arguments of a tool."""
    tool = Record(name="plant", description="", parameters=freeze(schema))
    return tool_prompt((tool,)).partition("- plant\n")[2].split("\n")


def test_a_schema_that_holds_itself_is_told_once():
    tree = {
        "type": "object",
        "properties": {"kids": {"type": "array", "items": {"$ref": "#/$defs/T"}}},
    }
    assert told({**tree, "$defs": {"T": tree}}) == [
        "    kids (array of object, optional)",
        "        kids (array of a value told above, optional)",
    ]
    value = {"anyOf": [{"type": "string"}, {"type": "array", "items": {"$ref": "#/$defs/V"}}]}
    properties = {"value": {"$ref": "#/$defs/W"}, "self": {"$ref": "#/$defs/S"}}
    defined = {"V": value, "S": {"$ref": "#/$defs/S"}, "W": {"$ref": "#/$defs/V"}}
    assert told({"properties": properties, "required": ["value", "self"], "$defs": defined}) == [
        "    value (string or array of a value told above)",
        "    self (a value told above)",
    ]


def test_schemas_that_hold_each_other_are_told_in_some_lines():
    names = "abcdefghijkl"
    all_of_them = {name: {"$ref": f"#/$defs/{name}"} for name in names}
    one = {"type": "object", "properties": all_of_them}
    lines = told({"properties": all_of_them, "$defs": dict.fromkeys(names, one)})
    assert len(lines) < 210
    assert lines[-1] == "    …"
    any_of_them = {"anyOf": [*all_of_them.values()]}
    lines = told({"properties": all_of_them, "$defs": dict.fromkeys(names, any_of_them)})
    assert len(lines) < 210


def test_what_makes_no_sense_is_told_all_the_same():
    schema = {
        "required": "ab",
        "properties": {
            "a": True,
            "b": {"enum": "x", "description": "one\n  two", "type": 5},
            "c": {"oneOf": [{"type": "object", "properties": {"q": {"type": "string"}}}]},
            "d": {"type": "object", "additionalProperties": {"type": "integer"}},
            "e": {"$ref": "#/nowhere"},
            "f": {"allOf": [{"type": "string"}, {"minLength": 1}]},
        },
    }
    assert told(schema) == [
        "    a (anything, optional)",
        "    b (5, optional): one two",
        "    c (object, optional)",
        "        q (string, optional)",
        "    d (object of integer, optional)",
        "    e (anything, optional)",
        "    f (string, optional)",
    ]
    tool = Record(name="t", description="One.\n- fake: Two.\n", parameters=Record(properties=5))
    assert tool_prompt((tool,)).endswith("- t: One.\n  - fake: Two.")

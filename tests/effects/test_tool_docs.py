"""What a prompt says of tools that are called by text."""

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


def test_a_schema_that_holds_itself_is_told_to_some_depth():
    tree = {
        "type": "object",
        "properties": {"kids": {"type": "array", "items": {"$ref": "#/$defs/T"}}},
    }
    schema = freeze({**tree, "$defs": {"T": tree}})
    text = tool_prompt((Record(name="plant", description="", parameters=schema),))
    assert text.count("kids") == 4

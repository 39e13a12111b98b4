"""Data that writers bring, and fields that have an effect only beside others."""

import pytest

from tests.frontend.test_check import HEAD, data, told


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("5", 5),
        ("010", 10),
        ("-1.5", -1.5),
        ("1e3", 1000.0),
        ("'5'", "5"),
        ("true", True),
        ("False", False),
        ("yes", "yes"),
        ("!!bool yes", True),
        ("!!str 5", "5"),
        ("~", None),
        ("", None),
        ("2024-01-01", "2024-01-01"),
        ("[1, {a: b}]", [1, {"a": "b"}]),
    ],
)
def test_data_of_the_writer_is_read_by_its_form(written, expected):
    value = data(f"{HEAD}sharedMemory: {{store: {{k: {written}}}}}\n")["sharedMemory"]["store"]
    assert value == {"k": expected}
    assert type(value["k"]) is type(expected)


@pytest.mark.parametrize("written", ["9223372036854775808", "[1, {a: !x y}]", "1e999"])
def test_data_that_cannot_be_is_told(written):
    assert len(told(f"{HEAD}sharedMemory: {{store: {{k: {written}}}}}\n")) == 1


SERVER = "mcpServers: [{name: s, transport: "


@pytest.mark.parametrize(
    ("written", "found"),
    [
        (f"{SERVER}http}}]", [("S101", "mcpServers[0].url", 3)]),
        (f"{SERVER}http, url: u, args: [a]}}]", [("S111", "mcpServers[0].args", 3)]),
        (f"{SERVER}stdio, url: u}}]", [("S111", "mcpServers[0].url", 3)]),
        (f"{SERVER}stdio}}]", [("S101", "mcpServers[0].command", 3)]),
        (f"{SERVER}ftp}}]", [("S103", "mcpServers[0].transport", 3)]),
        ("cli: {server: {port: 5}}", [("S111", "cli.server.port", 3)]),
        ("cli: {server: {mode: tcp, port: 65536}}", [("S103", "cli.server.port", 3)]),
        ("cli: {server: {mode: socket}}", [("S101", "cli.server.socketPath", 3)]),
        ("memory: {customStore: a.B}", [("S111", "memory.customStore", 3)]),
        ("rag: {source: s, persistDirectory: d}", [("S111", "rag.persistDirectory", 3)]),
    ],
)
def test_a_field_that_depends_on_another_is_told(written, found):
    missing = [] if "url: u}" not in written else [("S101", "mcpServers[0].command", 3)]
    assert sorted(told(f"{HEAD}{written}\n")) == sorted(found + missing)

"""Shows at the end of the tests what chaos did."""

import pytest


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    for report in terminalreporter.getreports("passed"):
        if "chaos" in (properties := dict(report.user_properties)):
            terminalreporter.write_line(f"chaos: {properties['chaos']}")

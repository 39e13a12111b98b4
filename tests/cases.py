"""The shared cases: inputs behind real fault reports, with the right answers.

The file lies outside the repository, in a folder `shared` beside it.
"""

from pathlib import Path
from typing import Any

import yaml

PATH = Path(__file__).resolve().parents[1].parent / "shared" / "cases.yaml"


def load_cases(area: str) -> list[dict[str, Any]]:
    """Return the cases of one area, in the order of the file.

    Raises:
        FileNotFoundError: The folder `shared` is not beside the repository.
        LookupError: The file has no case of this area.
    """
    if not PATH.is_file():
        what = f"{PATH} is missing: put a copy of the folder `shared` beside the repository"
        raise FileNotFoundError(what)
    cases = yaml.safe_load(PATH.read_text(encoding="utf-8"))["cases"]
    found = [case for case in cases if case["area"] == area]
    if not found:
        what = f"{PATH} has no case of the area `{area}`"
        raise LookupError(what)
    return found

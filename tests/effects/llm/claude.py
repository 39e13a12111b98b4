"""A stand-in for the program ``claude``: it notes what it is asked, and says what it is told."""

import json
import os
import sys
import time
from pathlib import Path

# What it says, and what it was asked, stand beside the program.
HERE = Path(sys.argv[0]).resolve().parent


def main() -> int:
    options = [each for each in sys.argv[1:] if each.startswith("--")]
    named = dict(each.split("=", 1) for each in options if "=" in each)
    script = json.loads((HERE / "script.json").read_text())
    asked = HERE / "asked.jsonl"
    number = len(asked.read_text().splitlines()) if asked.exists() else 0
    row = {
        "options": options,
        "input": sys.stdin.read(),
        "keys": sorted(each for each in os.environ if "KEY" in each),
        "limit": os.environ.get("CLAUDE_CODE_MAX_OUTPUT_TOKENS"),
        "url": os.environ.get("ANTHROPIC_BASE_URL"),
    }
    if path := named.get("--system-prompt-file"):
        row["system"] = Path(path).read_text()
        row["mode"] = oct(Path(path).stat().st_mode & 0o777)
    with asked.open("a") as file:
        file.write(json.dumps(row) + "\n")
    resumed = named.get("--resume")
    if resumed in script.get("forgotten", []):
        sys.stderr.write(f"No conversation found with session ID: {resumed}\n")
        return 1
    step = script["replies"][min(number, len(script["replies"]) - 1)]
    if "stderr" in step:
        sys.stderr.write(step["stderr"])
        return step.get("code", 1)
    if "sleep" in step:
        time.sleep(step["sleep"])
    sys.stdout.write("x" * step.get("noise", 0))
    say({"type": "system", "subtype": "init", "session_id": f"s{number}", "tools": []})
    for piece in step.get("pieces", ()):
        delta = {"type": "text_delta", "text": piece}
        say({"type": "stream_event", "event": {"type": "content_block_delta", "delta": delta}})
    say(
        {
            "type": "result",
            "subtype": "success",
            "is_error": False,
            "result": step.get("text", ""),
            "session_id": f"s{number}",
            "total_cost_usd": 0.5,
            "stop_reason": "end_turn",
            "usage": {
                "input_tokens": 3,
                "cache_creation_input_tokens": 10,
                "cache_read_input_tokens": 100,
                "output_tokens": 7,
            },
            **step.get("result", {}),
        }
    )
    return 0


def say(row: dict) -> None:
    sys.stdout.write(json.dumps(row, ensure_ascii=False) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())

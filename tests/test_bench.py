"""What measures runs on disk measures short ones too, which have no states there."""

import pytest

from bench.durable import _Durable


@pytest.mark.parametrize("steps", [20, 600])
def test_a_run_on_disk_is_measured_whatever_its_length(tmp_path, steps: int):
    agent = _Durable(str(tmp_path))
    assert 0 < agent.bytes_a_step(steps) < 1_000
    assert agent.resume_s(2 * steps, steps) > 0

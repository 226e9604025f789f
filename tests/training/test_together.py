"""Runs that take every step together: every run has a slot, and every device equally many."""

import pytest

from modgrok.training.together import lay_out


@pytest.mark.parametrize("devices", [1, 2, 3])
@pytest.mark.parametrize("runs", [3, 4, 32, 33, 70])
def test_every_run_has_one_slot(runs, devices):
    axis, slots = lay_out(runs, devices)
    assert [axis[slot] for slot in slots] == list(range(runs))
    assert len(axis) == devices * -(-runs // devices)
    on_devices = [slot // (len(axis) // devices) for slot in slots]
    shares = [on_devices.count(device) for device in range(devices)]
    assert max(shares) - min(shares) <= 1

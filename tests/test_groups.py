"""Tests that share a browser, a cluster or a site run in one worker."""

import pytest


def test_groups_are_kept_together(request: pytest.FixtureRequest) -> None:
    """A pytest that pytest-xdist does not know loses them in silence; every worker then starts its own of each."""
    if request.config.getoption("loadgroup", False):
        assert request.node.nodeid.endswith("@tests/test_groups.py")

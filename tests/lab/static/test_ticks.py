"""Ticks of axes."""

from typing import Any


def test_ticks_fit_and_differ(open_lab: Any) -> None:
    page = open_lab()
    found = page.evaluate(
        """async () => {
          const { logTicks, linearTicks, stepTicks } = await import("lab/ticks.js");
          const labels = (ticks) => ticks.map(([, label]) => label);
          return {
            close: labels(logTicks(0.00998, 0.01013, 120)),
            equal: labels(logTicks(0.01, 0.01, 120)),
            diverged: labels(logTicks(1e-4, 1e30, 120)),
            usual: labels(logTicks(2e-5, 0.02, 120)),
            linear: labels(linearTicks(0, 1, 120)),
            steps: labels(stepTicks(1e6, true, 300)),
          };
        }"""
    )
    for name, labels in found.items():
        assert len(set(labels)) == len(labels), (name, labels)
        assert 1 <= len(labels) <= 7, (name, labels)
    assert found["usual"] == ["10⁻⁴", "10⁻³", "10⁻²"]

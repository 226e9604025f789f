"""The paper's checkable statements, each with what it needs, how it is judged, and its thresholds."""

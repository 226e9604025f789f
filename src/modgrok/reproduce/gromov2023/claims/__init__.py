"""The paper's checkable statements, each beside how it is judged."""

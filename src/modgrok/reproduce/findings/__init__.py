"""Four findings of this laboratory that no paper reports, each with its controls. A report of our own."""

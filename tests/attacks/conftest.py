"""The attacks of benchmarks/attacks, a few cases of each."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks" / "attacks"))

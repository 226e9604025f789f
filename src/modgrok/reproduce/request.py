"""What a reproduction is asked for; the command line is made from these fields."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal


@dataclass(frozen=True)
class Request:
    """Train, measure, draw and judge: the paper's figures and claims, with a verdict for each."""

    profile: Literal["quick", "full", "tiny"] = "quick"
    """quick: two CPU cores, some minutes; full: the paper's scale with five seeds, on a GPU."""
    only: tuple[str, ...] = ()
    """Figures or claims to make, for example fig2 kernel; all by default."""
    out: Path = Path("reproduction")
    """Folder of the report, the figures, their numbers and the runs."""
    force: bool = False
    """Train again what is already there."""
    plan: bool = False
    """Only say what would be trained, and about how long it takes."""
    numbers_only: bool = False
    """Train and write the numbers, without figures and report."""
    from_numbers: Path | None = None
    """Draw figures and report from the numbers in another reproduction's folder; nothing is trained."""

"""The pictures that commands, reports and notebooks share. Axes in, axes out; numbers are computed before.

    import modgrok as mg

    mg.plot.curves(run)
    mg.plot.weights(run, ax=ax)

Matplotlib is imported when something is drawn. The functions take the place of their modules here on purpose: `curves`
is the function, and `from modgrok.plot.curves import ...` finds the module.
"""

from modgrok.plot.answers import answers
from modgrok.plot.critical import against_modulus, critical, transitions
from modgrok.plot.curves import curves
from modgrok.plot.film import film
from modgrok.plot.landscape import landscape
from modgrok.plot.phase_diagram import classify, phase_diagram
from modgrok.plot.phases import phases, spectrum
from modgrok.plot.portrait import portrait
from modgrok.plot.progress import progress
from modgrok.plot.representations import gaps, purity, representations
from modgrok.plot.style import save
from modgrok.plot.sweep import sweep
from modgrok.plot.weights import weights

__all__ = [
    "against_modulus",
    "answers",
    "classify",
    "critical",
    "curves",
    "film",
    "gaps",
    "landscape",
    "phase_diagram",
    "phases",
    "portrait",
    "progress",
    "purity",
    "representations",
    "save",
    "spectrum",
    "sweep",
    "transitions",
    "weights",
]

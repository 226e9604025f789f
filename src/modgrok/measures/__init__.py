"""What a network's weights look like: spectra, localization."""

from modgrok.measures.ipr import AverageIPR, average_ipr, ipr
from modgrok.measures.spectrum import power_spectrum, raw_coordinate, readout_spectrum

__all__ = ["AverageIPR", "average_ipr", "ipr", "power_spectrum", "raw_coordinate", "readout_spectrum"]

"""What a network learned and when: spectra, IPR, waves and phases, representations and
vectors, cleaning, distance to the closed form, early flow,
conserved norms, sharpness, tangent kernels, progress measures, parallelograms of embeddings, times."""

from modgrok.measures.angles import CircularSpread, circular_mean, circular_spread, kuiper
from modgrok.measures.cleaning import (
    CleaningRow,
    ablate_frequency,
    ablate_neuron,
    cleaning_table,
    keep_frequencies,
    own_waves,
    shuffle_phases,
    snap_phases,
    top_frequencies,
    waves_only,
)
from modgrok.measures.conserved import conserved, norm_growth
from modgrok.measures.distance import (
    ClosedFormDistance,
    distance_to_closed_form,
    distance_to_table,
    nearest_closed_form,
)
from modgrok.measures.early_flow import EarlyFlow, early_flow
from modgrok.measures.ipr import AverageIPR, average_ipr, ipr
from modgrok.measures.parallelograms import representation_quality
from modgrok.measures.sharpness import sharpness
from modgrok.measures.spectrum import frequency_power, power_spectrum, raw_coordinate, readout_spectrum
from modgrok.measures.tangent_kernel import alignment, kernel_answers, tangent_kernel
from modgrok.measures.times import Crossing, crossing, first_reached, grokked_at, memorized_at
from modgrok.measures.vectors import (
    NeuronVectors,
    ablate_representation,
    neuron_vectors,
    representation_accuracies,
    representation_counts,
    shared_vectors,
    vector_table,
)
from modgrok.measures.waves import NeuronWaves, neuron_waves

__all__ = [
    "AverageIPR",
    "CircularSpread",
    "CleaningRow",
    "ClosedFormDistance",
    "Crossing",
    "EarlyFlow",
    "NeuronVectors",
    "NeuronWaves",
    "ablate_frequency",
    "ablate_neuron",
    "ablate_representation",
    "alignment",
    "average_ipr",
    "circular_mean",
    "circular_spread",
    "cleaning_table",
    "conserved",
    "crossing",
    "distance_to_closed_form",
    "distance_to_table",
    "early_flow",
    "first_reached",
    "frequency_power",
    "grokked_at",
    "ipr",
    "keep_frequencies",
    "kernel_answers",
    "kuiper",
    "memorized_at",
    "nearest_closed_form",
    "neuron_vectors",
    "neuron_waves",
    "norm_growth",
    "own_waves",
    "power_spectrum",
    "raw_coordinate",
    "readout_spectrum",
    "representation_accuracies",
    "representation_counts",
    "representation_quality",
    "shared_vectors",
    "sharpness",
    "shuffle_phases",
    "snap_phases",
    "tangent_kernel",
    "top_frequencies",
    "vector_table",
    "waves_only",
]

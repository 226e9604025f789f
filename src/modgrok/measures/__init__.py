"""What a network learned and when: spectra, IPR, waves and phases, representations and
vectors, cleaning, distance to the closed form, early flow,
conserved norms, sharpness, tangent kernels, progress measures, parallelograms of embeddings, times."""

# ruff: noqa: F401
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
from modgrok.measures.weight_norm import conserved, norm_growth

"""An example for every public name, shown in the API reference. They run in this order; a test runs them."""

import modgrok as mg

# Experiment
experiment = mg.Experiment("n + m", 11, width=16, fraction=0.8, lr=0.1, steps=20)
print(experiment.id)  # names its run

# train
run = mg.train("n + m", modulus=11, width=16, fraction=0.8, lr=0.1, steps=20)
print(run.grokked_at, run.history["test_accuracy"][-1])

# train_all
first, second = mg.train_all([experiment, mg.Experiment("n + m", 11, width=16, lr=0.1, steps=20, seed=1)])

# Run
print(run.status, run.result.test_accuracy)
early = run.snapshot(run.snapshots[0])  # a Network, before training

# load
run = mg.load("last")

# runs
for found in mg.runs(modulus=11, seed=1):
    print(found.id)

# Store
store = mg.Store("runs")
print(len(list(store)))

# pack
mg.pack(run, "run.zip")

# unpack
(copy,) = mg.unpack("run.zip", store="elsewhere")

# replay
mg.replay(run, "run.html")


# Observer
class Printer(mg.Observer):
    def ended(self, run, result):
        print(run.id, result.status)


mg.train("n + m", modulus=11, width=16, lr=0.1, steps=20, observer=Printer())


# record
@mg.record("largest_weight", "two-layer")
def largest_weight(network, data):
    return abs(network.w_in).max()


mg.train("n + m", modulus=11, width=16, lr=0.1, steps=20, record=["largest_weight"])

# task
table = mg.task("n^2 + m", 13).table  # table[n, m] is the answer

# Task
print(mg.task("n/m", 13).holes)  # inputs that do not occur: m = 0

# classify
structure = mg.classify("n*m + n + m", 13)

# Structure
print(structure.kind, structure.reason)

# Split
train, test = mg.Split(fraction=0.5, sampling="balanced", seed=3).divide(mg.task("n + m", 13))

# solve
exact = mg.solve("n + m", 13, form="exact")

# Network
print(exact.width, exact([[3, 4]]).argmax())
exact.save("exact.safetensors")

# two_layer
same = mg.two_layer(exact.w_in, exact.w_out)

# predictions
right = (mg.predictions(exact) == mg.task("n + m", 13).table).all()

# score
print(mg.score(exact, [[3, 4], [12, 1]], [7, 0]))

# score_table
print(mg.score_table(exact, mg.task("n + m", 13)))

# Score
print(mg.score_table(exact, mg.task("n + m", 13)).accuracy)

# Architecture
print(exact.architecture.name)  # "two-layer"; subclass Architecture to add your own

# sweep
rows = mg.sweep("n + m", 11, vary={"seed": range(2)}, width=16, lr=0.1, steps=20)
print(rows["grokked_at"])

# Sweep
planned = mg.Sweep(mg.Experiment("n + m", 11, width=16, lr=0.1, steps=20), ["seed=0:2"])
print(planned.id)

# run_sweep
rows = mg.run_sweep(planned)

# critical
effort = mg.Effort(seeds=2, points=3, rounds=0)
(limit,) = mg.critical("n + m", 11, width=16, lr=0.1, steps=20, effort=effort)

# Effort
print(mg.Effort(seeds=4, points=5, rounds=1))  # how many runs a search for α_c may train

# landscape
functions = mg.landscape(["n + m", "n^2 + n*m"], 11, fraction=[0.8], width=16, lr=0.1, steps=20)

# analyze
found = mg.analyze(run)

# Analysis
print(found.score, found.waves.frequency[:5], found.cleaning)

# GroupAnalysis
on_group = mg.analyze(mg.solve("group:S3", form="exact"), "group:S3")

# Overview
transformer = mg.train("n + m", 7, network="transformer", width=8, heads=2, lr=0.01, steps=5)
print(mg.analyze(transformer).norms)

# neuron_waves
waves = mg.neuron_waves(exact)
print(waves.residual)  # φ1 + φ2 − φ3

# power_spectrum
power = mg.power_spectrum(exact.w_in)

# average_ipr
print(mg.average_ipr(exact.w_in))

# grokked_at
print(mg.grokked_at([0, 10, 20], [0.1, 0.5, 1.0]))  # 20

# memorized_at
print(mg.memorized_at([0, 10, 20], [0.1, 1.0, 1.0]))  # 10

# distance_to_closed_form
print(mg.distance_to_closed_form(exact))

# reproduce_paper
costs = mg.reproduce_paper("gromov2023", only="fig2", profile="tiny", plan=True)

# ModgrokError
try:
    mg.train("n + m", fraction=1.5)
except mg.ModgrokError as error:
    print(error)  # fraction must be …


# Interrupted
def train_for_a_while():
    try:
        return mg.train("n + m", modulus=97)
    except mg.Interrupted:  # Ctrl-C; the same call resumes
        return None


# plot.curves
axes = mg.plot.curves(run)

# plot.save
mg.plot.save(axes, "curves.png")

# plot.answers
mg.plot.answers(run)

# plot.weights
mg.plot.weights(run)

# plot.spectrum
mg.plot.spectrum(run)

# plot.phases
mg.plot.phases(run)

# plot.portrait
mg.plot.portrait(run)

# plot.progress
mg.plot.progress(transformer)

# plot.film
moving = mg.plot.film(run, ".gif", seconds=0.2)

# plot.sweep
mg.plot.sweep(rows, outcome="test_accuracy", x="seed")

# plot.critical
mg.plot.critical(limit)

# plot.transitions
mg.plot.transitions([limit])

# plot.against_modulus
mg.plot.against_modulus([limit])

# plot.landscape
mg.plot.landscape(functions)

# plot.representations
mg.plot.representations(on_group)

# plot.purity
mg.plot.purity(on_group)

# plot.gaps
mg.plot.gaps(on_group)

# plot.classify
grid = mg.sweep("n + m", 11, vary={"lr": [0.01, 0.1], "weight_decay": [0.0, 1.0]}, width=16, steps=20)
diagram = mg.plot.classify(grid, x="lr", y="weight_decay")

# plot.phase_diagram
mg.plot.phase_diagram(diagram)

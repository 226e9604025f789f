// Weights for n + m mod p that are written down: four neurons for each frequency, and a constant one.
//
// cos(x + y) = ½[(cos x + cos y)² + (sin x − sin y)²] − 1 and sin(x + y) = ½[(cos x + sin y)² + (sin x + cos y)²] − 1, so
// four squares with φ1 + φ2 = φ3 give cos(x + y − z) and terms in z alone, which the constant neuron takes away.

const TURN = Math.PI / 2;
const PHASES = [[0, 0], [-TURN, TURN], [0, -TURN], [-TURN, 0]];

// The network with the given frequencies, as a frame; with all (p − 1)/2 of them its outputs are exactly the table.
export function closedForm(p, frequencies) {
  const N = 4 * frequencies.length + 1;
  const blocks = new Float32Array(N * 3 * p);
  const frequency = new Uint32Array(N);
  const constant = new Float32Array(p).fill(1 / p);
  const wave = (k, x, phase) => Math.cos((2 * Math.PI * ((k * x) % p)) / p + phase);
  frequencies.forEach((k, j) => PHASES.forEach(([one, two], c) => {
    const i = 4 * j + c;
    frequency[i] = k;
    for (let x = 0; x < p; x++) {
      blocks[(3 * i + 0) * p + x] = wave(k, x, one);
      blocks[(3 * i + 1) * p + x] = wave(k, x, two);
      blocks[(3 * i + 2) * p + x] = wave(k, x, one + two) / p;
      constant[x] -= wave(k, x, one + two) / p;
    }
  }));
  blocks.fill(0.5, 3 * (N - 1) * p, (3 * (N - 1) + 2) * p);
  blocks.set(constant, (3 * (N - 1) + 2) * p);
  return asFrame(p, blocks, frequency);
}

export const asFrame = (p, blocks, frequency) => ({
  ...{ arity: 2, modulus: p, length: p, width: frequency.length, shown: frequency.length, activation: "quadratic", hidden_scale: 1, output_scale: 1 },
  ...{ scales: new Float32Array(3 * frequency.length).fill(1), blocks, frequency, neurons: Uint32Array.from(frequency, (_, i) => i) },
});

// Fewer neurons than the exact form takes for a frequency, for odd p. Three with phases 2πj/3 leave (1 + cos(x − y)) cos(x + y − z)
// up to a factor. Two, cos x + cos y and sin x + sin y with x and y shifted by π/4p, have squares whose ratio tells x + y: the
// answer q reads the direction in which they then lie. One of them alone multiplies the same readout whatever n and m are.
export function fewNeurons(p, count) {
  const blocks = new Float64Array(count * 3 * p);
  const turn = (2 * Math.PI) / p;
  for (let i = 0; i < count; i++) {
    for (let x = 0; x < p; x++) {
      const half = (turn * x + turn / 4) / 2;
      const [c, s] = [Math.cos(half) ** 2, Math.sin(half) ** 2];
      const third = turn * x + (2 * Math.PI * i) / 3;
      const input = count === 3 ? Math.cos(third) : [Math.cos, Math.sin][i](turn * x + turn / 8);
      const readout = count === 3 ? Math.cos(turn * x + (4 * Math.PI * i) / 3) : [c, s][i] / Math.hypot(c, s);
      [input, input, readout].forEach((value, b) => (blocks[(3 * i + b) * p + x] = value));
    }
  }
  return asFrame(p, blocks, new Uint32Array(count).fill(1));
}

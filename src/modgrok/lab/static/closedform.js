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
  return {
    ...{ arity: 2, modulus: p, length: p, width: N, shown: N, activation: "quadratic", hidden_scale: 1, output_scale: 1 },
    ...{ scales: new Float32Array(3 * N).fill(1), blocks, frequency, neurons: Uint32Array.from(frequency, (_, i) => i) },
  };
}

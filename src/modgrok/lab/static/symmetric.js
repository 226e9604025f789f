// The permutations of a few things, the matrices that multiply as they do, and a network of them that is written down.

import { asFrame } from "lab/closedform.js";

// All orders of n things, lexicographically. x y means first x, then y: the thing at place i goes to y[x[i]].
export function permutations(n) {
  let found = [[]];
  for (let i = 0; i < n; i++) found = found.flatMap((head) => Array.from({ length: n }, (_, x) => x).filter((x) => !head.includes(x)).map((x) => [...head, x]));
  return found;
}

// x y at [x · order + y].
export function products(elements) {
  const numbers = new Map(elements.map((x, i) => [x.join(), i]));
  return Uint8Array.from(elements.flatMap((x) => elements.map((y) => numbers.get(x.map((place) => y[place]).join()))));
}

// All real irreducible representations in Young's orthogonal form, the trivial one first, then by dimension: each { name,
// dimension d, matrices } with d² entries for every element. Its basis are the standard tableaux of one shape; s_i, which
// exchanges the things i and i + 1, multiplies a tableau by 1/r, r the distance from i to i + 1 along the diagonals, and adds
// √(1 − 1/r²) times the tableau with both exchanged.
export function representations(n, elements, table) {
  const shapes = new Map();
  for (const one of tableaux(n)) shapes.set(one.shape.join(), [...(shapes.get(one.shape.join()) ?? []), one]);
  const found = [...shapes.values()].map((basis) => {
    const d = basis.length;
    const numbers = new Map(basis.map(({ rows }, a) => [rows.join(), a]));
    const exchanges = Array.from({ length: n - 1 }, (_, i) => {
      const matrix = new Float64Array(d * d);
      basis.forEach(({ rows, diagonal }, a) => {
        const r = diagonal[i + 1] - diagonal[i];
        matrix[a * d + a] = 1 / r;
        const other = numbers.get(rows.with(i, rows[i + 1]).with(i + 1, rows[i]).join());
        if (Math.abs(r) > 1) matrix[a * d + other] = Math.sqrt(1 - 1 / (r * r));
      });
      return matrix;
    });
    return { dimension: d, matrices: multiplyOut(d, exchanges, n, elements, table) };
  });
  const trivial = ({ matrices, dimension }) => dimension === 1 && matrices.every((entry) => entry > 0);
  found.sort((a, b) => trivial(b) - trivial(a) || a.dimension - b.dimension);
  return found.map((one, k) => ({ ...one, name: one.dimension + "′".repeat(found.slice(0, k).filter(({ dimension }) => dimension === one.dimension).length) }));
}

// Standard tableaux of n boxes: the row of every number, the diagonal on which it stands, and the shape that they fill.
function tableaux(n) {
  let found = [{ rows: [], diagonal: [], shape: [] }];
  for (let i = 0; i < n; i++) {
    found = found.flatMap(({ rows, diagonal, shape }) => [...shape, 0]
      .map((length, row) => ({ rows: [...rows, row], diagonal: [...diagonal, length - row], shape: Object.assign([...shape], { [row]: length + 1 }) }))
      .filter((_, row) => row === 0 || (shape[row] ?? 0) < shape[row - 1]));
  }
  return found;
}

// The matrices of all elements: from what is known, one exchange further, ρ(x s) = ρ(x) ρ(s).
function multiplyOut(d, exchanges, n, elements, table) {
  const order = elements.length;
  const matrices = new Float64Array(order * d * d);
  const exchanged = Array.from({ length: n - 1 }, (_, i) => elements.findIndex((x) => x.every((to, at) => to === (at === i ? i + 1 : at === i + 1 ? i : at))));
  for (let i = 0; i < d; i++) matrices[i * d + i] = 1;
  const known = [0];
  for (const x of known) {
    exchanged.forEach((s, e) => {
      const y = table[x * order + s];
      if (known.includes(y)) return;
      known.push(y);
      for (let i = 0; i < d; i++) for (let k = 0; k < d; k++) for (let j = 0; j < d; j++) matrices[(y * d + i) * d + k] += matrices[(x * d + i) * d + j] * exchanges[e][j * d + k];
    });
  }
  return matrices;
}

// The network of the chosen representations, as a frame: for each entry ik of a matrix the d neurons ρ_ij(x) + ρ_jk(y), whose squares
// add up to 2 + 2 ρ_ik(xy), read out with ρ_ik(q); and a constant neuron that takes away what the squares hold besides. Σ d³ + 1 neurons.
export function writtenDown(order, chosen) {
  const N = 1 + chosen.reduce((sum, { dimension: d }) => sum + d ** 3, 0);
  const blocks = new Float32Array(N * 3 * order);
  const constant = new Float64Array(order).fill(1 / order);
  const kind = new Uint32Array(N);
  let at = 0;
  for (const { dimension: d, matrices, number } of chosen) {
    for (let i = 0; i < d; i++) for (let k = 0; k < d; k++) for (let j = 0; j < d; j++, at++) {
      kind[at] = number;
      for (let x = 0; x < order; x++) {
        const entry = (a, b) => matrices[(x * d + a) * d + b];
        [entry(i, j), entry(j, k), (d / order / 2) * entry(i, k)].forEach((value, b) => (blocks[(3 * at + b) * order + x] = value));
        constant[x] -= entry(i, k) / order;
      }
    }
  }
  blocks.fill(0.5, 3 * at * order, (3 * at + 2) * order);
  blocks.set(constant, (3 * at + 2) * order);
  return asFrame(order, blocks, kind);
}

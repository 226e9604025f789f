// A step of the paper's quadratic network in two variables, written for the matrix units of a Hopper GPU.
//
// With h = a_n + b_m of example (n, m), residual r and T_v = sum of r h' over the examples in which a variable has the
// value v, the gradient of that value's column is 2 W T_v, and the gradient of the readout is the sum over all values
// of both variables of their columns times T_v, because h^2 = a h + b h. So two products instead of three make all
// gradients, nothing is scattered, and every sum has one order.
//
// Macros set by the host: SIZE values of a variable, WIDTH neurons, OUTPUTS, ANSWERS (outputs in whole eights), PITCH
// (the length of a row of residuals), TILES of 64 examples, LISTS of up to SLOTS examples with one value, CHUNK (neurons
// that are copied at a time), MEMORY (bytes of shared memory for that), GROUPS and EACH (groups of four warps in
// `residuals`, and tiles of each), SPANS and PARTS (programs among which a run's tiles and its values are divided),
// HIDDEN and OUTPUT (prefactors), COUNTED (weight of a residual in the gradient), CROSS_ENTROPY; and the names of the
// kernels that are compiled.

constexpr int CHUNKS = (WIDTH + CHUNK - 1) / CHUNK, PADDED = CHUNK * CHUNKS;
constexpr int BLOCKS = ANSWERS / 8, VALUES = 2 * SIZE, ROWS = 64 * TILES + 1;  // the last one is zero
constexpr int PIECE = 16, CORE = 128;  // bytes of a copy and of an 8 by 8 block of 16-bit numbers
constexpr int LINE = 4 * CHUNK;  // bytes of the columns of one value in a chunk of neurons
constexpr int TABLE = VALUES * LINE, INWARDS = CHUNK / 8 * BLOCKS * CORE;  // bytes of a chunk's columns and readout
constexpr int READOUT_EXPONENT = 10, GAMMA_EXPONENT = 15, H_EXPONENT = 8, RESIDUAL_EXPONENT = 14;

// The power of two that scales a positive number to between half of 2^exponent and it; 1 if it is 0 or infinite.
INLINE float power_below(float bound, int exponent) {
  int of_bound = (__float_as_int(bound) >> 23) & 255;
  int power = min(max(exponent + 253 - of_bound, 27), 227);
  return __int_as_float((of_bound > 0 && of_bound < 255 ? power : 127) << 23);
}

INLINE float inverse_power(float power) { return __int_as_float(0x7f000000 - __float_as_int(power)); }

INLINE bool is_finite(float x) { return fabsf(x) <= 3.4028235e38f; }

#ifdef SCALE
INLINE float larger(float x, float y) { return y > x || y != y ? y : x; }

INLINE void widen(float4& found, float4 x) {
  found.x = larger(found.x, fabsf(x.x)), found.y = larger(found.y, fabsf(x.y));
  found.z = larger(found.z, fabsf(x.z)), found.w = larger(found.w, fabsf(x.w));
}

// Chunks of neurons in the order in which the other kernels copy them: their columns, value after value, where pieces of
// 32 bytes change places with the value, so that threads which read different values meet in no bank; their readout in
// 16 bits, prefactor included, each neuron scaled by a power of two. And of every neuron the largest |a| + |b| and the
// largest readout.
constexpr int SCALERS = 512, LANES = CHUNK / 4, SHARES = SCALERS / LANES;
extern "C" __global__ void __launch_bounds__(SCALERS)
    scale(const float* columns, const float* readout, float* table, uint4* inwards, float* bounds) {
  __shared__ float largest[3][SHARES / 2][CHUNK], held[OUTPUTS][CHUNK + 1];
  int run = blockIdx.y, lane = threadIdx.x % LANES * 4, share = threadIdx.x / LANES, first = blockIdx.x * CHUNK;
  bool exists = first + lane < WIDTH;
  columns += (size_t)run * VALUES * WIDTH + first + lane;
  readout += (size_t)run * OUTPUTS * WIDTH + first + lane;
  table += ((size_t)run * CHUNKS + blockIdx.x) * TABLE / 4;
  float4 none = make_float4(0, 0, 0, 0), found[3] = {none, none, none};
  for (int s = 0; s < 2; s++) {
#pragma unroll
    for (int n = 0; n < (SIZE + SHARES - 1) / SHARES; n++) {
      int row = s * SIZE + share + n * SHARES;
      if (row < (s + 1) * SIZE) {
        float4 x = exists ? *(const float4*)(columns + row * WIDTH) : none;
        *(float4*)(table + row * CHUNK + (lane ^ ((row & 3) << 3))) = x;
        widen(found[s], x);
      }
    }
  }
#pragma unroll
  for (int n = 0; n < (OUTPUTS + SHARES - 1) / SHARES; n++) {
    int q = share + n * SHARES;
    if (q < OUTPUTS) {
      float4 x = exists ? *(const float4*)(readout + q * WIDTH) : none;
      x.x *= OUTPUT, x.y *= OUTPUT, x.z *= OUTPUT, x.w *= OUTPUT;
      held[q][lane] = x.x, held[q][lane + 1] = x.y, held[q][lane + 2] = x.z, held[q][lane + 3] = x.w;
      widen(found[2], x);
    }
  }
#pragma unroll
  for (int i = 0; i < 3; i++) {
    float4 other;
    other.x = __shfl_xor_sync(~0u, found[i].x, LANES), other.y = __shfl_xor_sync(~0u, found[i].y, LANES);
    other.z = __shfl_xor_sync(~0u, found[i].z, LANES), other.w = __shfl_xor_sync(~0u, found[i].w, LANES);
    widen(found[i], other);
    if (share % 2 == 0) {
      float* to = largest[i][share / 2] + lane;
      to[0] = found[i].x, to[1] = found[i].y, to[2] = found[i].z, to[3] = found[i].w;
    }
  }
  __syncthreads();
  if (threadIdx.x < 3 * CHUNK) {
    int i = threadIdx.x / CHUNK, neuron = threadIdx.x % CHUNK;
    float most = 0;
#pragma unroll
    for (int other = 0; other < SHARES / 2; other++) most = larger(most, largest[i][other][neuron]);
    largest[i][0][neuron] = most;
  }
  __syncthreads();
  if (threadIdx.x < CHUNK) {
    int neuron = threadIdx.x;
    bounds[(run * 2 + 0) * PADDED + first + neuron] = largest[0][0][neuron] + largest[1][0][neuron];
    bounds[(run * 2 + 1) * PADDED + first + neuron] = largest[2][0][neuron];
  }
  inwards += ((size_t)run * CHUNKS + blockIdx.x) * (INWARDS / PIECE);
  for (int item = threadIdx.x; item < CHUNK / 8 * ANSWERS; item += SCALERS) {
    int block = item / ANSWERS, q = item % ANSWERS;
    unsigned words[4];
    for (int c = 0; c < 4; c++) {
      float pair[2];
      for (int e = 0; e < 2; e++) {
        // A thread of `residuals` reads four neurons at once; the matrix units take them two by two.
        int neuron = 16 * (block / 2) + 4 * c + 2 * (block % 2) + e;
        pair[e] = (q < OUTPUTS ? held[q][neuron] : 0.f) * power_below(largest[2][0][neuron], READOUT_EXPONENT);
      }
      words[c] = to_halves(pair[0], pair[1]);
    }
    inwards[item] = make_uint4(words[0], words[1], words[2], words[3]);
  }
}
#endif

#ifdef RESIDUALS
// The losses of the examples, NaN unless all gradients are sure to be finite, and what is left of their answers, in 16
// bits and scaled by `rhos`, one for each run.
namespace forward {
constexpr int SECOND = SIZE * LINE, STAGE = TABLE + INWARDS;
constexpr int FIT = (MEMORY - PADDED * 4) / STAGE, STAGES = FIT < CHUNKS + 1 ? FIT : CHUNKS + 1;
constexpr int THREADS = 128 * GROUPS, AT_ONCE = GROUPS * EACH, ROUNDS = (TILES + AT_ONCE * SPANS - 1) / (AT_ONCE * SPANS);
static_assert(STAGES >= 2, "shared memory holds two chunks");
}
extern "C" __global__ void __launch_bounds__(forward::THREADS, 1)
    residuals(const unsigned char* table, const unsigned char* inwards, const float* bounds, const float* share,
              const int4* pairs, const int* used, float* losses, unsigned* left, float* rhos) {
  using namespace forward;
  extern __shared__ __align__(128) unsigned char memory[];
  __shared__ float sums[2][THREADS / 32];
  __shared__ __align__(8) unsigned long long barriers[2 * STAGES];
  int run = blockIdx.y, thread = threadIdx.x, rounds = 0;
  for (int round = 0; round < ROUNDS; round++) {
    int tile = (round * SPANS + blockIdx.x) * AT_ONCE;
    if (tile < used[run]) {
      rounds = round + 1;
    } else if (thread < 4 * AT_ONCE && tile + thread / 4 < TILES) {
      losses[((size_t)run * TILES + tile) * 4 + thread] = 0;
    }
  }
  if (rounds == 0 && blockIdx.x > 0) return;  // the first program says something of every run
  unsigned stages = shared_address(memory), full = shared_address(barriers), empty = full + 8 * STAGES;
  float* factors = (float*)(memory + STAGES * STAGE);
  bounds += (size_t)run * 2 * PADDED;
  table += (size_t)run * CHUNKS * TABLE;
  inwards += (size_t)run * CHUNKS * INWARDS;
  int group = thread / 128;
  // Examples come in the order of their first value, so a round needs a few of these: from one on, so many.
  auto firsts = [&](int round) {
    int tile = min((round * SPANS + blockIdx.x) * AT_ONCE, TILES - 1), last = min(tile + AT_ONCE, TILES);
    int value = pairs[((size_t)run * TILES + tile) * 32].x / LINE;
    return make_int2(value, pairs[((size_t)run * TILES + last) * 32 - 1].x / LINE - value + 1);
  };
  int2 now = firsts(0), next = now;
  auto copy = [&](int chunk, int to_stage, int parity, int2 firsts) {
    unsigned to = stages + to_stage * STAGE, barrier = full + 8 * to_stage;
    const unsigned char* from = table + chunk * TABLE;
    barrier_wait(empty + 8 * to_stage, parity);
    copy_block(to, from + SECOND, SECOND, barrier);
    copy_block(to + SECOND, from + firsts.x * LINE, firsts.y * LINE, barrier);
    copy_block(to + TABLE, inwards + chunk * INWARDS, INWARDS, barrier);
    barrier_arrive(barrier);
  };
  if (thread == 0) {
    for (int i = 0; i < STAGES; i++) {
      barrier_start(full + 8 * i, 1);
      barrier_start(empty + 8 * i, 4 * GROUPS);
    }
    publish();
  }
  __syncthreads();
  if (thread == 0) {
    for (int i = 0; i < STAGES - 1 && rounds > 0; i++) copy(i, i, 1, now);  // an empty stage is not waited for
  }

  // What the largest neuron and all of them contribute to an output decides the scales of this run.
  float most = 0, total = 0;
  for (int k = thread; k < WIDTH; k += THREADS) {
    float of_neuron = HIDDEN * bounds[k] * HIDDEN * bounds[k] * bounds[PADDED + k];
    most = fmaxf(most, of_neuron);
    total += of_neuron;
  }
  for (int distance = 16; distance > 0; distance /= 2) {
    most = fmaxf(most, __shfl_xor_sync(~0u, most, distance));
    total += __shfl_xor_sync(~0u, total, distance);
  }
  if (thread % 32 == 0) sums[0][thread / 32] = most, sums[1][thread / 32] = total;
  __syncthreads();
  most = 0, total = 0;
  for (int i = 0; i < THREADS / 32; i++) most = fmaxf(most, sums[0][i]), total += sums[1][i];
  float gamma = power_below(most, GAMMA_EXPONENT), back = inverse_power(gamma);
  float rho = CROSS_ENTROPY ? (float)(1 << (RESIDUAL_EXPONENT - 1)) : power_below(total + 1, RESIDUAL_EXPONENT);
  float sure = total;
  for (int k = thread; k < PADDED; k += THREADS) {
    float of_w = power_below(bounds[PADDED + k], READOUT_EXPONENT), tau = power_below(bounds[k], H_EXPONENT);
    factors[k] = k < WIDTH ? fminf(gamma * (HIDDEN * HIDDEN) * inverse_power(of_w), 1e30f) : 0.f;
    if (k < WIDTH) {
      float largest =
          (float)ROWS * (1 << H_EXPONENT) * (1 << RESIDUAL_EXPONENT) * (bounds[k] + OUTPUTS / OUTPUT * bounds[PADDED + k]);
      sure += largest + largest * (share[run] * COUNTED / rho) * inverse_power(tau) * (4 * HIDDEN * HIDDEN * OUTPUT);
    }
  }
  for (int distance = 16; distance > 0; distance /= 2) sure += __shfl_xor_sync(~0u, sure, distance);
  __syncthreads();  // before the sums are written again
  if (thread % 32 == 0) sums[0][thread / 32] = sure;
  __syncthreads();
  sure = 0;
  for (int i = 0; i < THREADS / 32; i++) sure += sums[0][i];
  if (blockIdx.x == 0 && thread == 0) rhos[run] = rho;
  float weight = is_finite(sure) ? share[run] : __int_as_float(0x7fffffff);
  hold(weight);

  int warp = thread / 32 % 4, lane = thread % 32, g = lane / 4, c = lane % 4, stage = 0, parity = 0;
  if (blockIdx.x == 0 && thread < PITCH / 2) left[((size_t)run * ROWS + ROWS - 1) * (PITCH / 2) + thread] = 0;
#pragma unroll 1
  for (int round = 0; round < rounds; round++) {
    next = firsts(round + 1);
    auto tile_of = [&](int i) { return (round * SPANS + blockIdx.x) * AT_ONCE + group * EACH + i; };
    int labels[EACH][2];
    unsigned offsets[EACH][3];  // Two examples of a thread share the first variable's value.
#pragma unroll
    for (int i = 0; i < EACH; i++) {
      int4 pair = pairs[((size_t)run * TILES + min(tile_of(i), TILES - 1)) * 32 + warp * 8 + g];
      offsets[i][0] = (pair.x - now.x * LINE + SECOND) ^ (c * PIECE);
      offsets[i][1] = ((pair.y & 0xffff) - SECOND) ^ (c * PIECE);
      offsets[i][2] = (((unsigned)pair.y >> 16) - SECOND) ^ (c * PIECE);
      labels[i][0] = pair.z, labels[i][1] = pair.w;
    }
    unsigned operands[EACH][4];
    float4 ahead[EACH][2];  // rounded after the products: what they read must not be written meanwhile
    auto prepare = [&](int chunk, int k) {
      unsigned from = stages + stage * STAGE;
      float4 factor = load4(shared_address(factors) + (chunk * CHUNK + k * 16 + 4 * c) * 4);
#pragma unroll
      for (int i = 0; i < EACH; i++) {
        float4 y = load4(from + (offsets[i][0] ^ (k << 6)));
#pragma unroll
        for (int half = 0; half < 2; half++) {
          float4 x = load4(from + (offsets[i][1 + half] ^ (k << 6)));
          x.x += y.x, x.y += y.y, x.z += y.z, x.w += y.w;
          ahead[i][half] = make_float4(x.x * x.x * factor.x, x.y * x.y * factor.y, x.z * x.z * factor.z, x.w * x.w * factor.w);
        }
      }
    };
    float out[EACH][ANSWERS / 2];
    Descriptor readouts = describe<0>(stages + TABLE, BLOCKS * CORE, CORE);
    barrier_wait(full + 8 * stage, parity);
    prepare(0, 0);
#pragma unroll 1
    for (int chunk = 0; chunk < CHUNKS; chunk++) {
      if (thread == chunk % GROUPS * 128) {  // the groups take turns
        bool over = chunk + STAGES - 1 >= CHUNKS;
        if (!over || round + 1 < rounds) {
          copy(chunk + STAGES - 1 - (over ? CHUNKS : 0), stage == 0 ? STAGES - 1 : stage - 1, parity ^ (stage == 0),
               over ? next : now);
        }
      }
      unsigned done = empty + 8 * stage;
      Descriptor readout = readouts + stage * (STAGE / 16);
#pragma unroll
      for (int k = 0; k < CHUNK / 16; k++) {
#pragma unroll
        for (int i = 0; i < EACH; i++) {
#pragma unroll
          for (int half = 0; half < 2; half++) {
            operands[i][half] = to_halves(ahead[i][half].x, ahead[i][half].y);
            operands[i][2 + half] = to_halves(ahead[i][half].z, ahead[i][half].w);
          }
        }
        begin_products();
#pragma unroll
        for (int i = 0; i < EACH; i++) {
          multiply<0>(out[i], operands[i], readout + k * (2 * BLOCKS * CORE / 16), chunk + k > 0);
        }
        commit_products();
        if (k + 1 < CHUNK / 16) {
          prepare(chunk, k + 1);
        } else {
          if (++stage == STAGES) stage = 0, parity ^= 1;
          if (chunk + 1 < CHUNKS) {
            barrier_wait(full + 8 * stage, parity);
            prepare(chunk + 1, 0);
          }
        }
        wait_products<0>();
#pragma unroll
        for (int i = 0; i < EACH; i++) keep(operands[i]);
      }
      if (lane == 0) barrier_arrive(done);
    }

#pragma unroll
    for (int i = 0; i < EACH; i++) hold(out[i]);
    now = next;
#pragma unroll
    for (int i = 0; i < EACH; i++) {
      int tile = tile_of(i);
      if (tile >= TILES) continue;
      float loss = 0;
#pragma unroll
      for (int half = 0; half < 2; half++) {
        int own_q = labels[i][half] - 2 * c;  // as counted by this thread
        bool counts = labels[i][half] >= 0;
        float top = -1e38f, powers = 0, own = 0, squares[2] = {0, 0};
        auto answer = [&](int n) { return out[i][n / 2 * 4 + 2 * half + n % 2] * back; };
        auto exists = [&](int n) { return n / 2 * 8 + 2 * c + n % 2 < OUTPUTS; };
        if (CROSS_ENTROPY) {
#pragma unroll
          for (int n = 0; n < 2 * BLOCKS; n++) {
            if (exists(n)) top = fmaxf(top, answer(n));
          }
          for (int distance = 1; distance < 4; distance *= 2) top = fmaxf(top, __shfl_xor_sync(~0u, top, distance));
#pragma unroll
          for (int n = 0; n < 2 * BLOCKS; n++) {
            float x = answer(n);
            if (exists(n)) powers += __expf(x - top);
            if (n / 2 * 8 + n % 2 == own_q) own = x;
          }
          for (int distance = 1; distance < 4; distance *= 2) {
            powers += __shfl_xor_sync(~0u, powers, distance);
            own += __shfl_xor_sync(~0u, own, distance);
          }
        }
        unsigned* to = left + ((unsigned)(run * ROWS + tile * 64 + warp * 16 + g + 8 * half) * (PITCH / 2) + c);
#pragma unroll
        for (int n = 0; n < BLOCKS; n++) {
          float rest[2];
#pragma unroll
          for (int e = 0; e < 2; e++) {
            float x = CROSS_ENTROPY ? __expf(answer(2 * n + e) - top) / powers : answer(2 * n + e);
            if (n * 8 + e == own_q) x -= 1;
            rest[e] = exists(2 * n + e) ? x : 0.f;
            squares[e] += rest[e] * rest[e];
          }
          to[4 * n] = to_halves(rest[0] * rho, rest[1] * rho);
        }
        // The four threads of a row are added up with those of the other rows.
        if (counts) loss += CROSS_ENTROPY ? (__logf(powers) + top - own) / 4 : (squares[0] + squares[1]) / OUTPUTS;
      }
      for (int distance = 1; distance < 32; distance *= 2) loss += __shfl_xor_sync(~0u, loss, distance);
      if (lane == 0) losses[(unsigned)(run * TILES + tile) * 4 + warp] = loss * weight;
    }
  }
}
#endif

#ifdef GRADIENTS
// The gradients of 128 neurons: two groups of warps multiply, one copies the residuals of value after value.
namespace backward {
constexpr int NEURONS = 128, ATOM = ANSWERS > 32 ? 128 : 64, PIECES = ATOM / PIECE, ATOMS = (BLOCKS + PIECES - 1) / PIECES;
constexpr int TILE = ATOMS * SLOTS * ATOM, ENTRIES = 2 * SLOTS + PIECE;
constexpr int EACH_PART = PARTS == 1 ? VALUES : (SIZE + PARTS / 2 - 1) / (PARTS / 2);
constexpr int TABLE_ROWS = PARTS == 1 ? VALUES : SIZE + EACH_PART;
constexpr int COLUMNS = NEURONS / CHUNK * TABLE_ROWS * LINE, FIT = (MEMORY - COLUMNS) / (TILE + ENTRIES);
constexpr int STAGES = FIT < 8 ? FIT : 8;
static_assert(STAGES >= 2, "shared memory holds two lists");
constexpr int AT_ONCE = 128 / PIECES, COPIES = (SLOTS + AT_ONCE - 1) / AT_ONCE;  // slots of one copy of all threads
}
// The products of the first `count` sixteens of slots, in a row for each count: a branch between them makes them wait.
template <int STEPS>
INLINE void sum_products(float (&sums)[4 * BLOCKS], const unsigned (*operands)[4], Descriptor from, int count, bool add) {
  using namespace backward;
  if constexpr (STEPS > 1) {
    if (count < STEPS) return sum_products<STEPS - 1>(sums, operands, from, count, add);
  }
#pragma unroll
  for (int step = 0; step < STEPS; step++) {
    multiply<1>(sums, operands[step], from + step * ATOM, add || step > 0);
  }
  commit_products();
}

extern "C" __global__ void __launch_bounds__(384, 1)
    gradients(const float* readout, const unsigned char* table, const float* bounds, const float* share,
              const float* rhos, const unsigned char* left, const int* firsts, const int* sources, const uint4* others,
              float* d_columns, float* d_readout) {
  using namespace backward;
  extern __shared__ __align__(1024) unsigned char memory[];
  __shared__ __align__(8) unsigned long long barriers[2 * STAGES + 1];
  int run = blockIdx.z, part = blockIdx.y, first = blockIdx.x * NEURONS, thread = threadIdx.x;
  int own = PARTS == 1 ? 0 : part / (PARTS / 2);  // the variable of this part's values
  int last = (PARTS == 1 ? 2 : own + 1) * SIZE;  // of the values of this part's variable, or of both
  int first_value = PARTS == 1 ? 0 : min(own * SIZE + part % (PARTS / 2) * EACH_PART, last);
  int last_value = min(first_value + EACH_PART, last);
  int begin = firsts[run * (VALUES + 1) + first_value], end = firsts[run * (VALUES + 1) + last_value];
  int table_row = PARTS == 1 ? 0 : (1 - own) * SIZE;
  unsigned stages = (shared_address(memory) + 1023) / 1024 * 1024, entries = stages + STAGES * TILE;
  unsigned read = entries + STAGES * ENTRIES, full = shared_address(barriers), empty = full + 8 * STAGES;
  unsigned there = empty + 8 * STAGES;
  if (thread == 0) {
    for (int i = 0; i < STAGES; i++) {
      barrier_start(full + 8 * i, 128);
      barrier_start(empty + 8 * i, 8);
    }
    barrier_start(there, 1);
    publish();
  }
  __syncthreads();

  if (thread >= 256) {
    leave_registers<40>();
    int copier = thread - 256, slot = copier / PIECES, piece = copier % PIECES, next[COPIES];
    if (copier == 0 && begin < end) {
      for (int i = 0; i < NEURONS / CHUNK; i++) {
        int chunk = min(blockIdx.x * (NEURONS / CHUNK) + i, CHUNKS - 1);
        const unsigned char* from = table + ((size_t)run * CHUNKS + chunk) * TABLE;
        unsigned to = read + i * TABLE_ROWS * LINE;
        copy_block(to, from + table_row * LINE, (PARTS == 1 ? VALUES : SIZE) * LINE, there);
        if (PARTS > 1) {
          copy_block(to + SIZE * LINE, from + first_value * LINE, (last_value - first_value) * LINE, there);
        }
      }
      barrier_arrive(there);
    }
    sources += (size_t)run * LISTS * SLOTS + slot;
    others += (size_t)run * LISTS * (ENTRIES / PIECE);
    left += (size_t)run * ROWS * PITCH * 2 + piece * PIECE;
    bool copies_entry = copier < ENTRIES / PIECE;
    unsigned place = stages + slot * ATOM + ((piece * PIECE) ^ (slot * ATOM >> 3 & (ATOM - PIECE)));
    int count = 0, stage = 0, parity = 1;
    auto look_up = [&](int v) {
      if (v < end) {
        count = *(const unsigned short*)(others + v * (ENTRIES / PIECE) + SLOTS / 8);
#pragma unroll
        for (int n = 0; n < COPIES; n++) {
          if ((n + 1) * AT_ONCE <= SLOTS || slot + n * AT_ONCE < SLOTS) next[n] = sources[v * SLOTS + n * AT_ONCE];
        }
      }
    };
    look_up(begin);
#pragma unroll 1
    for (int v = begin; v < end; v++) {
      int from[COPIES], length = 16 * count;
#pragma unroll
      for (int n = 0; n < COPIES; n++) from[n] = next[n];
      look_up(v + 1);
      barrier_wait(empty + 8 * stage, parity);  // passes at once the first time round
      unsigned to = place + stage * TILE;
#pragma unroll
      for (int n = 0; n < COPIES; n++) {
        if (slot + n * AT_ONCE < length) {
          const unsigned char* row = left + from[n];
#pragma unroll
          for (int atom = 0; atom < ATOMS; atom++) {
            if (atom * PIECES + piece < BLOCKS) copy_async(to + (atom * SLOTS + n * AT_ONCE) * ATOM, row + atom * ATOM);
          }
        }
      }
      if (copies_entry) {
        copy_async(entries + stage * ENTRIES + copier * PIECE, others + v * (ENTRIES / PIECE) + copier);
      }
      barrier_arrive_copied(full + 8 * stage);
      if (++stage == STAGES) stage = 0, parity ^= 1;
    }
  } else {
    take_registers<232>();
    int group = thread / 128, warp = thread / 32 % 4, lane = thread % 32, g = lane / 4, c = lane % 4;
    int within = group * 64 + warp * 16 + 2 * g, neuron = first + within;
    bool exists = neuron < WIDTH;
    float weights[2][BLOCKS * 2], sums[2][BLOCKS * 2], products[BLOCKS * 4];
    readout += (size_t)run * OUTPUTS * WIDTH + neuron;
    d_columns += (size_t)run * VALUES * WIDTH + neuron;
#pragma unroll
    for (int n = 0; n < 2 * BLOCKS; n++) {
      int q = n / 2 * 8 + 2 * c + n % 2;
      float2 w = exists && q < OUTPUTS ? *(const float2*)(readout + q * WIDTH) : make_float2(0, 0);
      weights[0][n] = w.x, weights[1][n] = w.y;
      sums[0][n] = sums[1][n] = 0;
    }
    float taus[2], factors[2];
#pragma unroll
    for (int i = 0; i < 2; i++) {
      taus[i] = exists ? power_below(bounds[run * 2 * PADDED + neuron + i], H_EXPONENT) : 1.f;
      factors[i] = share[run] * COUNTED / rhos[run] * inverse_power(taus[i]) * (HIDDEN * HIDDEN * OUTPUT);
#pragma unroll
      for (int n = 0; n < 2 * BLOCKS; n++) weights[i][n] *= 2 * factors[i];
    }
    unsigned bank = (within % CHUNK) * 4, at = read + within / CHUNK * (TABLE_ROWS * LINE) - table_row * LINE;
    Descriptor tile = describe<ATOM>(stages, SLOTS * ATOM, 8 * ATOM);
    // Operands of one value are read while the matrix units multiply those of the value before.
    unsigned operands[2][SLOTS / 16][4];
    float2 now = make_float2(0, 0), next = now;
    int stage = 0, next_stage = 0, parity = 0;
    // Sixteens and value, whether it is the value's first or last list, and the next list's value.
    uint2 about = make_uint2(0, 0), next_about = about;
    auto prepare = [&](unsigned value, unsigned(&to)[SLOTS / 16][4]) {
      unsigned own_row = PARTS == 1 ? value : value - first_value + SIZE + table_row;
      next = load2(at + ((own_row * LINE) | (bank ^ ((value & 3) << 5))));
      barrier_wait(full + 8 * next_stage, parity);
      unsigned row = entries + next_stage * ENTRIES + c * 8;
      uint2 packed[SLOTS / 16];
#pragma unroll
      for (int step = 0; step < SLOTS / 16; step++) packed[step] = load_entries(row + step * 32);
      next_about = load_entries(entries + next_stage * ENTRIES + 2 * SLOTS);
      float own_h[2] = {next.x * taus[0], next.y * taus[1]};
#pragma unroll
      for (int step = 0; step < SLOTS / 16; step++) {
        uint2 both = packed[step];
        unsigned where[4] = {both.x << 5, both.x >> 11, both.y << 5, both.y >> 11};
        float2 h[4];
#pragma unroll
        for (int i = 0; i < 4; i++) {
          float2 b = load2(at + ((where[i] & 0x1fffe0) ^ bank));
          h[i] = make_float2(b.x * taus[0] + own_h[0], b.y * taus[1] + own_h[1]);
        }
        to[step][0] = to_halves(h[0].x, h[1].x);
        to[step][1] = to_halves(h[0].y, h[1].y);
        to[step][2] = to_halves(h[2].x, h[3].x);
        to[step][3] = to_halves(h[2].y, h[3].y);
      }
    };
    auto take = [&](unsigned(&of)[SLOTS / 16][4], unsigned(&ahead)[SLOTS / 16][4], bool more) {
      begin_products();
      sum_products<SLOTS / 16>(products, of, tile + stage * (TILE / 16), about.x & 0xffff, !(about.y & 1));
      if (more) prepare(about.y >> 16, ahead);
      wait_products<0>();
#pragma unroll
      for (int step = 0; step < SLOTS / 16; step++) keep(of[step]);
      hold(products);
      if (lane == 0) barrier_arrive(empty + 8 * stage);
      if (!(about.y & 2)) return;
      float parts[2][2] = {{0, 0}, {0, 0}};
#pragma unroll
      for (int n = 0; n < 2 * BLOCKS; n++) {
        float x = products[n / 2 * 4 + n % 2], y = products[n / 2 * 4 + 2 + n % 2];
        parts[0][n % 2] += weights[0][n] * x, parts[1][n % 2] += weights[1][n] * y;
        sums[0][n] += now.x * x, sums[1][n] += now.y * y;
      }
      float found[2] = {parts[0][0] + parts[0][1], parts[1][0] + parts[1][1]};
#pragma unroll
      for (int distance = 1; distance < 4; distance *= 2) {
        found[0] += __shfl_xor_sync(~0u, found[0], distance);
        found[1] += __shfl_xor_sync(~0u, found[1], distance);
      }
      if (exists && c == 0) *(float2*)(d_columns + (about.x >> 16) * WIDTH) = make_float2(found[0], found[1]);
    };
    auto advance = [&]() {
      now = next, about = next_about, stage = next_stage;
      if (++next_stage == STAGES) next_stage = 0, parity ^= 1;
    };
    if (begin < end) {
      barrier_wait(there, 0);
      prepare(first_value, operands[0]);
      advance();
    }
    int v = begin;
#pragma unroll 1
    for (; v < end; v += 2) {
      take(operands[0], operands[1], v + 1 < end);
      advance();
      if (v + 1 >= end) break;
      take(operands[1], operands[0], v + 2 < end);
      advance();
    }
    d_readout += ((size_t)run * PARTS + part) * OUTPUTS * WIDTH + neuron;
#pragma unroll
    for (int n = 0; n < 2 * BLOCKS; n++) {
      int q = n / 2 * 8 + 2 * c + n % 2;
      if (exists && q < OUTPUTS) {
        *(float2*)(d_readout + q * WIDTH) = make_float2(factors[0] * sums[0][n], factors[1] * sums[1][n]);
      }
    }
  }
}
#endif

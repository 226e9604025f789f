// The instructions of hopper.cuh on a CPU, so that kernels run where there is no GPU: the threads of a block are fibers
// that take turns, and pause where the instruction waits for others.
#include <ucontext.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <utility>

#define INLINE inline
#define __device__
#define __global__
#define __forceinline__
#define __launch_bounds__(...)
#define __align__(n) __attribute__((aligned(n)))
#define __shared__ static

struct float2 { float x, y; };
struct float4 { float x, y, z, w; };
struct int2 { int x, y; };
struct int4 { int x, y, z, w; };
struct uint2 { unsigned x, y; };
struct uint4 { unsigned x, y, z, w; };
struct Place { int x, y, z; };
inline int2 make_int2(int x, int y) { return {x, y}; }
inline float2 make_float2(float x, float y) { return {x, y}; }
inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }
inline uint2 make_uint2(unsigned x, unsigned y) { return {x, y}; }
inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) { return {x, y, z, w}; }
template <class T> T min(T a, T b) { return a < b ? a : b; }
template <class T> T max(T a, T b) { return a < b ? b : a; }
inline float __int_as_float(int x) { float y; memcpy(&y, &x, 4); return y; }
inline int __float_as_int(float x) { int y; memcpy(&y, &x, 4); return y; }
inline float __expf(float x) { return expf(x); }
inline float __logf(float x) { return logf(x); }

alignas(1024) unsigned char memory[232448];
Place blockIdx, threadIdx;

struct Fiber {
  ucontext_t context;
  bool done;
};
constexpr size_t STACK = 1 << 16;
static Fiber fibers[1024];
static char* stacks = (char*)malloc(1024 * STACK);
static ucontext_t scheduler;
static int current, members;

static void pause() {
  int me = current;
  swapcontext(&fibers[me].context, &scheduler);
  current = me, threadIdx.x = me;
}

// Where `count` threads meet: the last to come acts for all.
struct Meeting {
  int here = 0;
  unsigned long round = 0;
  template <class Act> void join(int count, Act act) {
    unsigned long mine = round;
    if (++here == count) {
      act();
      here = 0, round++;
    } else {
      while (round == mine) pause();
    }
  }
};
static Meeting block, warps[64], groups[8];
static float exchanged[1024];

inline void __syncthreads() { block.join(members, [] {}); }
inline float __shfl_xor_sync(unsigned, float x, int distance) {
  int me = threadIdx.x;
  exchanged[me] = x;
  warps[me / 32].join(32, [] {});
  float found = exchanged[me ^ distance];
  warps[me / 32].join(32, [] {});
  return found;
}

typedef unsigned long long Descriptor;
inline unsigned shared_address(const void* pointer) { return (unsigned)((const unsigned char*)pointer - memory); }
inline unsigned char* at_address(unsigned address) { return memory + (int)address; }
inline void copy_async(unsigned to, const void* from) { memcpy(at_address(to), from, 16); }
inline void publish() {}

struct Barrier { uint16_t arrivals, pending; uint32_t phase; };
inline void barrier_start(unsigned barrier, int arrivals) {
  *(Barrier*)at_address(barrier) = {(uint16_t)arrivals, (uint16_t)arrivals, 0};
}
inline void barrier_arrive(unsigned barrier) {
  Barrier* b = (Barrier*)at_address(barrier);
  if (--b->pending == 0) b->pending = b->arrivals, b->phase++;
}
inline void barrier_arrive_copied(unsigned barrier) { barrier_arrive(barrier); }
inline void copy_block(unsigned to, const void* from, int bytes, unsigned) { memcpy(at_address(to), from, bytes); }
inline void barrier_wait(unsigned barrier, unsigned parity) {
  while ((((Barrier*)at_address(barrier))->phase & 1) == parity) pause();
}

inline float4 load4(unsigned from) { return *(float4*)at_address(from); }
inline float2 load2(unsigned from) { return *(float2*)at_address(from); }
inline uint2 load_entries(unsigned from) { return *(uint2*)at_address(from); }
inline unsigned to_halves(float low, float high) {
  float most = 65504;
  if (std::isfinite(low)) low = fminf(fmaxf(low, -most), most);
  if (std::isfinite(high)) high = fminf(fmaxf(high, -most), most);
  _Float16 both[2] = {(_Float16)low, (_Float16)high};
  unsigned word;
  memcpy(&word, both, 4);
  return word;
}
inline void hold(float&) {}
template <int COUNT> void hold(float (&)[COUNT]) {}
inline void keep(const unsigned (&)[4]) {}
inline void begin_products() {}
inline void commit_products() {}
template <int PENDING> void wait_products() {}
template <int REGISTERS> void take_registers() {}
template <int REGISTERS> void leave_registers() {}
template <int SWIZZLE> Descriptor describe(unsigned address, int leading, int stride) {
  Descriptor mode = SWIZZLE == 128 ? 1 : SWIZZLE == 64 ? 2 : 0;
  return (Descriptor)(address >> 4) | (Descriptor)(leading >> 4) << 16 | (Descriptor)(stride >> 4) << 32 | mode << 62;
}

static float* sums_of[1024];
static const unsigned* operands_of[1024];
template <int TRANSPOSED, int SUMS> void multiply(float (&d)[SUMS], const unsigned* a, Descriptor b, bool add) {
  int me = threadIdx.x, group = me / 128;
  sums_of[me] = d, operands_of[me] = a;
  groups[group].join(128, [&] {
    unsigned start = (unsigned)(b & 0x3fff) << 4, mode = b >> 62, line = mode == 1 ? 128 : mode == 2 ? 64 : 16;
    int leading = (int)(b >> 16 & 0x3fff) << 4, stride = (int)(b >> 32 & 0x3fff) << 4;
    for (int m = 0; m < 64; m++) {
      int lane_row = group * 128 + m / 16 * 32 + m % 8 * 4, high = m % 16 / 8;
      for (int n = 0; n < 2 * SUMS; n++) {
        float sum = 0;
        for (int k = 0; k < 16; k++) {
          unsigned word = operands_of[lane_row + k % 8 / 2][k / 8 * 2 + high];
          _Float16 x, y;
          uint16_t bits = (uint16_t)(word >> 16 * (k % 2));
          memcpy(&x, &bits, 2);
          unsigned where = start;
          if (mode == 0) {
            where += k / 8 * leading + n / 8 * stride + (TRANSPOSED ? k % 8 * 16 + n % 8 * 2 : n % 8 * 16 + k % 8 * 2);
          } else {
            int columns = line / 2;
            where += n / columns * leading + n % columns * 2 + k / 8 * stride + k % 8 * line;
            where ^= (where >> 7 & (line / 16 - 1)) << 4;
          }
          memcpy(&y, at_address(where), 2);
          sum += (float)x * (float)y;
        }
        float& to = sums_of[lane_row + n % 8 / 2][n / 8 * 4 + 2 * high + n % 2];
        to = (add ? to : 0) + sum;
      }
    }
  });
}

static void** arguments;
static void (*work)(void**);
static void enter() {
  work(arguments);
  fibers[current].done = true;
  swapcontext(&fibers[current].context, &scheduler);
}

// A kernel's arguments from an array of pointers.
template <auto KERNEL, class... Types, size_t... Numbers>
void apply(void (*)(Types...), void** pointers, std::index_sequence<Numbers...>) {
  KERNEL((Types)pointers[Numbers]...);
}
template <auto KERNEL, class... Types> constexpr size_t count(void (*)(Types...)) { return sizeof...(Types); }
template <auto KERNEL> void call(void** pointers) {
  apply<KERNEL>(KERNEL, pointers, std::make_index_sequence<count<KERNEL>(KERNEL)>());
}

// Runs every block of a grid with this many threads.
static void launch(const int* grid, int threads, void (*kernel)(void**), void** pointers) {
  work = kernel, arguments = pointers, members = threads;
  for (blockIdx.z = 0; blockIdx.z < grid[2]; blockIdx.z++)
    for (blockIdx.y = 0; blockIdx.y < grid[1]; blockIdx.y++)
      for (blockIdx.x = 0; blockIdx.x < grid[0]; blockIdx.x++) {
        memset(memory, 0xff, sizeof memory);  // NaN, until it is written
        for (int i = 0; i < threads; i++) {
          fibers[i].done = false;
          getcontext(&fibers[i].context);
          fibers[i].context.uc_stack.ss_sp = stacks + i * STACK;
          fibers[i].context.uc_stack.ss_size = STACK;
          makecontext(&fibers[i].context, enter, 0);
        }
        for (int left = threads; left > 0;) {
          left = 0;
          for (int i = 0; i < threads; i++) {
            if (fibers[i].done) continue;
            current = i, threadIdx.x = i;
            swapcontext(&scheduler, &fibers[i].context);
            left += !fibers[i].done;
          }
        }
      }
}

// What the kernels use of a GPU of the Hopper generation, one instruction or two each: asynchronous copies into shared
// memory, barriers that count arrivals, products by a group of four warps. Addresses in shared memory are numbers.

typedef unsigned long long Descriptor;

#define INLINE __device__ __forceinline__

INLINE unsigned shared_address(const void* pointer) { return (unsigned)__cvta_generic_to_shared(pointer); }

INLINE void copy_async(unsigned to, const void* from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
}
// Shows the matrix units what this thread knows to be in shared memory.
INLINE void publish() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

INLINE void barrier_start(unsigned barrier, int arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}
// Copies contiguous bytes; the barrier waits for them besides its arrivals.
INLINE void copy_block(unsigned to, const void* from, int bytes, unsigned barrier) {
  asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to),
               "l"(from), "r"(bytes), "r"(barrier)
               : "memory");
}
INLINE void barrier_arrive(unsigned barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}
// Arrives when all copies that this thread has begun are there. As in other libraries, no fence follows for products
// that read them.
INLINE void barrier_arrive_copied(unsigned barrier) {
  asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(barrier) : "memory");
}
INLINE void barrier_wait(unsigned barrier, unsigned parity) {
  asm volatile(
      "{\n.reg .pred done;\nagain:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n@done bra over;\nbra again;\nover:\n}" ::"r"(barrier),
      "r"(parity)
      : "memory");
}

INLINE float4 load4(unsigned from) {
  float4 x;
  asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];" : "=f"(x.x), "=f"(x.y), "=f"(x.z), "=f"(x.w) : "r"(from));
  return x;
}
INLINE float2 load2(unsigned from) {
  float2 x;
  asm volatile("ld.shared.v2.f32 {%0, %1}, [%2];" : "=f"(x.x), "=f"(x.y) : "r"(from));
  return x;
}
INLINE uint2 load_entries(unsigned from) {
  uint2 x;
  asm volatile("ld.shared.v2.u32 {%0, %1}, [%2];" : "=r"(x.x), "=r"(x.y) : "r"(from));
  return x;
}
// Finite numbers that are too large become the largest.
INLINE unsigned to_halves(float low, float high) {
  unsigned both;
  asm volatile("cvt.rn.satfinite.f16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
  return both;
}

// Numbers that are there now: loaded here, not where they are used, or sums that products have been waited for.
INLINE void hold(float& x) { asm volatile("" : "+f"(x)); }
template <int COUNT>
INLINE void hold(float (&x)[COUNT]) {
#pragma unroll
  for (int n = 0; n < COUNT; n++) hold(x[n]);
}

// The registers of operands are in use until here.
INLINE void keep(const unsigned (&a)[4]) { asm volatile("" ::"r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3])); }

// Products read registers while later instructions run: `begin_products` before the first that reads what was written
// since, `wait_products` before they are written again.
INLINE void begin_products() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
INLINE void commit_products() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int PENDING>
INLINE void wait_products() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(PENDING) : "memory");
}
template <int REGISTERS>
INLINE void take_registers() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(REGISTERS));
}
template <int REGISTERS>
INLINE void leave_registers() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(REGISTERS));
}

// Where a matrix of 16-bit numbers lies in shared memory. Without a swizzle: in blocks of 8 by 8 whose distance is
// `leading` bytes along the summed dimension and `stride` along the other. With one, of 64 or 128 bytes: in rows of so
// many bytes along the other dimension, whose pieces of 16 bytes change places with the number of the row; groups of 8
// rows at a distance of `stride`, the next columns at `leading`.
template <int SWIZZLE>
INLINE Descriptor describe(unsigned address, int leading, int stride) {
  Descriptor mode = SWIZZLE == 128 ? 1 : SWIZZLE == 64 ? 2 : 0;
  return (Descriptor)(address >> 4 & 0x3fff) | (Descriptor)(leading >> 4) << 16 | (Descriptor)(stride >> 4) << 32 |
         mode << 62;
}

/*
 * Anywarp's headers for GPU languages: what each target's compiler calls the primitives. Everything else in
 * these headers is written with the functions of `anywarp` below, which have the same meaning everywhere.
 *
 * The host's pass only checks device code, so it has declarations.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef ANYWARP_TARGET_H
#define ANYWARP_TARGET_H

#include <anywarp/attributes.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__AMDGCN__)
#define ANYWARP_WARP_SIZE __AMDGCN_WAVEFRONT_SIZE
#else
#define ANYWARP_WARP_SIZE 32
#endif
/* HIP's masks have 64 bits on every device. */
#if defined(__HIP__)
typedef unsigned long long anywarp_mask;
#else
typedef unsigned anywarp_mask;
#endif

/* A name of three numbers (`threadIdx`), each of which is a register. */
#define ANYWARP_REGISTER(type, fx, fy, fz)                                                                  \
    struct type {                                                                                           \
        __declspec(property(get = get_x)) unsigned x;                                                       \
        __declspec(property(get = get_y)) unsigned y;                                                       \
        __declspec(property(get = get_z)) unsigned z;                                                       \
        static __forceinline__ __device__ unsigned get_x() { return fx; }                                   \
        static __forceinline__ __device__ unsigned get_y() { return fy; }                                   \
        static __forceinline__ __device__ unsigned get_z() { return fz; }                                   \
        __device__ operator dim3() const { return dim3(fx, fy, fz); }                                       \
        __device__ operator uint3() const {                                                                 \
            uint3 value = {fx, fy, fz};                                                                     \
            return value;                                                                                   \
        }                                                                                                   \
                                                                                                            \
      private:                                                                                              \
        __device__ type(const type &) = delete;                                                             \
        __device__ void operator=(const type &) const = delete;                                             \
        __device__ type *operator&() const = delete;                                                        \
    };

#if defined(__NVPTX__)

ANYWARP_REGISTER(anywarp_thread_index, __nvvm_read_ptx_sreg_tid_x(), __nvvm_read_ptx_sreg_tid_y(), __nvvm_read_ptx_sreg_tid_z())
ANYWARP_REGISTER(anywarp_block_index, __nvvm_read_ptx_sreg_ctaid_x(), __nvvm_read_ptx_sreg_ctaid_y(), __nvvm_read_ptx_sreg_ctaid_z())
ANYWARP_REGISTER(anywarp_block_dim, __nvvm_read_ptx_sreg_ntid_x(), __nvvm_read_ptx_sreg_ntid_y(), __nvvm_read_ptx_sreg_ntid_z())
ANYWARP_REGISTER(anywarp_grid_dim, __nvvm_read_ptx_sreg_nctaid_x(), __nvvm_read_ptx_sreg_nctaid_y(), __nvvm_read_ptx_sreg_nctaid_z())

namespace anywarp {
/* The lanes of a mask that exist. */
ANYWARP_DEVICE anywarp_mask lanes(anywarp_mask mask) { return (unsigned)mask; }
ANYWARP_DEVICE unsigned lane() { return __nvvm_read_ptx_sreg_laneid(); }
ANYWARP_DEVICE void barrier() { __nvvm_bar_sync(0); }
ANYWARP_DEVICE int barrier_count(int p) { return __nvvm_bar0_popc(p); }
ANYWARP_DEVICE int barrier_and(int p) { return __nvvm_bar0_and(p); }
ANYWARP_DEVICE int barrier_or(int p) { return __nvvm_bar0_or(p); }
ANYWARP_DEVICE void fence_block() { __nvvm_membar_cta(); }
ANYWARP_DEVICE void fence_device() { __nvvm_membar_gl(); }
ANYWARP_DEVICE void fence_system() { __nvvm_membar_sys(); }
ANYWARP_DEVICE anywarp_mask active() {
    unsigned mask;
    __asm__ volatile("activemask.b32 %0;" : "=r"(mask));
    return mask;
}
ANYWARP_DEVICE void warp_barrier(anywarp_mask mask) { __nvvm_bar_warp_sync(mask); }
ANYWARP_DEVICE anywarp_mask ballot(anywarp_mask mask, int p) { return __nvvm_vote_ballot_sync(mask, p); }
ANYWARP_DEVICE int all(anywarp_mask mask, int p) { return __nvvm_vote_all_sync(mask, p); }
ANYWARP_DEVICE int any(anywarp_mask mask, int p) { return __nvvm_vote_any_sync(mask, p); }
/* The last operand of PTX holds the highest lane of a group, and from bit 8 on which bits name the group. */
ANYWARP_DEVICE unsigned shuffle(anywarp_mask mask, unsigned v, int lane, int width) {
    return __nvvm_shfl_sync_idx_i32(mask, v, lane, ((32 - width) << 8) | 0x1f);
}
ANYWARP_DEVICE unsigned shuffle_up(anywarp_mask mask, unsigned v, unsigned by, int width) {
    return __nvvm_shfl_sync_up_i32(mask, v, by, (32 - width) << 8);
}
ANYWARP_DEVICE unsigned shuffle_down(anywarp_mask mask, unsigned v, unsigned by, int width) {
    return __nvvm_shfl_sync_down_i32(mask, v, by, ((32 - width) << 8) | 0x1f);
}
ANYWARP_DEVICE unsigned shuffle_xor(anywarp_mask mask, unsigned v, int bits, int width) {
    return __nvvm_shfl_sync_bfly_i32(mask, v, bits, ((32 - width) << 8) | 0x1f);
}
ANYWARP_DEVICE long long clock() { return __nvvm_read_ptx_sreg_clock64(); }
/* Counts at the rate that hipDeviceAttributeWallClockRate states. */
ANYWARP_DEVICE unsigned long long steady_clock() {
    unsigned long long now;
    __asm__ volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    return now;
}
ANYWARP_DEVICE void sleep(unsigned nanoseconds) { __asm__ volatile("nanosleep.u32 %0;" : : "r"(nanoseconds)); }
ANYWARP_DEVICE void trap() { __asm__ volatile("trap;"); }
ANYWARP_DEVICE bool is_shared(const void *at) { return __nvvm_isspacep_shared(at); }
ANYWARP_DEVICE bool is_global(const void *at) { return __nvvm_isspacep_global(at); }
ANYWARP_DEVICE bool is_local(const void *at) { return __nvvm_isspacep_local(at); }
/* The hardware's approximations. */
ANYWARP_DEVICE float fast_sin(float x) { return __nvvm_sin_approx_f(x); }
ANYWARP_DEVICE float fast_cos(float x) { return __nvvm_cos_approx_f(x); }
ANYWARP_DEVICE float fast_exp2(float x) { return __nvvm_ex2_approx_f(x); }
ANYWARP_DEVICE float fast_log2(float x) { return __nvvm_lg2_approx_f(x); }
ANYWARP_DEVICE float fast_divide(float x, float y) { return __nvvm_div_approx_f(x, y); }
ANYWARP_DEVICE float fast_tanh(float x) {
    float y;
    __asm__("tanh.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}
ANYWARP_DEVICE float rsqrt(float x) { return __nvvm_rsqrt_approx_f(x); }
/* A product that is never fused with a sum, whatever the options say. */
ANYWARP_DEVICE double rounded_product(double a, double b) { return __nvvm_mul_rn_d(a, b); }
ANYWARP_DEVICE unsigned bit_reverse(unsigned v) { return __builtin_bitreverse32(v); }
ANYWARP_DEVICE unsigned permute(unsigned a, unsigned b, unsigned selector) { return __nvvm_prmt(a, b, selector); }
ANYWARP_DEVICE unsigned atomic_inc(unsigned *at, unsigned v) { return __nvvm_atom_inc_gen_ui(at, v); }
ANYWARP_DEVICE unsigned atomic_dec(unsigned *at, unsigned v) { return __nvvm_atom_dec_gen_ui(at, v); }
ANYWARP_DEVICE unsigned multiprocessor() { return __nvvm_read_ptx_sreg_smid(); }

/* Values that move between lanes, as AMD's instructions move them. `at` is four times a lane's number, and
   what comes from a lane that does not run is 0. */
ANYWARP_DEVICE unsigned from_running(unsigned lane, unsigned v) {
    unsigned running = (unsigned)active(), got = shuffle(running, v, (int)lane, 32);
    return running >> lane & 1 ? got : 0;
}
ANYWARP_DEVICE unsigned pull(int at, unsigned v) { return from_running((unsigned)at >> 2 & 31, v); }
/* Of several lanes that write to one, the highest wins. */
ANYWARP_DEVICE unsigned push(int at, unsigned v) {
    unsigned running = (unsigned)active(), result = 0;
    for (unsigned rest = running; rest; rest &= rest - 1) {
        int from = __builtin_ctz(rest);
        unsigned to = shuffle(running, (unsigned)at, from, 32) >> 2 & 31;
        unsigned sent = shuffle(running, v, from, 32);
        result = to == lane() ? sent : result;
    }
    return result;
}
/* Either masks for "and", "or" and "exclusive or" of the lane's number, or with bit 15 the order of four. */
template <int pattern> ANYWARP_DEVICE unsigned swizzle(unsigned v) {
    static_assert((pattern & ~0x80ff) == 0 || (pattern & ~0x7fff) == 0,
                  "__hip_ds_swizzle: PTX has patterns with masks (0x0000 to 0x7fff) and of four lanes "
                  "(0x8000 to 0x80ff)");
    unsigned self = lane(), quad = (self & ~3u) | (pattern >> (self & 3) * 2 & 3);
    unsigned masked = ((self & pattern) | (pattern >> 5 & 31)) ^ (pattern >> 10 & 31);
    return from_running((pattern & 0x8000 ? quad : masked) & 31, v);
}
template <int control, int rows, int banks, bool bounds> ANYWARP_DEVICE int move_lanes(int v) {
    static_assert(control < 0,
                  "__hip_move_dpp: PTX has no such instruction; write __shfl, __shfl_up or __shfl_xor");
    return v;
}
ANYWARP_DEVICE unsigned lanes_below_low(unsigned mask, unsigned v) {
    return __builtin_popcount(mask & ((1u << lane()) - 1)) + v;
}
ANYWARP_DEVICE unsigned lanes_below_high(unsigned, unsigned v) { return v; }
} // namespace anywarp

#elif defined(__AMDGCN__)

ANYWARP_REGISTER(anywarp_thread_index, __builtin_amdgcn_workitem_id_x(), __builtin_amdgcn_workitem_id_y(), __builtin_amdgcn_workitem_id_z())
ANYWARP_REGISTER(anywarp_block_index, __builtin_amdgcn_workgroup_id_x(), __builtin_amdgcn_workgroup_id_y(), __builtin_amdgcn_workgroup_id_z())
ANYWARP_REGISTER(anywarp_block_dim, __builtin_amdgcn_workgroup_size_x(), __builtin_amdgcn_workgroup_size_y(), __builtin_amdgcn_workgroup_size_z())
/* Grids of HIP are whole blocks. The dispatch packet holds the grid's size in threads. */
ANYWARP_REGISTER(anywarp_grid_dim, __builtin_amdgcn_grid_size_x() / __builtin_amdgcn_workgroup_size_x(),
                 __builtin_amdgcn_grid_size_y() / __builtin_amdgcn_workgroup_size_y(),
                 __builtin_amdgcn_grid_size_z() / __builtin_amdgcn_workgroup_size_z())

namespace anywarp {
#if ANYWARP_WARP_SIZE == 64
ANYWARP_DEVICE unsigned lane() { return __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0)); }
ANYWARP_DEVICE anywarp_mask ballot_here(int p) { return __builtin_amdgcn_uicmpl((unsigned)(p != 0), 0ull, 33); }
#else
ANYWARP_DEVICE unsigned lane() { return __builtin_amdgcn_mbcnt_lo(~0u, 0); }
ANYWARP_DEVICE anywarp_mask ballot_here(int p) { return __builtin_amdgcn_ballot_w32(p != 0); }
#endif
/* A warp's mask may name lanes that the block lacks. */
ANYWARP_DEVICE anywarp_mask lanes(anywarp_mask mask) { return mask & ballot_here(1); }
ANYWARP_DEVICE void fence_block() { __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "workgroup"); }
ANYWARP_DEVICE void fence_device() { __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "agent"); }
ANYWARP_DEVICE void fence_system() { __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, ""); }
ANYWARP_DEVICE void barrier() {
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
    __builtin_amdgcn_s_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}
ANYWARP_DEVICE anywarp_mask active() { return ballot_here(1); }
ANYWARP_DEVICE void warp_barrier(anywarp_mask) {
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "wavefront");
    __builtin_amdgcn_wave_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "wavefront");
}
ANYWARP_DEVICE anywarp_mask ballot(anywarp_mask mask, int p) { return ballot_here(p) & mask; }
ANYWARP_DEVICE int all(anywarp_mask mask, int p) { return (ballot_here(!p) & mask) == 0; }
ANYWARP_DEVICE int any(anywarp_mask mask, int p) { return (ballot_here(p) & mask) != 0; }
ANYWARP_DEVICE unsigned from_lane(unsigned v, int lane) { return __builtin_amdgcn_ds_bpermute(lane << 2, v); }
ANYWARP_DEVICE unsigned shuffle(anywarp_mask, unsigned v, int from, int width) {
    int self = lane();
    return from_lane(v, (from & (width - 1)) + (self & ~(width - 1)));
}
ANYWARP_DEVICE unsigned shuffle_up(anywarp_mask, unsigned v, unsigned by, int width) {
    int self = lane(), from = self - (int)by;
    return from_lane(v, from < (self & ~(width - 1)) ? self : from);
}
ANYWARP_DEVICE unsigned shuffle_down(anywarp_mask, unsigned v, unsigned by, int width) {
    int self = lane();
    return from_lane(v, (int)((self & (width - 1)) + by) >= width ? self : self + (int)by);
}
ANYWARP_DEVICE unsigned shuffle_xor(anywarp_mask, unsigned v, int bits, int width) {
    int self = lane(), from = self ^ bits;
    return from_lane(v, from >= ((self + width) & ~(width - 1)) ? self : from);
}
ANYWARP_DEVICE int barrier_count(int p) {
    static __shared__ int sum;
    barrier();
    if (__builtin_amdgcn_workitem_id_x() + __builtin_amdgcn_workitem_id_y() + __builtin_amdgcn_workitem_id_z() == 0)
        sum = 0;
    barrier();
    if (p)
        __atomic_fetch_add(&sum, 1, __ATOMIC_RELAXED);
    barrier();
    return sum;
}
ANYWARP_DEVICE int barrier_and(int p) { return barrier_count(!p) == 0; }
ANYWARP_DEVICE int barrier_or(int p) { return barrier_count(p) != 0; }
#if __has_builtin(__builtin_readsteadycounter)
ANYWARP_DEVICE unsigned long long steady_clock() { return __builtin_readsteadycounter(); }
#else
ANYWARP_DEVICE unsigned long long steady_clock() { return __builtin_readcyclecounter(); }
#endif
/* From gfx11 on, the counter of cycles has 20 bits. */
#if defined(__GFX11__) || defined(__GFX12__)
ANYWARP_DEVICE long long clock() { return steady_clock(); }
#else
ANYWARP_DEVICE long long clock() { return __builtin_readcyclecounter(); }
#endif
ANYWARP_DEVICE void sleep(unsigned) { __builtin_amdgcn_s_sleep(1); }
ANYWARP_DEVICE void trap() { __builtin_trap(); }
ANYWARP_DEVICE bool is_shared(const void *at) {
    return __builtin_amdgcn_is_shared((const __attribute__((address_space(0))) void *)at);
}
ANYWARP_DEVICE bool is_local(const void *at) {
    return __builtin_amdgcn_is_private((const __attribute__((address_space(0))) void *)at);
}
ANYWARP_DEVICE bool is_global(const void *at) { return !is_shared(at) && !is_local(at); }
/* The hardware's sine takes turns. */
ANYWARP_DEVICE float fast_sin(float x) { return __builtin_amdgcn_sinf(__builtin_amdgcn_fractf(x * 0.15915494f)); }
ANYWARP_DEVICE float fast_cos(float x) { return __builtin_amdgcn_cosf(__builtin_amdgcn_fractf(x * 0.15915494f)); }
ANYWARP_DEVICE float fast_exp2(float x) { return __builtin_exp2f(x); }
ANYWARP_DEVICE float fast_log2(float x) { return __builtin_log2f(x); }
ANYWARP_DEVICE float fast_divide(float x, float y) { return x * __builtin_amdgcn_rcpf(y); }
ANYWARP_DEVICE float fast_tanh(float x) {
    float e = __builtin_exp2f(x * 2.885390082f);
    return 1 - 2 * __builtin_amdgcn_rcpf(e + 1);
}
ANYWARP_DEVICE float rsqrt(float x) { return __builtin_amdgcn_rsqf(x); }
ANYWARP_DEVICE double rounded_product(double a, double b) {
    _Pragma("clang fp contract(off) reassociate(off)") return a * b;
}
ANYWARP_DEVICE unsigned bit_reverse(unsigned v) { return __builtin_bitreverse32(v); }
ANYWARP_DEVICE unsigned permute(unsigned a, unsigned b, unsigned selector) {
    unsigned long long both = (unsigned long long)b << 32 | a;
    unsigned result = 0;
    for (int i = 0; i < 4; i++) {
        unsigned choice = selector >> 4 * i;
        unsigned byte = both >> 8 * (choice & 7) & 0xff;
        result |= (choice & 8 ? (byte & 0x80 ? 0xffu : 0u) : byte) << 8 * i;
    }
    return result;
}
ANYWARP_DEVICE unsigned atomic_inc(unsigned *at, unsigned v) {
    return __builtin_amdgcn_atomic_inc32(at, v, __ATOMIC_RELAXED, "agent");
}
ANYWARP_DEVICE unsigned atomic_dec(unsigned *at, unsigned v) {
    return __builtin_amdgcn_atomic_dec32(at, v, __ATOMIC_RELAXED, "agent");
}
/* Bits of a hardware register. */
#define ANYWARP_HARDWARE(reg, at, count) __builtin_amdgcn_s_getreg(((count)-1) << 11 | (at) << 6 | (reg))
/* The number of the compute unit, in the lowest bits within its shader engine. */
ANYWARP_DEVICE unsigned multiprocessor() {
#if defined(__GFX9__)
    return ANYWARP_HARDWARE(4, 13, 2) << 4 | ANYWARP_HARDWARE(4, 8, 4);
#else
    /* Workgroup processors, in shader arrays, in shader engines. */
    return ANYWARP_HARDWARE(23, 18, 2) << 5 | ANYWARP_HARDWARE(23, 16, 1) << 4 | ANYWARP_HARDWARE(23, 10, 4);
#endif
}
#undef ANYWARP_HARDWARE

/* An instruction in a rounding mode, whose number stands in the mode's bits for float and in those for
   double. One block of assembly, so that nothing else can be moved into it. */
enum { ANYWARP_MODE_ru = 5, ANYWARP_MODE_rd = 10, ANYWARP_MODE_rz = 15 };
#define ANYWARP_IN_MODE(T, name, mode, instruction, parameters, ...)                                        \
    ANYWARP_DEVICE T name##_##mode parameters {                                                             \
        T result;                                                                                           \
        __asm__("s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 4), %1\n\t" instruction                           \
                "\n\ts_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 4), 0"                                        \
                : "=v"(result)                                                                              \
                : "i"(ANYWARP_MODE_##mode), __VA_ARGS__);                                                   \
        return result;                                                                                      \
    }
#define ANYWARP_ROUNDED_IN(mode)                                                                            \
    ANYWARP_IN_MODE(float, sum, mode, "v_add_f32 %0, %2, %3", (float a, float b), "v"(a), "v"(b))           \
    ANYWARP_IN_MODE(double, sum, mode, "v_add_f64 %0, %2, %3", (double a, double b), "v"(a), "v"(b))        \
    ANYWARP_IN_MODE(float, product, mode, "v_mul_f32 %0, %2, %3", (float a, float b), "v"(a), "v"(b))       \
    ANYWARP_IN_MODE(double, product, mode, "v_mul_f64 %0, %2, %3", (double a, double b), "v"(a), "v"(b))    \
    ANYWARP_IN_MODE(float, fma, mode, "v_fma_f32 %0, %2, %3, %4", (float a, float b, float c), "v"(a),      \
                    "v"(b), "v"(c))                                                                         \
    ANYWARP_IN_MODE(double, fma, mode, "v_fma_f64 %0, %2, %3, %4", (double a, double b, double c), "v"(a),  \
                    "v"(b), "v"(c))                                                                         \
    ANYWARP_IN_MODE(float, to_float, mode, "v_cvt_f32_f64 %0, %2", (double a), "v"(a))
ANYWARP_ROUNDED_IN(ru)
ANYWARP_ROUNDED_IN(rd)
ANYWARP_ROUNDED_IN(rz)
#undef ANYWARP_ROUNDED_IN
#undef ANYWARP_IN_MODE

/* Values that move between lanes. `at` is four times a lane's number. */
ANYWARP_DEVICE unsigned pull(int at, unsigned v) { return __builtin_amdgcn_ds_bpermute(at, v); }
ANYWARP_DEVICE unsigned push(int at, unsigned v) { return __builtin_amdgcn_ds_permute(at, v); }
template <int pattern> ANYWARP_DEVICE unsigned swizzle(unsigned v) {
    return __builtin_amdgcn_ds_swizzle(v, pattern);
}
template <int control, int rows, int banks, bool bounds> ANYWARP_DEVICE int move_lanes(int v) {
    return __builtin_amdgcn_mov_dpp(v, control, rows, banks, bounds);
}
ANYWARP_DEVICE unsigned lanes_below_low(unsigned mask, unsigned v) {
    return __builtin_amdgcn_mbcnt_lo(mask, v);
}
ANYWARP_DEVICE unsigned lanes_below_high(unsigned mask, unsigned v) {
    return __builtin_amdgcn_mbcnt_hi(mask, v);
}
} // namespace anywarp

#else

namespace anywarp {
__device__ unsigned number(int which);
}
ANYWARP_REGISTER(anywarp_thread_index, anywarp::number(0), anywarp::number(1), anywarp::number(2))
ANYWARP_REGISTER(anywarp_block_index, anywarp::number(3), anywarp::number(4), anywarp::number(5))
ANYWARP_REGISTER(anywarp_block_dim, anywarp::number(6), anywarp::number(7), anywarp::number(8))
ANYWARP_REGISTER(anywarp_grid_dim, anywarp::number(9), anywarp::number(10), anywarp::number(11))
namespace anywarp {
__device__ anywarp_mask lanes(anywarp_mask mask);
__device__ unsigned lane();
__device__ void barrier();
__device__ int barrier_count(int p);
__device__ int barrier_and(int p);
__device__ int barrier_or(int p);
__device__ void fence_block();
__device__ void fence_device();
__device__ void fence_system();
__device__ anywarp_mask active();
__device__ void warp_barrier(anywarp_mask mask);
__device__ anywarp_mask ballot(anywarp_mask mask, int p);
__device__ int all(anywarp_mask mask, int p);
__device__ int any(anywarp_mask mask, int p);
__device__ unsigned shuffle(anywarp_mask mask, unsigned v, int lane, int width);
__device__ unsigned shuffle_up(anywarp_mask mask, unsigned v, unsigned by, int width);
__device__ unsigned shuffle_down(anywarp_mask mask, unsigned v, unsigned by, int width);
__device__ unsigned shuffle_xor(anywarp_mask mask, unsigned v, int bits, int width);
__device__ long long clock();
__device__ unsigned long long steady_clock();
__device__ void sleep(unsigned nanoseconds);
__device__ void trap();
__device__ bool is_shared(const void *at);
__device__ bool is_global(const void *at);
__device__ bool is_local(const void *at);
__device__ float fast_sin(float x);
__device__ float fast_cos(float x);
__device__ float fast_exp2(float x);
__device__ float fast_log2(float x);
__device__ float fast_divide(float x, float y);
__device__ float fast_tanh(float x);
__device__ float rsqrt(float x);
__device__ double rounded_product(double a, double b);
__device__ unsigned bit_reverse(unsigned v);
__device__ unsigned permute(unsigned a, unsigned b, unsigned selector);
__device__ unsigned atomic_inc(unsigned *at, unsigned v);
__device__ unsigned atomic_dec(unsigned *at, unsigned v);
__device__ unsigned multiprocessor();
__device__ unsigned pull(int at, unsigned v);
__device__ unsigned push(int at, unsigned v);
template <int pattern> __device__ unsigned swizzle(unsigned v);
template <int control, int rows, int banks, bool bounds> __device__ int move_lanes(int v);
__device__ unsigned lanes_below_low(unsigned mask, unsigned v);
__device__ unsigned lanes_below_high(unsigned mask, unsigned v);
} // namespace anywarp

#endif

extern const __device__ __attribute__((weak)) anywarp_thread_index threadIdx;
extern const __device__ __attribute__((weak)) anywarp_block_index blockIdx;
extern const __device__ __attribute__((weak)) anywarp_block_dim blockDim;
extern const __device__ __attribute__((weak)) anywarp_grid_dim gridDim;
#if defined(__AMDGCN__) || defined(__NVPTX__)
static const __device__ __attribute__((unused)) int warpSize = ANYWARP_WARP_SIZE;
#else
/* The host has no warps; only device code may use the name. */
extern const __device__ int warpSize;
#endif

#endif

// Digests of what CUDA's functions of packed integers return, on words whose parts meet the limits. Compiled
// by nvcc, this program prints what NVIDIA's definitions return on the device. hipify's translation, which a
// C++ compiler can compile, must print the same (all/packed.rs). packed.tsv is from nvcc 13.0; NVIDIA's
// definitions for sm_80 and for sm_90, which differ, give the same digests:
//   nvcc -arch=sm_90 -o packed packed.cu
//   ANYWARP_COMPUTE_CAPABILITY=9.0 anywarp run -- ./packed > packed.tsv
#include <cuda_runtime.h>
#include <cstdio>

enum { FUNCTIONS = 118, WORDS = 1 << 17 };

__device__ unsigned long long mixed(unsigned long long x) {
    x = (x + 1) * 0x9e3779b97f4a7c15ull;
    x = (x ^ x >> 29) * 0xbf58476d1ce4e5b9ull;
    return x ^ x >> 32;
}

// Half of the words have each pair of bytes. The parts of the others are within 2 of a limit, or random.
__device__ unsigned word(int i, int operand) {
    unsigned random = (unsigned)(mixed(3 * i + operand) >> 7);
    if (i < 65536)
        return operand == 2 ? random : (operand ? i >> 8 : i & 255) * 0x01010101u;
    unsigned near = random >> 16 & 0x80808080u;
    near |= random & 0x80008000u ? 0 : 0x7f7f7f7fu;
    if (random & 1)
        near = (random & 2 ? 0x8000u : 0x7fffu) << 16 | (random & 4 ? 0x8000u : random & 8 ? 0xffffu : 0);
    return random & 16 ? random : near + (random >> 5 & 3) * 0x00010001u - (random >> 7 & 1) * 0x01000100u;
}

__device__ unsigned long long value(int function, unsigned a, unsigned b, unsigned c) {
    bool hi = false, lo = false;
    unsigned r = 0;
    switch (function) {
    case 0: r = __vabs2(a); break;
    case 1: r = __vabs4(a); break;
    case 2: r = __vabsdiffs2(a, b); break;
    case 3: r = __vabsdiffs4(a, b); break;
    case 4: r = __vabsdiffu2(a, b); break;
    case 5: r = __vabsdiffu4(a, b); break;
    case 6: r = __vabsss2(a); break;
    case 7: r = __vabsss4(a); break;
    case 8: r = __vadd2(a, b); break;
    case 9: r = __vadd4(a, b); break;
    case 10: r = __vaddss2(a, b); break;
    case 11: r = __vaddss4(a, b); break;
    case 12: r = __vaddus2(a, b); break;
    case 13: r = __vaddus4(a, b); break;
    case 14: r = __vavgs2(a, b); break;
    case 15: r = __vavgs4(a, b); break;
    case 16: r = __vavgu2(a, b); break;
    case 17: r = __vavgu4(a, b); break;
    case 18: r = __vcmpeq2(a, b); break;
    case 19: r = __vcmpeq4(a, b); break;
    case 20: r = __vcmpges2(a, b); break;
    case 21: r = __vcmpges4(a, b); break;
    case 22: r = __vcmpgeu2(a, b); break;
    case 23: r = __vcmpgeu4(a, b); break;
    case 24: r = __vcmpgts2(a, b); break;
    case 25: r = __vcmpgts4(a, b); break;
    case 26: r = __vcmpgtu2(a, b); break;
    case 27: r = __vcmpgtu4(a, b); break;
    case 28: r = __vcmples2(a, b); break;
    case 29: r = __vcmples4(a, b); break;
    case 30: r = __vcmpleu2(a, b); break;
    case 31: r = __vcmpleu4(a, b); break;
    case 32: r = __vcmplts2(a, b); break;
    case 33: r = __vcmplts4(a, b); break;
    case 34: r = __vcmpltu2(a, b); break;
    case 35: r = __vcmpltu4(a, b); break;
    case 36: r = __vcmpne2(a, b); break;
    case 37: r = __vcmpne4(a, b); break;
    case 38: r = __vhaddu2(a, b); break;
    case 39: r = __vhaddu4(a, b); break;
    case 40: r = __viaddmax_s16x2(a, b, c); break;
    case 41: r = __viaddmax_s16x2_relu(a, b, c); break;
    case 42: r = __viaddmax_s32(a, b, c); break;
    case 43: r = __viaddmax_s32_relu(a, b, c); break;
    case 44: r = __viaddmax_u16x2(a, b, c); break;
    case 45: r = __viaddmax_u32(a, b, c); break;
    case 46: r = __viaddmin_s16x2(a, b, c); break;
    case 47: r = __viaddmin_s16x2_relu(a, b, c); break;
    case 48: r = __viaddmin_s32(a, b, c); break;
    case 49: r = __viaddmin_s32_relu(a, b, c); break;
    case 50: r = __viaddmin_u16x2(a, b, c); break;
    case 51: r = __viaddmin_u32(a, b, c); break;
    case 52: r = __vibmax_s16x2(a, b, &hi, &lo); break;
    case 53: r = __vibmax_s32(a, b, &lo); break;
    case 54: r = __vibmax_u16x2(a, b, &hi, &lo); break;
    case 55: r = __vibmax_u32(a, b, &lo); break;
    case 56: r = __vibmin_s16x2(a, b, &hi, &lo); break;
    case 57: r = __vibmin_s32(a, b, &lo); break;
    case 58: r = __vibmin_u16x2(a, b, &hi, &lo); break;
    case 59: r = __vibmin_u32(a, b, &lo); break;
    case 60: r = __vimax3_s16x2(a, b, c); break;
    case 61: r = __vimax3_s16x2_relu(a, b, c); break;
    case 62: r = __vimax3_s32(a, b, c); break;
    case 63: r = __vimax3_s32_relu(a, b, c); break;
    case 64: r = __vimax3_u16x2(a, b, c); break;
    case 65: r = __vimax3_u32(a, b, c); break;
    case 66: r = __vimax_s16x2_relu(a, b); break;
    case 67: r = __vimax_s32_relu(a, b); break;
    case 68: r = __vimin3_s16x2(a, b, c); break;
    case 69: r = __vimin3_s16x2_relu(a, b, c); break;
    case 70: r = __vimin3_s32(a, b, c); break;
    case 71: r = __vimin3_s32_relu(a, b, c); break;
    case 72: r = __vimin3_u16x2(a, b, c); break;
    case 73: r = __vimin3_u32(a, b, c); break;
    case 74: r = __vimin_s16x2_relu(a, b); break;
    case 75: r = __vimin_s32_relu(a, b); break;
    case 76: r = __vmaxs2(a, b); break;
    case 77: r = __vmaxs4(a, b); break;
    case 78: r = __vmaxu2(a, b); break;
    case 79: r = __vmaxu4(a, b); break;
    case 80: r = __vmins2(a, b); break;
    case 81: r = __vmins4(a, b); break;
    case 82: r = __vminu2(a, b); break;
    case 83: r = __vminu4(a, b); break;
    case 84: r = __vneg2(a); break;
    case 85: r = __vneg4(a); break;
    case 86: r = __vnegss2(a); break;
    case 87: r = __vnegss4(a); break;
    case 88: r = __vsads2(a, b); break;
    case 89: r = __vsads4(a, b); break;
    case 90: r = __vsadu2(a, b); break;
    case 91: r = __vsadu4(a, b); break;
    case 92: r = __vseteq2(a, b); break;
    case 93: r = __vseteq4(a, b); break;
    case 94: r = __vsetges2(a, b); break;
    case 95: r = __vsetges4(a, b); break;
    case 96: r = __vsetgeu2(a, b); break;
    case 97: r = __vsetgeu4(a, b); break;
    case 98: r = __vsetgts2(a, b); break;
    case 99: r = __vsetgts4(a, b); break;
    case 100: r = __vsetgtu2(a, b); break;
    case 101: r = __vsetgtu4(a, b); break;
    case 102: r = __vsetles2(a, b); break;
    case 103: r = __vsetles4(a, b); break;
    case 104: r = __vsetleu2(a, b); break;
    case 105: r = __vsetleu4(a, b); break;
    case 106: r = __vsetlts2(a, b); break;
    case 107: r = __vsetlts4(a, b); break;
    case 108: r = __vsetltu2(a, b); break;
    case 109: r = __vsetltu4(a, b); break;
    case 110: r = __vsetne2(a, b); break;
    case 111: r = __vsetne4(a, b); break;
    case 112: r = __vsub2(a, b); break;
    case 113: r = __vsub4(a, b); break;
    case 114: r = __vsubss2(a, b); break;
    case 115: r = __vsubss4(a, b); break;
    case 116: r = __vsubus2(a, b); break;
    case 117: r = __vsubus4(a, b); break;
    }
    return r | (unsigned long long)lo << 32 | (unsigned long long)hi << 33;
}

__device__ unsigned long long part(int function, int i) {
    return mixed(value(function, word(i, 0), word(i, 1), word(i, 2)) * WORDS + i);
}

#ifdef __CUDACC__
__global__ void digest(unsigned long long *sums) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(sums + blockIdx.y, part(blockIdx.y, i));
}
#endif

int main() {
    static unsigned long long sums[FUNCTIONS];
#ifdef __CUDACC__
    unsigned long long *device;
    cudaMalloc(&device, sizeof sums);
    cudaMemset(device, 0, sizeof sums);
    digest<<<dim3(WORDS / 256, FUNCTIONS), 256>>>(device);
    cudaError_t error = cudaGetLastError();
    if (error == cudaSuccess)
        error = cudaMemcpy(sums, device, sizeof sums, cudaMemcpyDeviceToHost);
    if (error != cudaSuccess)
        return std::fprintf(stderr, "%s\n", cudaGetErrorString(error)), 1;
#else
    for (int function = 0; function < FUNCTIONS; function++)
        for (int i = 0; i < WORDS; i++)
            sums[function] += part(function, i);
#endif
    for (int function = 0; function < FUNCTIONS; function++)
        std::printf("%d\t%016llx\n", function, sums[function]);
    return 0;
}

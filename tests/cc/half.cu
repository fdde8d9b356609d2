// Half precision, compared with sums in double that are rounded by the host's compiler.
#include "check.h"
#include <cuda_fp16.h>

__global__ void run(const unsigned short *in, unsigned short *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    __half a = __ushort_as_half(in[i]), b = __ushort_as_half(in[(i * 7 + 3) % n]), c = __float2half(0.75f);
    __half2 pair = __hadd2(__halves2half2(a, b), __float2half2_rn(1.5f));
    __half sum = a;
    sum += b;
    const __half results[8] = {a + b,       a - b,           __hmul(a, b),         a / b,
                               __hfma(a, b, c), __low2half(pair), __hmax(-a, __habs(b)), sum};
    for (int k = 0; k < 8; k++)
        out[k * n + i] = __half_as_ushort(results[k]);
}

static unsigned short rounded(double v) {
    _Float16 h = (_Float16)v;
    unsigned short bits;
    std::memcpy(&bits, &h, 2);
    return bits;
}

int main() {
    const int n = 2000;
    unsigned short *in = shared_memory<unsigned short>(n), *out = shared_memory<unsigned short>(8 * n);
    double *v = (double *)std::malloc(n * sizeof(double));
    for (int i = 0; i < n; i++) {
        // Finite and not zero.
        in[i] = (unsigned short)(i * 2654435761u >> 9) & 0xbfff;
        in[i] |= 1;
        _Float16 h;
        std::memcpy(&h, &in[i], 2);
        v[i] = (double)h;
    }
    run<<<(n + 63) / 64, 64>>>(in, out, n);
    finish();
    for (int i = 0; i < n; i++) {
        double a = v[i], b = v[(i * 7 + 3) % n], magnitude = b < 0 ? -b : b;
        const double should[8] = {a + b, a - b, a * b, a / b, a * b + 0.75, a + 1.5, -a > magnitude ? -a : magnitude, a + b};
        for (int k = 0; k < 8; k++)
            expect("half", k * 10000 + i, out[k * n + i], rounded(should[k]));
    }
    return result();
}

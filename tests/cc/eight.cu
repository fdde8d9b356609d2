// Numbers of 8 bits: every one becomes a float and comes back, and saturation.
// without HIP: its library has other names for them
#include "check.h"
#include <cuda_fp8.h>

__global__ void run(float *small, float *wide, unsigned char *back) {
    int i = threadIdx.x;
    __nv_fp8_e4m3 a;
    __nv_fp8_e5m2 b;
    a.__x = b.__x = (__nv_fp8_storage_t)i;
    small[i] = float(a);
    wide[i] = float(b);
    back[i] = __nv_fp8_e4m3(small[i]).__x;
    back[256 + i] = __nv_fp8_e5m2(wide[i]).__x;
}

int main() {
    float *small = shared_memory<float>(256), *wide = shared_memory<float>(256);
    unsigned char *back = shared_memory<unsigned char>(512);
    run<<<1, 256>>>(small, wide, back);
    finish();
    for (int i = 0; i < 256; i++) {
        int e = i >> 3 & 15, m = i & 7;
        float should = __builtin_ldexpf(e ? 8 + m : m, (e ? e : 1) - 10);
        if ((i & 127) != 127) {
            expect("e4m3", i, small[i], i & 128 ? -should : should);
            expect("e4m3 again", i, (int)back[i], i);
        }
        e = i >> 2 & 31, m = i & 3;
        should = __builtin_ldexpf(e ? 4 + m : m, (e ? e : 1) - 17);
        if (e < 31) {
            expect("e5m2", i, wide[i], i & 128 ? -should : should);
            expect("e5m2 again", i, (int)back[256 + i], i);
        }
    }
    expect("largest", 0, (int)__nv_fp8_e4m3(1e9f).__x, 0x7e);
    expect("largest", 1, (int)__nv_fp8_e5m2(-1e9f).__x, 0xfb);
    expect("overflow", 0, (int)__nv_cvt_float_to_fp8(1e9f, __NV_NOSAT, __NV_E5M2), 0x7c);
    // 17 lies between 16 and 18, 19 between 18 and 20.
    expect("tie", 0, (int)__nv_fp8_e4m3(17.0f).__x, (int)__nv_fp8_e4m3(16.0f).__x);
    expect("tie", 1, (int)__nv_fp8_e4m3(19.0f).__x, (int)__nv_fp8_e4m3(20.0f).__x);
    return result();
}

// All-pairs gravity: loads tiles of positions (x, y, z, mass) to shared memory.
#include "device.h"

struct __attribute__((aligned(16))) Body { float x, y, z, m; };

extern "C" __global__ void nbody(const Body *p, Body *acc, u32 n, float eps) {
    __shared__ Body tile[256];
    u32 i = CTAID_X * NTID_X + TID_X;
    Body me = p[i];
    float ax = 0.0f, ay = 0.0f, az = 0.0f;
    for (u32 t = 0; t < n; t += 256) {
        tile[TID_X] = p[t + TID_X];
        BARRIER();
#pragma unroll 8
        for (u32 j = 0; j < 256; j++) {
            float dx = tile[j].x - me.x, dy = tile[j].y - me.y, dz = tile[j].z - me.z;
            float d2 = fma(dx, dx, fma(dy, dy, fma(dz, dz, eps)));
            float r = approx_rsqrt(d2);
            float f = tile[j].m * r * r * r;
            ax = fma(f, dx, ax);
            ay = fma(f, dy, ay);
            az = fma(f, dz, az);
        }
        BARRIER();
    }
    Body out = {ax, ay, az, 0.0f};
    acc[i] = out;
}

// Vector types, their sizes, and loads of whole vectors.
#include "check.h"

static_assert(sizeof(float3) == 12 && alignof(float3) == 4, "float3");
static_assert(sizeof(float4) == 16 && alignof(float4) == 16, "float4");
static_assert(sizeof(uchar4) == 4 && alignof(uchar4) == 4, "uchar4");
static_assert(sizeof(short2) == 4 && alignof(short2) == 4, "short2");
static_assert(sizeof(double2) == 16 && alignof(double2) == 16, "double2");

__global__ void combine(const float4 *a, const int2 *b, const uchar4 *c, float4 *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 v = a[i];
    int2 w = b[i];
    out[i] = make_float4(v.x + w.x, v.y - w.y, v.z * c[i].x, v.w + c[i].w);
}

__global__ void dimensions(uint3 *thread, dim3 *sizes) {
    int i = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    thread[i] = threadIdx;
    if (i == 0) {
        sizes[0] = blockDim;
        sizes[1] = gridDim;
    }
}

int main() {
    const int n = 512;
    float4 *a = shared_memory<float4>(n), *out = shared_memory<float4>(n);
    int2 *b = shared_memory<int2>(n);
    uchar4 *c = shared_memory<uchar4>(n);
    for (int i = 0; i < n; i++) {
        a[i] = make_float4(i, 2 * i, 3 * i, 4 * i);
        b[i] = make_int2(i - 7, 5);
        c[i] = make_uchar4(i, 0, 0, 255 - i % 256);
    }
    combine<<<n / 64, 64>>>(a, b, c, out);
    finish();
    for (int i = 0; i < n; i++) {
        expect("x", i, out[i].x, (float)(2 * i - 7));
        expect("y", i, out[i].y, (float)(2 * i - 5));
        expect("z", i, out[i].z, (float)(3 * i) * (float)(i % 256));
        expect("w", i, out[i].w, (float)(4 * i) + (float)(255 - i % 256));
    }
    uint3 *threads = shared_memory<uint3>(24);
    dim3 *sizes = shared_memory<dim3>(2);
    dimensions<<<dim3(1, 1, 1), dim3(4, 3, 2)>>>(threads, sizes);
    finish();
    for (unsigned i = 0; i < 24; i++)
        expect("thread", i, threads[i].x + 4 * (threads[i].y + 3 * threads[i].z), i);
    expect("block", 0, sizes[0].x * 100 + sizes[0].y * 10 + sizes[0].z, 432u);
    expect("grid", 0, sizes[1].x * 100 + sizes[1].y * 10 + sizes[1].z, 111u);
    return result();
}

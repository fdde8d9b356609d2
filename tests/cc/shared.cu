// Shared memory, static and dynamic, and barriers with a vote.
#include "check.h"

__global__ void sums(const int *in, int *out) {
    __shared__ int part[128];
    part[threadIdx.x] = in[blockIdx.x * blockDim.x + threadIdx.x];
    __syncthreads();
    for (int step = 64; step > 0; step /= 2) {
        if (threadIdx.x < step)
            part[threadIdx.x] += part[threadIdx.x + step];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        out[blockIdx.x] = part[0];
}

extern __shared__ double room[];

__global__ void reversed(const double *in, double *out) {
    room[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = room[blockDim.x - 1 - threadIdx.x];
}

__global__ void votes(int *out) {
    int i = threadIdx.x;
    int count = __syncthreads_count(i % 3 == 0);
    int all = __syncthreads_and(i < 100), some = __syncthreads_or(i == 99);
    out[i] = count * 4 + (all != 0) * 2 + (some != 0);
}

template <int size> __global__ void transposed(const float *in, float *out) {
    __shared__ float tile[size][size + 1];
    int x = blockIdx.x * size + threadIdx.x, y = blockIdx.y * size + threadIdx.y, width = gridDim.x * size;
    tile[threadIdx.y][threadIdx.x] = in[y * width + x];
    __syncthreads();
    x = blockIdx.y * size + threadIdx.x;
    y = blockIdx.x * size + threadIdx.y;
    out[y * width + x] = tile[threadIdx.x][threadIdx.y];
}

int main() {
    int *in = shared_memory<int>(1024), *out = shared_memory<int>(128);
    for (int i = 0; i < 1024; i++)
        in[i] = i * i % 1000;
    sums<<<8, 128>>>(in, out);
    finish();
    for (int block = 0; block < 8; block++) {
        int sum = 0;
        for (int i = 0; i < 128; i++)
            sum += in[block * 128 + i];
        expect("sum", block, out[block], sum);
    }
    double *from = shared_memory<double>(256), *to = shared_memory<double>(256);
    for (int i = 0; i < 256; i++)
        from[i] = 1.5 * i;
    reversed<<<1, 256, 256 * sizeof(double)>>>(from, to);
    finish();
    for (int i = 0; i < 256; i++)
        expect("reversed", i, to[i], from[255 - i]);
    votes<<<1, 100>>>(out);
    finish();
    for (int i = 0; i < 100; i++)
        expect("vote", i, out[i], 34 * 4 + 2 + 1);
    float *a = shared_memory<float>(64 * 64), *b = shared_memory<float>(64 * 64);
    for (int i = 0; i < 64 * 64; i++)
        a[i] = i;
    transposed<16><<<dim3(4, 4), dim3(16, 16)>>>(a, b);
    finish();
    for (int i = 0; i < 64 * 64; i++)
        expect("transposed", i, b[i], a[i % 64 * 64 + i / 64]);
    return result();
}

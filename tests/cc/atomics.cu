// Atomic functions with every type that they take.
#include "check.h"

template <class T> __global__ void arithmetic(T *at, T *old) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(at, (T)1);
    atomicSub(at + 1, (T)2);
    atomicMin(at + 2, (T)(i + 5));
    atomicMax(at + 3, (T)i);
    atomicAnd(at + 4, ~((T)1 << i % 20));
    atomicOr(at + 5, (T)1 << i % 20);
    atomicXor(at + 6, (T)i);
    old[i] = atomicExch(at + 7, (T)i);
    T seen = at[8], before;
    do {
        before = seen;
        seen = atomicCAS(at + 8, before, before + 3);
    } while (seen != before);
    atomicAdd_block(at + 9, (T)1);
    atomicAdd_system(at + 10, (T)1);
}

template <class T> void integers(const char *name) {
    const int n = 512;
    T *at = shared_memory<T>(16), *old = shared_memory<T>(n);
    at[1] = at[2] = 5000;
    at[4] = -1;
    at[7] = n;
    arithmetic<T><<<n / 64, 64>>>(at, old);
    finish();
    T x = 0;
    bool seen[n + 1] = {};
    for (int i = 0; i < n; i++) {
        x ^= (T)i;
        seen[(int)old[i]] = true;
    }
    seen[(int)at[7]] = true;
    const T low = (1 << 20) - 1;
    const T should[] = {n, 5000 - 2 * n, 5, n - 1, (T)~low, low, x, at[7], 3 * n, n, n};
    for (int i = 0; i < 11; i++)
        expect(name, i, at[i], should[i]);
    for (int i = 0; i <= n; i++)
        expect("exchanged", i, seen[i], true);
}

__global__ void others(float *f, double *d, unsigned *u, unsigned short *s, float *of, unsigned *old) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(f, 0.5f);
    atomicAdd(d, 0.25);
    of[i] = atomicExch(f + 1, (float)i);
    old[i] = atomicInc(u, 99);
    atomicDec(u + 1, 99);
    unsigned short now = *s, before;
    do {
        before = now;
        now = atomicCAS(s, before, (unsigned short)(before + 1));
    } while (now != before);
}

int main() {
    integers<int>("int");
    integers<unsigned>("unsigned");
    integers<long long>("long long");
    integers<unsigned long long>("unsigned long long");
    float *f = shared_memory<float>(2), *of = shared_memory<float>(256);
    double *d = shared_memory<double>(1);
    unsigned *u = shared_memory<unsigned>(2), *old = shared_memory<unsigned>(256);
    unsigned short *s = shared_memory<unsigned short>(2);
    f[1] = -1;
    others<<<4, 64>>>(f, d, u, s, of, old);
    finish();
    expect("float", 0, f[0], 128.0f);
    expect("double", 0, d[0], 64.0);
    expect("inc", 0, u[0], 256u % 100);
    // 0, then 99, 98 and so on, around in steps of 100.
    expect("dec", 0, u[1], (100u - 256 % 100) % 100);
    expect("short", 0, (int)s[0], 256);
    float sum = f[1];
    for (int i = 0; i < 256; i++)
        sum += of[i];
    expect("exchanged", 0, sum, 255.0f * 256 / 2 - 1);
    return result();
}

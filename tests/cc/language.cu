// C++ in device code: templates, lambdas, classes with virtual functions, recursion, pointers to functions,
// overloads for host and device.
#include "check.h"

template <class F> __global__ void apply(int *out, int n, F f) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = f(i);
}

struct Shape {
    __device__ virtual int area() const = 0;
};
struct Square : Shape {
    int side;
    __device__ Square(int side) : side(side) {}
    __device__ int area() const override { return side * side; }
};
struct Box : Shape {
    int a, b;
    __device__ Box(int a, int b) : a(a), b(b) {}
    __device__ int area() const override { return a * b; }
};

__device__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }

__device__ int twice(int v) { return 2 * v; }
__device__ int thrice(int v) { return 3 * v; }
typedef int (*Function)(int);

template <class T> __device__ void exchange(T &a, T &b) {
    T old = a;
    a = b;
    b = old;
}

template <class T, int... is> struct Sum;
template <class T> struct Sum<T> {
    static constexpr T value = 0;
};
template <class T, int i, int... is> struct Sum<T, i, is...> {
    static constexpr T value = i + Sum<T, is...>::value;
};

__host__ __device__ int where() {
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
    return 1;
#else
    return 2;
#endif
}

__global__ void run(int *out) {
    Square square(3);
    Box box(4, 5);
    const Shape *shapes[2] = {&square, &box};
    Function functions[2] = {twice, thrice};
    int i = threadIdx.x;
    out[i] = shapes[i % 2]->area();
    out[16 + i] = fibonacci(i);
    out[32 + i] = functions[i % 2](i);
    out[48 + i] = Sum<int, 1, 2, 3, 4>::value + where();
    int a = i, b = 10;
    exchange(a, b);
    out[64 + i] = a * 100 + b;
    switch (i) {
    case 0: out[80 + i] = 5; break;
    case 7: out[80 + i] = 6; break;
    default: out[80 + i] = i % 2 ? -1 : i;
    }
}

int main() {
    int *out = shared_memory<int>(100);
    int scale = 3;
    apply<<<2, 64>>>(out, 100, [scale] __device__(int i) { return scale * i + 1; });
    finish();
    for (int i = 0; i < 100; i++)
        expect("lambda", i, out[i], 3 * i + 1);
    run<<<1, 16>>>(out);
    finish();
    int f[17] = {0, 1};
    for (int i = 0; i < 16; i++) {
        f[i] = i < 2 ? i : f[i - 1] + f[i - 2];
        expect("virtual", i, out[i], i % 2 ? 20 : 9);
        expect("recursion", i, out[16 + i], f[i]);
        expect("pointer", i, out[32 + i], i % 2 ? 3 * i : 2 * i);
        expect("template", i, out[48 + i], 11);
        expect("swap", i, out[64 + i], 1000 + i);
        expect("switch", i, out[80 + i], i == 0 ? 5 : i == 7 ? 6 : i % 2 ? -1 : i);
    }
    expect("host", 0, where(), 2);
    return result();
}

// assert in a kernel fails the launch and says where.
// without AMD: the message and the error are others there
// prints to stderr: Assertion `n < 5` failed
#include "check.h"
#include <cassert>

__global__ void run(int n) { assert(n < 5); }

int main() {
    run<<<1, 1>>>(4);
    finish();
    run<<<1, 1>>>(5);
    cudaError_t error = cudaDeviceSynchronize();
    expect("error", 0, (int)error, (int)cudaErrorAssert);
    return result();
}

// printf in kernels.
// prints: thread 3 of block 1: 2.5 -7 text 0x1f 12345678901 c
// prints: no arguments, 100%
#include "check.h"

__global__ void run(const char *text) {
    if (blockIdx.x == 1 && threadIdx.x == 3)
        printf("thread %d of block %u: %g %d %s 0x%x %lld %c\n", threadIdx.x, blockIdx.x, 2.5f, -7, text, 31, 12345678901ll, 'c');
    if (blockIdx.x == 0 && threadIdx.x == 0)
        printf("no arguments, 100%%\n");
}

int main() {
    char *text = shared_memory<char>(16);
    std::strcpy(text, "text");
    run<<<2, 4>>>(text);
    finish();
    return result();
}

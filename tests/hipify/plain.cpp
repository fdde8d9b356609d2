// Nothing here is CUDA, so not a byte changes and no header is added.
// CHECK-NOT: hip
#include <cstdio>
int main(int, char **argv) { std::printf("%s <<<not a launch>>> cudaMalloc\n", argv[0]); }
// CHECK: int main

#include <cuda.h>
int main() { return cuInit(0) == CUDA_SUCCESS ? 0 : 1; }

#include <cuda_runtime.h>
inline cudaError_t value;

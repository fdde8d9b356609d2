#include <cuda_runtime.h>
inline cudaError_t value;
#define cudaValue(x) ((void)(x))

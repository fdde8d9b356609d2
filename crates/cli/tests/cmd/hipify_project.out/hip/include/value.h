#include <hip/hip_runtime.h>
inline hipError_t value;
#define cudaValue(x) ((void)(x))

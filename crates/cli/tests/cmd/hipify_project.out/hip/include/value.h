#include <hip/hip_runtime.h>
inline hipError_t value;

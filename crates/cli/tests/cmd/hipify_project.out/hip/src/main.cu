
#include <hip/hip_runtime.h>
#include "value.h"
int main() { cudaValue(value); return hipDeviceSynchronize(); }


#include <hip/hip_runtime.h>
#include "value.h"
int main() { return hipDeviceSynchronize(); }

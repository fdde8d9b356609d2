#include <hip/hip_runtime.h>
int main() { return hipInit(0) == hipSuccess ? 0 : 1; }

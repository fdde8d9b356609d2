// An argument that HIP lacks is removed and reported.
// CHECK: #include <hip/hip_runtime.h>
#include <cuda.h>
// CHECK: void occupancy(hipFunction_t f)
void occupancy(CUfunction f) {
    int grid, block;
    // FINDING: data-loss
    // CHECK: hipModuleOccupancyMaxPotentialBlockSize(&grid, &block, f, 0, 0);
    cuOccupancyMaxPotentialBlockSize(&grid, &block, f, [](int) -> size_t { return 0; }, 0, 0);
}

// Namespaces of CUB and Thrust.
// CHECK: #include <hip/hip_runtime.h>
// CHECK: #include <hipcub/hipcub.hpp>
#include <cub/cub.cuh>
#include <thrust/for_each.h>
// CHECK: using namespace hipcub;
using namespace cub;
// CHECK: namespace c = hipcub;
namespace c = cub;
// CHECK: typedef hipcub::BlockReduce<int, 128, hipcub::BLOCK_REDUCE_RAKING> Reduce;
typedef cub::BlockReduce<int, 128, cub::BLOCK_REDUCE_RAKING> Reduce;
// CHECK: using Scan = typename ::hipcub::BlockScan<int, 128>::TempStorage;
using Scan = typename ::cub::BlockScan<int, 128>::TempStorage;
// Another namespace of that name is not CUB.
// CHECK: mine::cub::Thing thing; int cub = 1;
mine::cub::Thing thing; int cub = 1;
// CHECK: thrust::for_each(thrust::hip::par.on(stream), a, b, f);
void f() { thrust::for_each(thrust::cuda::par.on(stream), a, b, f); }
// CHECK: static_assert(THRUST_DEVICE_SYSTEM == THRUST_DEVICE_SYSTEM_HIP);
static_assert(THRUST_DEVICE_SYSTEM == THRUST_DEVICE_SYSTEM_CUDA);

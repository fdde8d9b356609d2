// Names in namespaces of NVIDIA's libraries that HIP lacks.
#include <cooperative_groups.h>
// FINDING: unsupported-header cooperative_groups/reduce.h
#include <cooperative_groups/reduce.h>
// CHECK: #include <rocwmma/rocwmma.hpp>
#include <mma.h>
// FINDING: unsupported-header cuda/atomic
#include <cuda/atomic>
// CHECK: namespace groups = cooperative_groups;
namespace groups = cooperative_groups;
// CHECK: namespace wmma = rocwmma;
using namespace nvcuda;
// FINDING: needs-rocm groups::reduce
// FINDING: needs-rocm cg::reduce
__device__ int a(groups::thread_block_tile<32> t, int x) { return groups::reduce(t, x, f) + cg::reduce(t, x, f); }
// CHECK: groups::thread_block block = cg::this_thread_block();
// FINDING: unsupported cooperative_groups::inclusive_scan
__device__ int b(T t, int x) { groups::thread_block block = cg::this_thread_block(); return cooperative_groups::inclusive_scan(t, x); }
// CHECK: wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> c;
__device__ wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> c;
// CHECK: rocwmma::mma_sync(x, y, z, x);
__device__ void d() { nvcuda::wmma::mma_sync(x, y, z, x); }
// CHECK: using rocwmma::fill_fragment; using namespace rocwmma; namespace w = rocwmma; w::fill_fragment(x, 0);
__device__ void l() { using nvcuda::wmma::fill_fragment; using namespace nvcuda::wmma; namespace w = nvcuda::wmma; w::fill_fragment(x, 0); }
// rocWMMA has no products of single bits.
// FINDING: unsupported wmma::bmma_sync
// FINDING: unsupported wmma::precision::tf32
__device__ void m() { wmma::bmma_sync(x, y, z, x); wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32> f; }
// FINDING: unsupported cuda::atomic
__device__ cuda::atomic<int> e;
// Namespaces of these names inside others are not NVIDIA's.
namespace own { namespace cuda { int f(); } }
int g() { return own::cuda::f() + torch::cuda::f(); }

// OPTIONS: --roc
// Names become those of the ROC libraries if they exist, with the arguments that these require.
// CHECK: #include <hip/hip_runtime.h>
// CHECK: #include <rocblas.h>
#include <cublas_v2.h>
// CHECK: #include <rocsparse.h>
#include <cusparse.h>
// CHECK: #include <rocrand/rocrand.h>
#include <curand.h>
// CHECK: rocblas_handle blas; rocblas_sgemm(blas, rocblas_operation_none);
void a() { cublasHandle_t blas; cublasSgemm(blas, CUBLAS_OP_N); }
// CHECK: rocsparse_dcsrilu0(h, m, n, d, v, p, i, f, rocsparse_solve_policy_auto, b);
// FINDING: deprecated-in-cuda cusparseDcsrilu02
void b() { cusparseDcsrilu02(h, m, n, d, v, p, i, f, policy, b); }
// An argument that is duplicated, and one that is removed.
// CHECK: rocsparse_sgpsv_interleaved_batch(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 9, 10);
void c() { cusparseSgpsvInterleavedBatch(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10); }
// There is no ROC library for the runtime: its calls become HIP's.
// CHECK: hipMemcpyToSymbol(HIP_SYMBOL(table), host, 4);
void d() { cudaMemcpyToSymbol(table, host, 4); }

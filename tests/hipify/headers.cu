#ifndef HEADERS_CU
#define HEADERS_CU
// Each header once, in the source's brackets; the compiler's implicit header after the guard.
// CHECK: #ifndef HEADERS_CU
// CHECK-NEXT: #include <hip/hip_runtime.h>
// CHECK-NEXT: #define HEADERS_CU
// CHECK: #include <hip/hip_runtime_api.h>
#include <cuda_runtime_api.h>
// CHECK-NEXT: #include "hip/hip_fp16.h"
#include "cuda_fp16.h"
// CHECK-NEXT: #include <hip/hip_cooperative_groups.h>
#include <cooperative_groups.h>
// CHECK-NEXT: #include <hipblas.h>
#include <cublas_v2.h>
// CHECK-NOT: hipblas.h
#include <cublas_v2.h>
// CHECK: #include <hiprand/hiprand.h>
#include <curand.h>
// CHECK-NEXT: #include <hiprand/hiprand_kernel.h>
#include <curand_kernel.h>
// CHECK-NOT: hiprand
#include <curand_normal.h>
// CHECK: #include <hipfft/hipfft.h>
#include <cufft.h>
// CHECK-NEXT: #include <hipfft/hipfftw.h>
#include <cufftw.h>
// CHECK-NEXT: #include <hipsparse.h>
#include <cusparse.h>
// CHECK-NEXT: #include <hipsolver.h>
#include <cusolverDn.h>
// CHECK-NEXT: #include <hipDNN.h>
#include <cudnn.h>
// CHECK-NEXT: #include <hip/hiprtc.h>
#include <nvrtc.h>
// CHECK-NEXT: #include <hipcub/hipcub.hpp>
#include <cub/cub.cuh>
// CHECK-NEXT: #include <rccl/rccl.h>
#include <nccl.h>
// CHECK-NEXT: #include <thrust/device_vector.h>
#include <thrust/device_vector.h>
// CHECK-NEXT: #include <thrust/system/hip/execution_policy.h>
#include <thrust/system/cuda/execution_policy.h>
// CHECK-NEXT: #include "caffe2/core/common_gpu.h"
// FINDING: unsupported-header caffe2/core/common_gpu.h
#include "caffe2/core/common_gpu.h"
// CHECK-NOT: #include
#include <device_launch_parameters.h>
#endif

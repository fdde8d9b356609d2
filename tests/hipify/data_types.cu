// OPTIONS: --roc --use-hip-data-types
// CHECK: #include <hip/hip_runtime.h>
#include <cublas_v2.h>
// CHECK: hipDataType type = rocblas_datatype_f32_r;
cudaDataType_t type = CUDA_R_32F;

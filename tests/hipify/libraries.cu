// Library names become those of HIP's wrappers.
// CHECK: #include <hip/hip_runtime.h>
#include <cuda_runtime.h>
#include <cublas_v2.h>
#include <nccl.h>
// CHECK: hipblasHandle_t blas; hipblasSgemm(blas, HIPBLAS_OP_N, HIPBLAS_OP_T);
void a() { cublasHandle_t blas; cublasSgemm(blas, CUBLAS_OP_N, CUBLAS_OP_T); }
// CHECK: hipsparseHandle_t sparse; hipsparseCreate(&sparse);
void b() { cusparseHandle_t sparse; cusparseCreate(&sparse); }
// CHECK: hipsolverHandle_t solver; hipsolverDnCreate(&solver);
void c() { cusolverDnHandle_t solver; cusolverDnCreate(&solver); }
// CHECK: hipfftHandle fft; hipfftPlan1d(&fft, 8, HIPFFT_C2C, 1);
void d() { cufftHandle fft; cufftPlan1d(&fft, 8, CUFFT_C2C, 1); }
// Transforms on several devices.
// CHECK: hipLibXtDesc *desc; hipfftXtSetGPUs(fft, 2, devices); hipfftXtMalloc(fft, &desc, HIPFFT_XT_FORMAT_INPLACE);
void xt() { cudaLibXtDesc *desc; cufftXtSetGPUs(fft, 2, devices); cufftXtMalloc(fft, &desc, CUFFT_XT_FORMAT_INPLACE); }
// CHECK: hipfftXtMemcpy(fft, desc, host, HIPFFT_COPY_HOST_TO_DEVICE); hipfftXtExecDescriptorC2C(fft, desc, desc, HIPFFT_FORWARD);
void run() { cufftXtMemcpy(fft, desc, host, CUFFT_COPY_HOST_TO_DEVICE); cufftXtExecDescriptorC2C(fft, desc, desc, CUFFT_FORWARD); }
// FINDING: unsupported CUFFT_NVRTC_FAILURE
int none = CUFFT_NVRTC_FAILURE;
// CHECK: hiprandGenerator_t rand; hiprandCreateGenerator(&rand, HIPRAND_RNG_PSEUDO_DEFAULT);
void e() { curandGenerator_t rand; curandCreateGenerator(&rand, CURAND_RNG_PSEUDO_DEFAULT); }
// CHECK: hipdnnHandle_t dnn; hipdnnCreate(&dnn);
void f() { cudnnHandle_t dnn; cudnnCreate(&dnn); }
// CHECK: hiprtcProgram program; hiprtcCreateProgram(&program, "", "", 0, nullptr, nullptr);
void g() { nvrtcProgram program; nvrtcCreateProgram(&program, "", "", 0, nullptr, nullptr); }
// CHECK: ncclComm_t comm; ncclCommInitAll(&comm, 1, nullptr);
void h() { ncclComm_t comm; ncclCommInitAll(&comm, 1, nullptr); }
// CHECK: hipFloatComplex i(hipFloatComplex x) { return hipCmulf(x, make_hipFloatComplex(1, 2)); }
cuFloatComplex i(cuFloatComplex x) { return cuCmulf(x, make_cuFloatComplex(1, 2)); }

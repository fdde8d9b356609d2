// Strings, comments, characters and names that only look similar stay.
// CHECK: #include <hip/hip_runtime.h>
#include <cuda_runtime.h>
// CHECK: const char *a = "cudaMalloc", *b = R"x(cudaFree( )" cudaFree)x", *c = u8"cudaFree";
const char *a = "cudaMalloc", *b = R"x(cudaFree( )" cudaFree)x", *c = u8"cudaFree";
// CHECK: const char d = 'c', *e = "\"cudaMalloc"; long f = 1'000'000; long g = 0x1'cUDL;
const char d = 'c', *e = "\"cudaMalloc"; long f = 1'000'000; long g = 0x1'cUDL;
// CHECK: int cudaMallocation, my_cudaMalloc, cudaMalloc2, cudaMallocé;
int cudaMallocation, my_cudaMalloc, cudaMalloc2, cudaMallocé;
/* cudaMalloc */ int h; /* a comment
over lines cudaMalloc */
// CHECK: #define STRING(x) #x
#define STRING(x) #x
// CHECK: #define MALLOC(p, n) \
// CHECK-NEXT: hipMalloc((void **)(p), (n))
#define MALLOC(p, n) \
    cudaMalloc((void **)(p), (n))
// An apostrophe in a directive's text ends at the line end.
#ifdef NEVER
#error don't
#endif
// A line splice in a name.
// CHECK: int i = hipMalloc(&p, 4);
void splice() { void *p; int i = cuda\
Malloc(&p, 4); }

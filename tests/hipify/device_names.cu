// Device functions: the compiler's have counterparts, and what HIP lacks is told wherever it is called.
// CHECK: __hip_atomic_load(p, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_AGENT)
__device__ int a(int *p) { return __nv_atomic_load_n(p, __NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_DEVICE); }
// Without a scope, CUDA's is the system.
// CHECK: __hip_atomic_fetch_add(p, 1, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM)
__device__ int b(int *p) { return __nv_atomic_fetch_add(p, 1, __NV_ATOMIC_RELAXED); }
// CHECK: __hip_atomic_compare_exchange_strong(p, &e, 2, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP)
__device__ bool c(int *p, int e) {
    return __nv_atomic_compare_exchange_n(p, &e, 2, true, __NV_ATOMIC_ACQ_REL, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_BLOCK);
}
// FINDING: unsupported __nv_atomic_load
__device__ void d(int *p, int *to) { __nv_atomic_load(p, to, 0, 0); }
// CHECK: atomicAdd(p, 1); __builtin_debugtrap();
__device__ void e(int *p) { atomicAdd_block(p, 1); __brkpt(); }
// FINDING: unsupported atomicInc_system
__device__ void f(unsigned *p) { atomicInc_system(p, 7); }
// FINDING: unsupported __cvta_generic_to_shared
__device__ size_t g(void *p) { return __cvta_generic_to_shared(p); }
// FINDING: unsupported __isShared
__device__ bool h(void *p) { return __isShared(p); }
// CHECK: #define STOP __builtin_debugtrap()
#define STOP __brkpt()
// CHECK: #define ALLOCATE hipHostAlloc((void **)(&room), 4, 0)
#define ALLOCATE cudaHostAlloc(&room, 4, 0)
// FINDING: unsupported __nanosleep
#define PAUSE __nanosleep(100)
// FINDING: unsupported __pipeline_memcpy_async
// FINDING: unsupported __pipeline_commit
OWN_DEVICE void i(int *d, int *s) { __pipeline_memcpy_async(d, s, 16); __pipeline_commit(); }
// FINDING: unsupported __tanhf
__device__ float j(float x) { return __tanhf(x); }
// FINDING: unsupported __dp4a
__device__ int k(int x) { return __dp4a(x, x, 0); }
// FINDING: unsupported __mbarrier_init
__device__ void l(__mbarrier_t *b) { __mbarrier_init(b, 32); }
// Names of the C library are the host's, too, and so are those that the text defines.
int m(double x) { return __isnan(x); }
__device__ void __barrier_sync(int) {}
__device__ void n() { __barrier_sync(0); }

// Launches two kernels from two threads, with copies, a fill, a host function and a wait between streams.
#include <cuda.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char ptx[] =
    ".version 7.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry _Z3addPfi(.param .u64 to, .param .u32 n) {\n"
    ".reg .b32 %r<6>; .reg .f32 %f<3>; .reg .b64 %d<4>; .reg .pred %p;\n"
    "ld.param.u64 %d1, [to]; ld.param.u32 %r1, [n];\n"
    "mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x; mad.lo.u32 %r5, %r2, %r3, %r4;\n"
    "setp.ge.u32 %p, %r5, %r1; @%p bra END;\n"
    "mul.wide.u32 %d2, %r5, 4; add.u64 %d3, %d1, %d2;\n"
    "ld.global.f32 %f1, [%d3]; add.f32 %f2, %f1, 0f3f800000; st.global.f32 [%d3], %f2;\n"
    "END: ret; }\n"
    ".visible .entry nothing() { ret; }\n";

#define CHECK(call) do { CUresult r = (call); if (r) { fprintf(stderr, #call ": %d\n", r); exit(9); } } while (0)

static CUcontext context;
static CUfunction nothing;

static void *other_thread(void *unused) {
    CUstream stream;
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    for (int i = 0; i < 5; i++) CHECK(cuLaunchKernel(nothing, 1, 1, 1, 32, 1, 1, 0, stream, NULL, NULL));
    CHECK(cuStreamSynchronize(stream));
    return unused;
}

static void CUDA_CB host(void *unused) { (void)unused; usleep(2000); }

int main(int argc, char **argv) {
    CUdevice device;
    CUmodule module;
    CUfunction add;
    CUdeviceptr memory;
    CUstream first, second;
    CUevent event;
    pthread_t thread;
    static float values[1000];
    int n = 1000;
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuCtxCreate(&context, NULL, 0, device));
    if (argc > 1 && !strcmp(argv[1], "idle")) return 0;
    CHECK(cuModuleLoadData(&module, ptx));
    CHECK(cuModuleGetFunction(&add, module, "_Z3addPfi"));
    CHECK(cuModuleGetFunction(&nothing, module, "nothing"));
    CHECK(cuMemAlloc(&memory, sizeof values));
    CHECK(cuMemsetD32(memory, 0, n));
    CHECK(cuMemcpyHtoD(memory, values, sizeof values));
    CHECK(cuStreamCreate(&first, CU_STREAM_NON_BLOCKING));
    CHECK(cuStreamCreate(&second, CU_STREAM_NON_BLOCKING));
    CHECK(cuEventCreate(&event, 0));
    void *arguments[] = {&memory, &n};
    for (int i = 0; i < 3; i++) CHECK(cuLaunchKernel(add, 4, 1, 1, 256, 1, 1, 64, first, arguments, NULL));
    CHECK(cuLaunchHostFunc(first, host, NULL));
    CHECK(cuEventRecord(event, first));
    CHECK(cuStreamWaitEvent(second, event, 0));
    // A stream that comes to an event late does not wait; waits for words are recorded in any case.
    CHECK(cuStreamWaitValue32(second, memory, 0, CU_STREAM_WAIT_VALUE_GEQ));
    CHECK(cuLaunchKernel(nothing, 2, 3, 4, 32, 1, 1, 0, second, NULL, NULL));
    if (pthread_create(&thread, NULL, other_thread, NULL) || pthread_join(thread, NULL)) return 8;
    CHECK(cuStreamSynchronize(second));
    CHECK(cuMemcpyDtoH(values, memory, sizeof values));
    if (values[0] != 3 || values[999] != 3) return 7;
    if (argc > 1 && !strcmp(argv[1], "killed")) raise(SIGKILL);
    if (argc > 1 && !strcmp(argv[1], "at once")) _exit(5);
    return argc > 1 ? atoi(argv[1]) : 0;
}

// HIP and the CUDA driver in one program: their handles are interchangeable.
#include <cuda.h>

#include "check.hpp"

#define CU(call)                                                                                   \
    do {                                                                                           \
        CUresult result_ = (call);                                                                 \
        if (result_ != CUDA_SUCCESS) {                                                             \
            std::fprintf(stderr, "line %d: %s: %d\n", __LINE__, #call, (int)result_);              \
            return 1;                                                                              \
        }                                                                                          \
    } while (0)

static const char *const ptx = ".version 7.0\n.target sm_52\n.address_size 64\n"
                               ".visible .entry twice(.param .u64 p) {\n"
                               "    .reg .b32 %r<3>;\n    .reg .b64 %rd<4>;\n"
                               "    ld.param.u64 %rd1, [p];\n    mov.u32 %r1, %tid.x;\n    mul.wide.u32 %rd2, %r1, 4;\n"
                               "    add.s64 %rd3, %rd1, %rd2;\n    ld.global.u32 %r2, [%rd3];\n    add.u32 %r2, %r2, %r2;\n"
                               "    st.global.u32 [%rd3], %r2;\n    ret;\n}\n";

int main() {
    // Memory and a stream from HIP, the module and the launch from CUDA, then the other way round.
    unsigned values[32], *memory;
    for (unsigned i = 0; i < 32; i++) values[i] = i;
    hipStream_t stream;
    CHECK(hipMalloc((void **)&memory, sizeof values));
    CHECK(hipStreamCreate(&stream));
    CHECK(hipMemcpyAsync(memory, values, sizeof values, hipMemcpyHostToDevice, stream));

    CUcontext current;
    CU(cuCtxGetCurrent(&current));
    hipCtx_t same;
    CHECK(hipCtxGetCurrent(&same));
    CUmodule module;
    CUfunction twice;
    CU(cuModuleLoadData(&module, ptx));
    CU(cuModuleGetFunction(&twice, module, "twice"));
    CUdeviceptr pointer = (CUdeviceptr)memory;
    void *args[] = {&pointer};
    CU(cuLaunchKernel(twice, 1, 1, 1, 32, 1, 1, 0, (CUstream)stream, args, NULL));

    hipFunction_t also;
    CHECK(hipModuleGetFunction(&also, (hipModule_t)module, "twice"));
    CUevent event;
    CU(cuEventCreate(&event, CU_EVENT_DEFAULT));
    CHECK(hipModuleLaunchKernel(also, 1, 1, 1, 32, 1, 1, 0, stream, args, NULL));
    CHECK(hipEventRecord((hipEvent_t)event, stream));
    CU(cuEventSynchronize(event));
    CU(cuMemcpyDtoH(values, pointer, sizeof values));
    unsigned wrong = 0;
    for (unsigned i = 0; i < 32; i++) wrong += values[i] != 4 * i;
    std::printf("%s context, %s function, %u of 32 are wrong\n", (void *)current == (void *)same ? "one" : "another",
                (void *)twice == (void *)also ? "one" : "another", wrong);
    CU(cuEventDestroy(event));
    CHECK(hipModuleUnload((hipModule_t)module));
    CHECK(hipStreamDestroy(stream));
    CHECK(hipFree(memory));
    return wrong != 0;
}

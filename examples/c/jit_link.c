/* Linking: a kernel in one PTX text calls a function and reads a variable in another. */
#include <string.h>

#include "common.h"

#define LOG 8192

static const char caller[] = ".version 7.0\n"
                             ".target sm_52\n"
                             ".address_size 64\n"
                             ".extern .func (.param .b32 result) scale(.param .b32 value);\n"
                             ".extern .global .u32 bias;\n"
                             ".visible .entry apply(.param .u64 data) {\n"
                             "    .reg .b32 %r<6>;\n"
                             "    .reg .b64 %rd<5>;\n"
                             "    ld.param.u64 %rd1, [data];\n"
                             "    cvta.to.global.u64 %rd2, %rd1;\n"
                             "    mov.u32 %r1, %tid.x;\n"
                             "    mul.wide.u32 %rd3, %r1, 4;\n"
                             "    add.s64 %rd4, %rd2, %rd3;\n"
                             "    ld.global.u32 %r2, [%rd4];\n"
                             "    {\n"
                             "    .param .b32 argument;\n"
                             "    .param .b32 answer;\n"
                             "    st.param.b32 [argument], %r2;\n"
                             "    call.uni (answer), scale, (argument);\n"
                             "    ld.param.b32 %r3, [answer];\n"
                             "    }\n"
                             "    ld.global.u32 %r4, [bias];\n"
                             "    add.u32 %r5, %r3, %r4;\n"
                             "    st.global.u32 [%rd4], %r5;\n"
                             "    ret;\n"
                             "}\n";

static const char callee[] = ".version 7.0\n"
                             ".target sm_52\n"
                             ".address_size 64\n"
                             ".visible .global .u32 bias = 1000;\n"
                             ".visible .func (.param .b32 result) scale(.param .b32 value) {\n"
                             "    .reg .b32 %r<3>;\n"
                             "    ld.param.b32 %r1, [value];\n"
                             "    mul.lo.u32 %r2, %r1, 3;\n"
                             "    st.param.b32 [result], %r2;\n"
                             "    ret;\n"
                             "}\n";

int main(void) {
    CHECK(cuInit(0));
    CUdevice device;
    CHECK(cuDeviceGet(&device, 0));
    CUcontext context = create_context(device);

    char error_log[LOG] = "", info_log[LOG] = "";
    CUjit_option options[] = {CU_JIT_WALL_TIME, CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES,
                              CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, CU_JIT_LOG_VERBOSE};
    void *values[] = {0, info_log, (void *)LOG, error_log, (void *)LOG, (void *)1};
    CUlinkState state;
    CHECK(cuLinkCreate(6, options, values, &state));
    CHECK(cuLinkAddData(state, CU_JIT_INPUT_PTX, (void *)caller, sizeof caller, "caller.ptx", 0, NULL, NULL));
    CHECK(cuLinkAddData(state, CU_JIT_INPUT_PTX, (void *)callee, sizeof callee, "callee.ptx", 0, NULL, NULL));
    void *cubin;
    size_t cubin_size;
    CUresult result = cuLinkComplete(state, &cubin, &cubin_size);
    if (result != CUDA_SUCCESS) fprintf(stderr, "link error:\n%s\n", error_log);
    CHECK(result);
    printf("linked, %s\n", cubin_size > 0 ? "with a result" : "without a result");

    CUmodule module;
    CHECK(cuModuleLoadData(&module, cubin));
    CHECK(cuLinkDestroy(state));
    CUfunction apply;
    CHECK(cuModuleGetFunction(&apply, module, "apply"));

    unsigned data[64], wrong = 0;
    for (unsigned i = 0; i < 64; i++) data[i] = i * i;
    CUdeviceptr d;
    CHECK(cuMemAlloc(&d, sizeof data));
    CHECK(cuMemcpyHtoD(d, data, sizeof data));
    void *args[] = {&d};
    CHECK(cuLaunchKernel(apply, 1, 1, 1, 64, 1, 1, 0, NULL, args, NULL));
    CHECK(cuMemcpyDtoH(data, d, sizeof data));
    for (unsigned i = 0; i < 64; i++) wrong += data[i] != 3 * i * i + 1000;

    CHECK(cuMemFree(d));
    CHECK(cuModuleUnload(module));
    CHECK(cuCtxDestroy(context));
    puts(wrong ? "FAILED" : "PASSED");
    return wrong != 0;
}

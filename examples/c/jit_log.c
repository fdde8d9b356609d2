/* JIT options and logs: for a PTX text with an error, the error log gives its position; the corrected text
 * loads. */
#include <string.h>

#include "common.h"

#define LOG 8192

static const char wrong[] = ".version 7.0\n"
                            ".target sm_52\n"
                            ".address_size 64\n"
                            ".visible .entry kernel(.param .u64 out) {\n"
                            "    .reg .b32 %r<2>;\n"
                            "    mov.u32 %r1, %tid.q;\n"
                            "    ret;\n"
                            "}\n";

static CUresult load(CUmodule *module, const char *ptx, char *error_log, char *info_log) {
    float wall = -1.0f;
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, CU_JIT_INFO_LOG_BUFFER,
                              CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, CU_JIT_TARGET_FROM_CUCONTEXT, CU_JIT_OPTIMIZATION_LEVEL,
                              CU_JIT_LOG_VERBOSE, CU_JIT_WALL_TIME};
    void *values[] = {error_log, (void *)LOG, info_log, (void *)LOG, 0, (void *)4, (void *)1, 0};
    CUresult result = cuModuleLoadDataEx(module, ptx, 8, options, values);
    memcpy(&wall, &values[7], sizeof wall);
    printf("wall time is known: %s\n", wall >= 0.0f ? "yes" : "no");
    return result;
}

int main(void) {
    CHECK(cuInit(0));
    CUdevice device;
    CHECK(cuDeviceGet(&device, 0));
    CUcontext context = create_context(device);

    char error_log[LOG] = "", info_log[LOG] = "", right[sizeof wrong];
    CUmodule module;
    CUresult result = load(&module, wrong, error_log, info_log);
    const char *name;
    CHECK(cuGetErrorName(result, &name));
    printf("wrong text: %s\n%s\n", name, error_log);
    int ok = result == CUDA_ERROR_INVALID_PTX && strstr(error_log, "line 6") != NULL;

    strcpy(right, wrong);
    *strchr(strstr(right, "%tid."), 'q') = 'x';
    CHECK(load(&module, right, error_log, info_log));
    CUfunction kernel;
    CHECK(cuModuleGetFunction(&kernel, module, "kernel"));
    printf("mended text: loaded\n");

    CHECK(cuModuleUnload(module));
    CHECK(cuCtxDestroy(context));
    puts(ok ? "PASSED" : "FAILED");
    return !ok;
}

/* Passes parameters in one aligned buffer (the `extra` argument of cuLaunchKernel): int, float4, char,
 * float, pointer, float2, a struct with different padding on the device, and a double. The kernel writes
 * back what it received. */
#include <stddef.h>
#include <string.h>

#include "common.h"

static const char ptx[] = ".version 7.0\n"
                          ".target sm_52\n"
                          ".address_size 64\n"
                          ".visible .entry report(.param .u32 i, .param .align 16 .b8 f4[16], .param .u8 c, .param .f32 f,\n"
                          "                       .param .u64 out, .param .align 8 .b8 f2[8], .param .align 16 .b8 s[32],\n"
                          "                       .param .f64 d) {\n"
                          "    .reg .b32 %r<3>;\n"
                          "    .reg .f32 %f<10>;\n"
                          "    .reg .f64 %d<2>;\n"
                          "    .reg .b64 %rd<3>;\n"
                          "    ld.param.u64 %rd1, [out];\n"
                          "    cvta.to.global.u64 %rd2, %rd1;\n"
                          "    ld.param.u32 %r1, [i];\n"
                          "    ld.param.s8 %r2, [c];\n"
                          "    ld.param.v4.f32 {%f1, %f2, %f3, %f4}, [f4];\n"
                          "    ld.param.f32 %f5, [f];\n"
                          "    ld.param.v2.f32 {%f6, %f7}, [f2];\n"
                          "    ld.param.f32 %f8, [s];\n"
                          "    ld.param.f32 %f9, [s+28];\n"
                          "    ld.param.f64 %d1, [d];\n"
                          "    st.global.u32 [%rd2], %r1;\n"
                          "    st.global.u32 [%rd2+4], %r2;\n"
                          "    st.global.f32 [%rd2+8], %f1;\n"
                          "    st.global.f32 [%rd2+12], %f4;\n"
                          "    st.global.f32 [%rd2+16], %f5;\n"
                          "    st.global.f32 [%rd2+20], %f6;\n"
                          "    st.global.f32 [%rd2+24], %f7;\n"
                          "    st.global.f32 [%rd2+28], %f8;\n"
                          "    st.global.f32 [%rd2+32], %f9;\n"
                          "    st.global.f64 [%rd2+40], %d1;\n"
                          "    ret;\n"
                          "}\n";

static char buffer[1024];
static size_t used;

static void add(const void *value, size_t size, size_t align) {
    used = (used + align - 1) / align * align;
    memcpy(buffer + used, value, size);
    used += size;
}

typedef struct {
    float x, y, z, w;
} float4;
typedef struct {
    float x, y;
} float2;
typedef struct { /* the device's layout: the float4 is aligned to 16 */
    float f;
    float padding[3];
    float4 f4;
} device_struct;

typedef struct {
    int i, c;
    float f4x, f4w, f, f2x, f2y, sf, sw;
    double d;
} answer;

int main(void) {
    CHECK(cuInit(0));
    CUdevice device;
    CHECK(cuDeviceGet(&device, 0));
    CUcontext context = create_context(device);
    CUmodule module;
    CUfunction kernel;
    CHECK(cuModuleLoadData(&module, ptx));
    CHECK(cuModuleGetFunction(&kernel, module, "report"));
    CUdeviceptr out;
    CHECK(cuMemAlloc(&out, sizeof(answer)));

    int i = -7;
    char c = -3;
    float f = 2.5f;
    float4 f4 = {1, 2, 3, 4};
    float2 f2 = {5, 6};
    device_struct s = {8, {0, 0, 0}, {9, 10, 11, 12}};
    double d = 0.125;
    add(&i, sizeof i, _Alignof(int));
    add(&f4, sizeof f4, 16);
    add(&c, sizeof c, 1);
    add(&f, sizeof f, _Alignof(float));
    add(&out, sizeof out, _Alignof(CUdeviceptr));
    add(&f2, sizeof f2, 8);
    add(&s, sizeof s, 16);
    add(&d, sizeof d, 8);
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, buffer, CU_LAUNCH_PARAM_BUFFER_SIZE, &used, CU_LAUNCH_PARAM_END};
    CHECK(cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, extra));

    answer got;
    CHECK(cuMemcpyDtoH(&got, out, sizeof got));
    printf("%d %d %g %g %g %g %g %g %g %g\n", got.i, got.c, got.f4x, got.f4w, got.f, got.f2x, got.f2y, got.sf, got.sw, got.d);
    int ok = got.i == -7 && got.c == -3 && got.f4x == 1 && got.f4w == 4 && got.f == 2.5f && got.f2x == 5 && got.f2y == 6 &&
             got.sf == 8 && got.sw == 12 && got.d == 0.125;

    CHECK(cuMemFree(out));
    CHECK(cuModuleUnload(module));
    CHECK(cuCtxDestroy(context));
    puts(ok ? "PASSED" : "FAILED");
    return !ok;
}

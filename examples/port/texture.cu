/* A texture reference: reads a two-dimensional array through a filter, at coordinates between its
 * elements. */
#include "check.h"

enum { W = 8, H = 4, OUT = 16 };

static const char ptx[] =
    ".version 7.0\n.target sm_52\n.address_size 64\n"
    ".visible .global .texref picture;\n"
    ".visible .entry sample(.param .u64 out, .param .f32 step) {\n"
    "    .reg .b32 %r<4>;\n"
    "    .reg .f32 %f<9>;\n"
    "    .reg .b64 %rd<5>;\n"
    "    ld.param.u64 %rd1, [out];\n"
    "    cvta.to.global.u64 %rd2, %rd1;\n"
    "    ld.param.f32 %f1, [step];\n"
    "    mov.u32 %r1, %tid.x;\n"
    "    cvt.rn.f32.u32 %f2, %r1;\n"
    "    mul.f32 %f3, %f2, %f1;\n"
    "    mov.f32 %f4, 0f3FC00000;\n" /* 1.5: the middle of the second row */
    "    tex.2d.v4.f32.f32 {%f5, %f6, %f7, %f8}, [picture, {%f3, %f4}];\n"
    "    mul.wide.u32 %rd3, %r1, 4;\n"
    "    add.s64 %rd4, %rd2, %rd3;\n"
    "    st.global.f32 [%rd4], %f5;\n"
    "    ret;\n"
    "}\n";

int main(void) {
    start();
    CUmodule module;
    CUfunction sample;
    CUtexref picture;
    CHECK(cuModuleLoadData(&module, ptx));
    CHECK(cuModuleGetFunction(&sample, module, "sample"));
    CHECK(cuModuleGetTexRef(&picture, module, "picture"));

    float texels[H][W], result[OUT];
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++) texels[y][x] = (float)(10 * y + x);
    CUDA_ARRAY_DESCRIPTOR shape = {0};
    shape.Width = W;
    shape.Height = H;
    shape.Format = CU_AD_FORMAT_FLOAT;
    shape.NumChannels = 1;
    CUarray array;
    CHECK(cuArrayCreate(&array, &shape));
    CUDA_MEMCPY2D copy = {0};
    copy.srcMemoryType = CU_MEMORYTYPE_HOST;
    copy.srcHost = texels;
    copy.srcPitch = sizeof texels[0];
    copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
    copy.dstArray = array;
    copy.WidthInBytes = sizeof texels[0];
    copy.Height = H;
    CHECK(cuMemcpy2D(&copy));

    CHECK(cuTexRefSetArray(picture, array, CU_TRSA_OVERRIDE_FORMAT));
    CHECK(cuTexRefSetFilterMode(picture, CU_TR_FILTER_MODE_LINEAR));
    CHECK(cuTexRefSetAddressMode(picture, 0, CU_TR_ADDRESS_MODE_CLAMP));
    CHECK(cuTexRefSetAddressMode(picture, 1, CU_TR_ADDRESS_MODE_CLAMP));

    CUdeviceptr out;
    float step = 0.75f;
    CHECK(cuMemAlloc(&out, sizeof result));
    void *args[] = {&out, &step};
    CHECK(cuLaunchKernel(sample, 1, 1, 1, OUT, 1, 1, 0, NULL, args, NULL));
    CHECK(cuMemcpyDtoH(result, out, sizeof result));
    int wrong = 0;
    for (int i = 0; i < OUT; i++) {
        float x = (float)i * step - 0.5f;
        x = x < 0 ? 0 : x > W - 1 ? W - 1 : x;
        wrong += result[i] != 10.0f + x;
        printf(i + 1 < OUT ? "%g " : "%g\n", result[i]);
    }
    printf("%d of %d are wrong\n", wrong, OUT);
    CHECK(cuMemFree(out));
    CHECK(cuArrayDestroy(array));
    CHECK(cuModuleUnload(module));
    return wrong != 0;
}

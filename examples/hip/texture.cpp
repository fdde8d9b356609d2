// The guide's texture driver API: a module's reference is configured step by step and bound to an array.
#include <cstring>

#include "check.hpp"

static const char *const ptx = ".version 7.0\n.target sm_52\n.address_size 64\n"
                               ".visible .global .texref tex;\n"
                               ".visible .entry read(.param .u64 out) {\n"
                               "    .reg .b32 %r<2>;\n    .reg .f32 %f<7>;\n    .reg .b64 %rd<4>;\n"
                               "    ld.param.u64 %rd1, [out];\n    mov.u32 %r1, %tid.x;\n    cvt.rn.f32.u32 %f1, %r1;\n"
                               "    fma.rn.f32 %f1, %f1, 0f3E800000, 0fBE000000;\n" /* x / 4 - 1/8 */
                               "    mov.f32 %f2, 0f3F000000;\n"
                               "    tex.2d.v4.f32.f32 {%f3, %f4, %f5, %f6}, [tex, {%f1, %f2}];\n"
                               "    mul.wide.u32 %rd2, %r1, 4;\n    add.s64 %rd3, %rd1, %rd2;\n"
                               "    st.global.f32 [%rd3], %f3;\n    ret;\n}\n";

int main() {
    hipModule_t module;
    hipFunction_t read;
    CHECK(hipInit(0));
    CHECK(hipModuleLoadData(&module, ptx));
    CHECK(hipModuleGetFunction(&read, module, "read"));

    const float row[4] = {0, 1, 2, 3};
    HIP_ARRAY_DESCRIPTOR shape;
    std::memset(&shape, 0, sizeof shape);
    shape.Width = 4;
    shape.Height = 1;
    shape.Format = HIP_AD_FORMAT_FLOAT;
    shape.NumChannels = 1;
    hipArray_t array;
    CHECK(hipArrayCreate(&array, &shape));
    CHECK(hipMemcpyHtoA(array, 0, row, sizeof row));

    textureReference *texref;
    CHECK(hipModuleGetTexRef(&texref, module, "tex"));
    CHECK(hipTexRefSetAddressMode(texref, 0, hipAddressModeWrap));
    CHECK(hipTexRefSetAddressMode(texref, 1, hipAddressModeWrap));
    CHECK(hipTexRefSetFilterMode(texref, hipFilterModePoint));
    CHECK(hipTexRefSetFlags(texref, HIP_TRSF_NORMALIZED_COORDINATES));
    CHECK(hipTexRefSetFormat(texref, HIP_AD_FORMAT_FLOAT, 1));
    CHECK(hipTexRefSetArray(texref, array, HIP_TRSA_OVERRIDE_FORMAT));

    float *out, host[6];
    CHECK(hipMalloc((void **)&out, sizeof host));
    void *args[] = {&out};
    CHECK(hipModuleLaunchKernel(read, 1, 1, 1, 6, 1, 1, 0, 0, args, NULL));
    CHECK(hipMemcpy(host, out, sizeof host, hipMemcpyDeviceToHost));
    std::printf("wrapped: %g %g %g %g %g %g\n", host[0], host[1], host[2], host[3], host[4], host[5]);
    CHECK(hipFree(out));
    CHECK(hipFreeArray(array));
    CHECK(hipModuleUnload(module));
    return 0;
}

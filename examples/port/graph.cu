/* A graph of the driver API: a fill, and a kernel on a part of the same memory. */
#include "check.h"

enum { N = 8 };

static const char ptx[] =
    ".version 7.0\n.target sm_52\n.address_size 64\n"
    ".visible .entry number(.param .u64 out) {\n"
    "    .reg .b32 %r<2>;\n"
    "    .reg .b64 %rd<4>;\n"
    "    ld.param.u64 %rd1, [out];\n"
    "    mov.u32 %r1, %ctaid.x;\n"
    "    mul.wide.u32 %rd2, %r1, 4;\n"
    "    add.s64 %rd3, %rd1, %rd2;\n"
    "    st.global.u32 [%rd3], %r1;\n"
    "    ret;\n"
    "}\n";

int main(void) {
    CUcontext context = start();
    CUmodule module;
    CUfunction number;
    CHECK(cuModuleLoadData(&module, ptx));
    CHECK(cuModuleGetFunction(&number, module, "number"));
    CUdeviceptr data;
    CHECK(cuMemAlloc(&data, N * sizeof(int)));

    CUgraph graph;
    CUgraphNode fill, kernel;
    CHECK(cuGraphCreate(&graph, 0));
    CUDA_MEMSET_NODE_PARAMS sevens;
    sevens.dst = data;
    sevens.pitch = 0;
    sevens.value = 7;
    sevens.elementSize = sizeof(int);
    sevens.width = N;
    sevens.height = 1;
    CHECK(cuGraphAddMemsetNode(&fill, graph, NULL, 0, &sevens, context));
    CUdeviceptr part = data + sizeof(int);
    void *args[] = {&part};
    CUDA_KERNEL_NODE_PARAMS launch = {.gridDimX = 4, .gridDimY = 1, .gridDimZ = 1, .kernelParams = args};
    launch.func = number;
    launch.blockDimX = launch.blockDimY = launch.blockDimZ = 1;
    CHECK(cuGraphAddKernelNode(&kernel, graph, &fill, 1, &launch));

    CUgraphExec ready;
    CHECK(cuGraphInstantiateWithFlags(&ready, graph, 0));
    CHECK(cuGraphLaunch(ready, NULL));
    CHECK(cuCtxSynchronize());
    int out[N];
    CHECK(cuMemcpyDtoH(out, data, sizeof out));
    for (int i = 0; i < N; i++) printf("%d%c", out[i], i + 1 < N ? ' ' : '\n');
    CHECK(cuGraphExecDestroy(ready));
    CHECK(cuGraphDestroy(graph));
    CHECK(cuMemFree(data));
    CHECK(cuModuleUnload(module));
    return 0;
}

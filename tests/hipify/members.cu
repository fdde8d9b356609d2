// Structures whose members have other names, or another order, in HIP.
// CHECK: #include <hip/hip_runtime.h>
#include <cuda.h>

struct Mine { int gridDimX; };
struct Holder { CUDA_KERNEL_NODE_PARAMS kp; };

void node(CUgraph g, CUfunction k, void **args, CUDA_KERNEL_NODE_PARAMS *in, Mine mine, Holder *holder) {
    // CHECK: hipKernelNodeParams kp = {}, all[2];
    CUDA_KERNEL_NODE_PARAMS kp = {}, all[2];
    // CHECK: kp.func = k;
    kp.func = k;
    // CHECK: kp.gridDim.x = 8; kp.gridDim.y = kp.gridDim.z = 1;
    kp.gridDimX = 8; kp.gridDimY = kp.gridDimZ = 1;
    // CHECK: in->blockDim.x = all[in->gridDim.y].blockDim.z; (*in).blockDim.y = 1;
    in->blockDimX = all[in->gridDimY].blockDimZ; (*in).blockDimY = 1;
    // CHECK: mine.gridDimX = holder->kp.gridDim.x;
    mine.gridDimX = holder->kp.gridDimX;
    // CHECK: ((hipKernelNodeParams *)args[0])->gridDim.x = 1;
    ((CUDA_KERNEL_NODE_PARAMS *)args[0])->gridDimX = 1;
    // FINDING: member ctx
    kp.ctx = nullptr;
}

void other(CUlaunchConfig *kp) {
    // CHECK: kp->gridDimX = 1;
    kp->gridDimX = 1;
}

void initialised(CUfunction k, void **args) {
    // CHECK: hipKernelNodeParams a = {.func = k, .gridDim = {8, 1, 2}, .blockDim = {1, 1, 1}, .kernelParams = args};
    CUDA_KERNEL_NODE_PARAMS a = {.func = k, .gridDimX = 8, .gridDimY = 1, .gridDimZ = 2, .blockDimX = 1, .blockDimY = 1, .blockDimZ = 1, .kernelParams = args};
    // FINDING: member gridDimX
    CUDA_KERNEL_NODE_PARAMS b = {.func = k, .gridDimX = 8};
    // FINDING: member {
    CUDA_KERNEL_NODE_PARAMS c = {k, 8, 1, 1, 128, 1, 1, 0, args, nullptr};
    // FINDING: member {
    use(CUDA_KERNEL_NODE_PARAMS{k, 8, 1, 1, 128, 1, 1, 0, args, nullptr});
    // FINDING: member {
    cudaMemsetParams d = {args, 0, 1, 4, 8, 1};
    CUDA_KERNEL_NODE_PARAMS e = {0};
}

void memory() {
    CUmemAllocationProp prop = {};
    // CHECK: prop.requestedHandleType = hipMemHandleTypePosixFileDescriptor;
    prop.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    CUgraphNodeParams node;
    // CHECK: node.kernel.gridDim.x = 1;
    node.kernel.gridDimX = 1;
    // FINDING: member ownership
    node.graph.ownership = 0;
    CUDA_GRAPH_INSTANTIATE_PARAMS p;
    // CHECK: p.uploadStream = 0;
    p.hUploadStream = 0;
    cudaTextureDesc texture;
    // FINDING: member seamlessCubemap
    texture.seamlessCubemap = 1;
}

/* What the groups about graphs and capture share. */
#include "graph_kit.h"

#define X(name, symbol, arguments) CUresult(*p_##name) arguments;
KIT_FUNCTIONS(X)
#undef X

struct kit K;
int host_calls;

static CUresult missing(void)
{
    return (CUresult)100000;
}

void kit(void)
{
#define X(name, symbol, arguments) \
    p_##name = (__typeof__(p_##name))S(symbol); \
    if (!p_##name) \
        p_##name = (__typeof__(p_##name))(void *)missing;
    KIT_FUNCTIONS(X)
#undef X
    K.context = setup();
    R(cuCtxCreate, &K.other, NULL, 0, 0);
    R(cuMemAlloc, &K.far, 4096);
    R(cuStreamCreate, &K.farstream, 0);
    R(cuCtxSetCurrent, K.context);
    K.module = load(ptx_main);
    K.fill = function(K.module, "fill");
    K.scale = function(K.module, "scale");
    K.addone = function(K.module, "addone");
    K.empty = function(K.module, "empty");
    K.mix = function(load(ptx_graph), "mix");
    R(cuStreamCreate, &K.s, 0);
    R(cuStreamCreate, &K.t, 0);
    R(cuStreamCreate, &K.free_stream, CU_STREAM_NON_BLOCKING);
    R(cuEventCreate, &K.e, CU_EVENT_DISABLE_TIMING);
    R(cuEventCreate, &K.f, CU_EVENT_DISABLE_TIMING);
    R(cuEventCreate, &K.ended, 0);
    R(cuEventRecord, K.ended, K.s);
    R(cuMemAlloc, &K.p, KIT_BYTES);
    R(cuMemsetD8, K.p, 0, KIT_BYTES);
    R(cuMemHostAlloc, (void **)&K.host, 4096, 0);
    R(cuCtxSynchronize);
}

CUDA_KERNEL_NODE_PARAMS right_kernel(void)
{
    static unsigned n = 16, v = 7;
    static void *args[] = {&K.p, &n, &v};
    return (CUDA_KERNEL_NODE_PARAMS){.func = K.fill,
        .gridDimX = 1,
        .gridDimY = 1,
        .gridDimZ = 1,
        .blockDimX = 16,
        .blockDimY = 1,
        .blockDimZ = 1,
        .kernelParams = args};
}

CUDA_MEMCPY3D right_copy(void)
{
    return (CUDA_MEMCPY3D){.srcMemoryType = CU_MEMORYTYPE_DEVICE,
        .srcDevice = K.p,
        .dstMemoryType = CU_MEMORYTYPE_DEVICE,
        .dstDevice = K.p + 1024,
        .WidthInBytes = 64,
        .Height = 1,
        .Depth = 1};
}

CUDA_MEMSET_NODE_PARAMS right_set(void)
{
    return (CUDA_MEMSET_NODE_PARAMS){
        .dst = K.p + 2048, .value = 3, .elementSize = 4, .width = 16, .height = 1};
}

static void CUDA_CB count_call(void *data)
{
    ++*(int *)data;
}

CUDA_HOST_NODE_PARAMS right_host(void)
{
    return (CUDA_HOST_NODE_PARAMS){.fn = count_call, .userData = &host_calls};
}

struct alloc_params right_alloc(void)
{
    struct alloc_params a;
    memset(&a, 0, sizeof a);
    a.pool.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    a.pool.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    a.bytes = 4096;
    return a;
}

CUgraph single(CUgraphNode *node)
{
    CUgraph g = NULL;
    CUgraphNode n = NULL;
    CUDA_KERNEL_NODE_PARAMS kernel = right_kernel();
    R(cuGraphCreate, &g, 0);
    R(cuGraphAddKernelNode, node ? node : &n, g, NULL, 0, &kernel);
    return g;
}

CUgraph chain(CUgraphNode nodes[CHAIN])
{
    CUgraph g = NULL, child = single(NULL);
    CUDA_KERNEL_NODE_PARAMS kernel = right_kernel();
    CUDA_MEMCPY3D copy = right_copy();
    CUDA_MEMSET_NODE_PARAMS set = right_set();
    CUDA_HOST_NODE_PARAMS host = right_host();
    CUstreamBatchMemOpParams op;
    memset(&op, 0, sizeof op);
    op.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
    op.writeValue.address = K.p + 4096;
    op.writeValue.value = 5;
    struct batch_params batch = {K.context, 1, &op, 0};
    memset(nodes, 0, CHAIN * sizeof *nodes);
    R(cuGraphCreate, &g, 0);
    R(cuGraphAddKernelNode, &nodes[0], g, NULL, 0, &kernel);
    R(cuGraphAddMemcpyNode, &nodes[1], g, &nodes[0], 1, &copy, K.context);
    R(cuGraphAddMemsetNode, &nodes[2], g, &nodes[1], 1, &set, K.context);
    R(cuGraphAddHostNode, &nodes[3], g, &nodes[2], 1, &host);
    R(cuGraphAddChildGraphNode, &nodes[4], g, &nodes[3], 1, child);
    R(cuGraphAddEmptyNode, &nodes[5], g, &nodes[4], 1);
    R(cuGraphAddEventWaitNode, &nodes[6], g, &nodes[5], 1, K.ended);
    R(cuGraphAddEventRecordNode, &nodes[7], g, &nodes[6], 1, K.f);
    R(cuGraphAddBatchMemOpNode, &nodes[8], g, &nodes[7], 1, &batch);
    R(cuGraphDestroy, child);
    return g;
}

CUgraphExec executable(CUgraph g)
{
    CUgraphExec exec = NULL;
    R(cuGraphInstantiate, &exec, g, 0);
    return exec;
}

int index_of(CUgraphNode node, const CUgraphNode *nodes, int count)
{
    for (int i = 0; i < count && node; i++)
        if (nodes[i] == node)
            return i;
    return node ? -2 : -1;
}

size_t node_count(CUgraph g)
{
    size_t count = 0;
    return g && !R(cuGraphGetNodes, g, NULL, &count) ? count : 0;
}

unsigned word(CUdeviceptr at)
{
    unsigned value = 0xdeadbeef;
    R(cuMemcpyDtoH, &value, at, 4);
    return value;
}

CUgraph dead_graph(void)
{
    CUgraph g = single(NULL);
    R(cuGraphDestroy, g);
    return g;
}

CUgraphNode dead_node(void)
{
    CUgraphNode n = NULL;
    CUgraph g = single(&n);
    R(cuGraphDestroy, g);
    return n;
}

CUgraphExec dead_exec(void)
{
    CUgraphExec exec = executable(single(NULL));
    R(cuGraphExecDestroy, exec);
    return exec;
}

CUstream dead_stream_of_kit(void)
{
    CUstream s = NULL;
    R(cuStreamCreate, &s, 0);
    R(cuStreamDestroy, s);
    return s;
}

CUevent dead_event(void)
{
    CUevent e = NULL;
    R(cuEventCreate, &e, 0);
    R(cuEventDestroy, e);
    return e;
}

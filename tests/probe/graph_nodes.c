/* Nodes of graphs: each kind's functions with right and wrong arguments. */
#include "graph_kit.h"

/* A foreign node, a node of each wrong kind, NULL and dead nodes are given to a kind's get and set functions.
 * `get` and `set` are called with each node of a chain; the chain's index of the right kind is `own`. */
#define EACH_KIND(own, get, set, got, right) \
    for (int i = 0; i < CHAIN; i++) \
        if (i != own) { \
            TP(N("get.of%d", i), get, nodes[i], &got); \
            TP(N("set.of%d", i), set, nodes[i], right); \
        } \
    TP("get.nullnode", get, NULL, &got); \
    TP("get.nullout", get, nodes[own], NULL); \
    TP("set.nullnode", set, NULL, right); \
    TP("set.null", set, nodes[own], NULL);

/* Wrong arguments that all functions that add nodes have. `rest` are the last arguments. */
#define EACH_ADD(add, ...) do { \
    CUgraph g2 = NULL; \
    CUgraphNode n1 = NULL, n2 = NULL, own = NULL, foreign = NULL, twice[2]; \
    R(cuGraphCreate, &g2, 0); \
    single(&foreign); \
    TP("add", add, &n1, g2, NULL, 0, __VA_ARGS__); \
    TP("add.dep", add, &n2, g2, &n1, 1, __VA_ARGS__); \
    TP("add.nullout", add, NULL, g2, NULL, 0, __VA_ARGS__); \
    TP("add.nullgraph", add, &own, NULL, NULL, 0, __VA_ARGS__); \
    TP("add.nulldeps", add, &own, g2, NULL, 1, __VA_ARGS__); \
    TP("add.deps0", add, &own, g2, &n1, 0, __VA_ARGS__); \
    TP("add.nulldep", add, &own, g2, (CUgraphNode[]){NULL}, 1, __VA_ARGS__); \
    TP("add.foreigndep", add, &own, g2, &foreign, 1, __VA_ARGS__); \
    twice[0] = twice[1] = n1; \
    TP("add.twice", add, &own, g2, twice, 2, __VA_ARGS__); \
    V("add.nodes", "%zu", node_count(g2)); \
    R(cuGraphDestroy, g2); \
} while (0)

void group_gkernel(void)
{
    CUgraphNode nodes[CHAIN], x = NULL, other = NULL;
    kit();
    CUgraph g = chain(nodes);
    CUDA_KERNEL_NODE_PARAMS k = right_kernel(), got, bad;
    EACH_ADD(p_cuGraphAddKernelNode, &k);
    EACH_KIND(0, p_cuGraphKernelNodeGetParams, p_cuGraphKernelNodeSetParams, got, &k)
    T("add.null", cuGraphAddKernelNode, &x, g, NULL, 0, NULL);
    T("get", cuGraphKernelNodeGetParams, nodes[0], &got);
    V("get.v", "%d %u %u %u %u %u %u %u params=%d extra=%d kern=%d ctx=%d", got.func == K.fill, got.gridDimX,
        got.gridDimY, got.gridDimZ, got.blockDimX, got.blockDimY, got.blockDimZ, got.sharedMemBytes,
        got.kernelParams != NULL, got.extra != NULL, got.kern != NULL,
        got.ctx == K.context ? 1
        : got.ctx            ? 2
                             : 0);
    /* Dimensions and sizes. */
    static const struct { const char *name; size_t at; unsigned value;
    } wrong[] = {{"grid0", offsetof(CUDA_KERNEL_NODE_PARAMS, gridDimX), 0},
        {"gridy0", offsetof(CUDA_KERNEL_NODE_PARAMS, gridDimY), 0},
        {"gridy65536", offsetof(CUDA_KERNEL_NODE_PARAMS, gridDimY), 65536},
        {"gridz65536", offsetof(CUDA_KERNEL_NODE_PARAMS, gridDimZ), 65536},
        {"gridmax", offsetof(CUDA_KERNEL_NODE_PARAMS, gridDimX), 0x7fffffff},
        {"gridmore", offsetof(CUDA_KERNEL_NODE_PARAMS, gridDimX), 0x80000000},
        {"block0", offsetof(CUDA_KERNEL_NODE_PARAMS, blockDimX), 0},
        {"blockz0", offsetof(CUDA_KERNEL_NODE_PARAMS, blockDimZ), 0},
        {"block1024", offsetof(CUDA_KERNEL_NODE_PARAMS, blockDimX), 1024},
        {"block1025", offsetof(CUDA_KERNEL_NODE_PARAMS, blockDimX), 1025},
        {"blockz65", offsetof(CUDA_KERNEL_NODE_PARAMS, blockDimZ), 65},
        {"shared48k", offsetof(CUDA_KERNEL_NODE_PARAMS, sharedMemBytes), 49152},
        {"shared48k1", offsetof(CUDA_KERNEL_NODE_PARAMS, sharedMemBytes), 49153},
        {"sharedhuge", offsetof(CUDA_KERNEL_NODE_PARAMS, sharedMemBytes), 0xffffffff}};
    for (size_t i = 0; i < COUNT(wrong); i++) {
        bad = k;
        memcpy((char *)&bad + wrong[i].at, &wrong[i].value, 4);
        T(N("add.%s", wrong[i].name), cuGraphAddKernelNode, &x, g, NULL, 0, &bad);
        T(N("set.%s", wrong[i].name), cuGraphKernelNodeSetParams, nodes[0], &bad);
        R(cuGraphKernelNodeSetParams, nodes[0], &k);
    }
    bad = k, bad.kernelParams = NULL;
    T("add.noparams", cuGraphAddKernelNode, &x, g, NULL, 0, &bad);
    T("set.noparams", cuGraphKernelNodeSetParams, nodes[0], &bad);
    bad = k, bad.func = NULL;
    T("set.nullfn", cuGraphKernelNodeSetParams, nodes[0], &bad);
    bad = k, bad.func = K.scale;
    T("set.otherfn", cuGraphKernelNodeSetParams, nodes[0], &bad);
    bad = k, bad.ctx = K.other;
    T("add.otherctx", cuGraphAddKernelNode, &x, g, NULL, 0, &bad);
    bad.ctx = K.context;
    T("add.ownctx", cuGraphAddKernelNode, &x, g, NULL, 0, &bad);
    /* Extra parameters: right, a wrong size, both kinds. */
    struct { CUdeviceptr p; unsigned n, v; } packed = {K.p, 16, 9};
    size_t size = sizeof packed;
    void *extra[] = {
        CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_END};
    bad = k, bad.extra = extra;
    T("add.bothparams", cuGraphAddKernelNode, &x, g, NULL, 0, &bad);
    bad.kernelParams = NULL;
    T("add.extra", cuGraphAddKernelNode, &x, g, NULL, 0, &bad);
    T("get.extra", cuGraphKernelNodeGetParams, x, &got);
    V("get.extra.v", "params=%d extra=%d", got.kernelParams != NULL, got.extra != NULL);
    size = 12;
    T("add.extra.small", cuGraphAddKernelNode, &x, g, NULL, 0, &bad);
    size = 24;
    T("add.extra.large", cuGraphAddKernelNode, &x, g, NULL, 0, &bad);
    /* Attributes. */
    CUkernelNodeAttrValue value;
    for (int a = 0; a <= 20; a++) {
        memset(&value, 0, sizeof value);
        T(N("attr.%d", a), cuGraphKernelNodeGetAttribute, nodes[0], a, &value);
        T(N("attr.%d.set", a), cuGraphKernelNodeSetAttribute, nodes[0], a, &value);
    }
    T("attr.nullnode", cuGraphKernelNodeGetAttribute, NULL, CU_LAUNCH_ATTRIBUTE_PRIORITY, &value);
    T("attr.nullout", cuGraphKernelNodeGetAttribute, nodes[0], CU_LAUNCH_ATTRIBUTE_PRIORITY, NULL);
    T("attr.setnull", cuGraphKernelNodeSetAttribute, nodes[0], CU_LAUNCH_ATTRIBUTE_PRIORITY, NULL);
    T("attr.wrongkind", cuGraphKernelNodeGetAttribute, nodes[2], CU_LAUNCH_ATTRIBUTE_PRIORITY, &value);
    static const int priorities[] = {-100, -6, -5, -1, 0, 1, 100};
    for (size_t i = 0; i < COUNT(priorities); i++) {
        memset(&value, 0, sizeof value);
        value.priority = priorities[i];
        T(N("attr.priority.%d", priorities[i]), cuGraphKernelNodeSetAttribute, nodes[0],
            CU_LAUNCH_ATTRIBUTE_PRIORITY, &value);
        R(cuGraphKernelNodeGetAttribute, nodes[0], CU_LAUNCH_ATTRIBUTE_PRIORITY, &value);
        V(N("attr.priority.%d.v", priorities[i]), "%d", value.priority);
    }
    single(&other);
    T("attr.copy", cuGraphKernelNodeCopyAttributes, other, nodes[0]);
    T("attr.copy.self", cuGraphKernelNodeCopyAttributes, other, other);
    T("attr.copy.kind", cuGraphKernelNodeCopyAttributes, other, nodes[2]);
    T("attr.copy.null", cuGraphKernelNodeCopyAttributes, NULL, other);
}

void group_gcopy(void)
{
    CUgraphNode nodes[CHAIN], x = NULL;
    kit();
    CUgraph g = chain(nodes);
    CUDA_MEMCPY3D c = right_copy(), got, bad;
    EACH_ADD(p_cuGraphAddMemcpyNode, &c, K.context);
    EACH_KIND(1, p_cuGraphMemcpyNodeGetParams, p_cuGraphMemcpyNodeSetParams, got, &c)
    T("add.null", cuGraphAddMemcpyNode, &x, g, NULL, 0, NULL, K.context);
    T("add.nullctx", cuGraphAddMemcpyNode, &x, g, NULL, 0, &c, NULL);
    T("add.otherctx", cuGraphAddMemcpyNode, &x, g, NULL, 0, &c, K.other);
    T("add.deadctx", cuGraphAddMemcpyNode, &x, g, NULL, 0, &c, (CUcontext)0x1234);
    T("get", cuGraphMemcpyNodeGetParams, nodes[1], &got);
    V("get.v", "%d %d %d %d w=%zu h=%zu d=%zu pitch=%zu height=%zu", (int)got.srcMemoryType,
        got.srcDevice == c.srcDevice, (int)got.dstMemoryType, got.dstDevice == c.dstDevice, got.WidthInBytes,
        got.Height, got.Depth, got.srcPitch, got.srcHeight);
#define BAD(name, change) bad = c, change; \
    T("add." name, cuGraphAddMemcpyNode, &x, g, NULL, 0, &bad, K.context); \
    T("set." name, cuGraphMemcpyNodeSetParams, nodes[1], &bad); \
    R(cuGraphMemcpyNodeSetParams, nodes[1], &c);
    BAD("width0", bad.WidthInBytes = 0)
    BAD("height0", bad.Height = 0)
    BAD("depth0", bad.Depth = 0)
    BAD("nullsrc", bad.srcDevice = 0)
    BAD("nulldst", bad.dstDevice = 0)
    BAD("garbage", bad.dstDevice = 16)
    BAD("beyond", bad.WidthInBytes = 2 * KIT_BYTES)
    BAD("kind9", bad.srcMemoryType = 9)
    BAD("kind0", bad.srcMemoryType = 0)
    BAD("unified", bad.srcMemoryType = CU_MEMORYTYPE_UNIFIED)
    BAD("lod", bad.srcLOD = 1)
    BAD("reserved", bad.reserved0 = &bad)
    BAD("pitch", (bad.Height = 4, bad.srcPitch = 32, bad.dstPitch = 128))
    BAD("pitched",
        (bad.Height = 4, bad.srcPitch = 128, bad.dstPitch = 128, bad.srcHeight = 4, bad.dstHeight = 4))
    BAD("host", (bad.dstMemoryType = CU_MEMORYTYPE_HOST, bad.dstHost = K.host))
    BAD("nullhost", (bad.dstMemoryType = CU_MEMORYTYPE_HOST, bad.dstHost = NULL))
    BAD("nullarray", (bad.dstMemoryType = CU_MEMORYTYPE_ARRAY))
    BAD("far", bad.dstDevice = K.far)
    BAD("overlap", bad.dstDevice = bad.srcDevice + 16)
#undef BAD
}

void group_gmemset(void)
{
    CUgraphNode nodes[CHAIN], x = NULL;
    kit();
    CUgraph g = chain(nodes);
    CUDA_MEMSET_NODE_PARAMS c = right_set(), got, bad;
    EACH_ADD(p_cuGraphAddMemsetNode, &c, K.context);
    EACH_KIND(2, p_cuGraphMemsetNodeGetParams, p_cuGraphMemsetNodeSetParams, got, &c)
    T("add.null", cuGraphAddMemsetNode, &x, g, NULL, 0, NULL, K.context);
    T("add.nullctx", cuGraphAddMemsetNode, &x, g, NULL, 0, &c, NULL);
    T("add.otherctx", cuGraphAddMemsetNode, &x, g, NULL, 0, &c, K.other);
    T("get", cuGraphMemsetNodeGetParams, nodes[2], &got);
    V("get.v", "%d pitch=%zu value=%u size=%u w=%zu h=%zu", got.dst == c.dst, got.pitch, got.value,
        got.elementSize, got.width, got.height);
#define BAD(name, change) bad = c, change; \
    T("add." name, cuGraphAddMemsetNode, &x, g, NULL, 0, &bad, K.context); \
    T("set." name, cuGraphMemsetNodeSetParams, nodes[2], &bad); \
    R(cuGraphMemsetNodeSetParams, nodes[2], &c);
    BAD("size0", bad.elementSize = 0)
    BAD("size1", bad.elementSize = 1)
    BAD("size1.value256", (bad.elementSize = 1, bad.value = 256))
    BAD("size2.value65536", (bad.elementSize = 2, bad.value = 65536))
    BAD("size2", bad.elementSize = 2)
    BAD("size3", bad.elementSize = 3)
    BAD("size8", bad.elementSize = 8)
    BAD("width0", bad.width = 0)
    BAD("height0", bad.height = 0)
    BAD("unaligned", bad.dst += 2)
    BAD("nulldst", bad.dst = 0)
    BAD("garbage", bad.dst = 16)
    BAD("beyond", bad.width = KIT_BYTES)
    BAD("wide", bad.width = 1ull << 40)
    BAD("rows", (bad.height = 4, bad.pitch = 128))
    BAD("rows.pitch0", bad.height = 4)
    BAD("rows.pitchsmall", (bad.height = 4, bad.pitch = 32))
    BAD("rows.pitchodd", (bad.height = 4, bad.pitch = 66))
    BAD("pitch.onerow", bad.pitch = 3)
    BAD("far", bad.dst = K.far)
#undef BAD
}

void group_gother(void)
{
    CUgraphNode nodes[CHAIN], x = NULL;
    CUgraph child = NULL, got_graph = NULL;
    CUDA_HOST_NODE_PARAMS got_host, h, bad;
    CUevent got = NULL, plain = NULL, far = NULL, interprocess = NULL;
    kit();
    CUgraph g = chain(nodes);
    h = right_host();
    child = single(NULL);
    /* Host. */
    EACH_ADD(p_cuGraphAddHostNode, &h);
    EACH_KIND(3, p_cuGraphHostNodeGetParams, p_cuGraphHostNodeSetParams, got_host, &h)
    T("host.add.null", cuGraphAddHostNode, &x, g, NULL, 0, NULL);
    bad = h, bad.fn = NULL;
    T("host.add.nullfn", cuGraphAddHostNode, &x, g, NULL, 0, &bad);
    T("host.set.nullfn", cuGraphHostNodeSetParams, nodes[3], &bad);
    T("host.get", cuGraphHostNodeGetParams, nodes[3], &got_host);
    V("host.get.v", "%d %d", got_host.fn == h.fn, got_host.userData == h.userData);
    /* Events. */
    R(cuEventCreate, &plain, 0);
    R(cuEventCreate, &interprocess, CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING);
    R(cuCtxSetCurrent, K.other);
    R(cuEventCreate, &far, CU_EVENT_DISABLE_TIMING);
    R(cuCtxSetCurrent, K.context);
    T("record.add", cuGraphAddEventRecordNode, &x, g, NULL, 0, plain);
    T("record.add.null", cuGraphAddEventRecordNode, &x, g, NULL, 0, NULL);
    T("record.add.far", cuGraphAddEventRecordNode, &x, g, NULL, 0, far);
    T("record.add.ipc", cuGraphAddEventRecordNode, &x, g, NULL, 0, interprocess);
    T("record.add.dead", cuGraphAddEventRecordNode, &x, g, NULL, 0, dead_event());
    T("record.get", cuGraphEventRecordNodeGetEvent, nodes[7], &got);
    V("record.get.v", "%d", got == K.f);
    T("record.get.nullout", cuGraphEventRecordNodeGetEvent, nodes[7], NULL);
    T("record.get.kind", cuGraphEventRecordNodeGetEvent, nodes[6], &got);
    T("record.set", cuGraphEventRecordNodeSetEvent, nodes[7], plain);
    T("record.set.null", cuGraphEventRecordNodeSetEvent, nodes[7], NULL);
    T("record.set.kind", cuGraphEventRecordNodeSetEvent, nodes[6], plain);
    T("wait.add", cuGraphAddEventWaitNode, &x, g, NULL, 0, plain);
    T("wait.add.null", cuGraphAddEventWaitNode, &x, g, NULL, 0, NULL);
    T("wait.add.far", cuGraphAddEventWaitNode, &x, g, NULL, 0, far);
    T("wait.add.ipc", cuGraphAddEventWaitNode, &x, g, NULL, 0, interprocess);
    T("wait.get", cuGraphEventWaitNodeGetEvent, nodes[6], &got);
    V("wait.get.v", "%d", got == K.ended);
    T("wait.get.kind", cuGraphEventWaitNodeGetEvent, nodes[7], &got);
    T("wait.set", cuGraphEventWaitNodeSetEvent, nodes[6], plain);
    T("wait.set.null", cuGraphEventWaitNodeSetEvent, nodes[6], NULL);
    T("wait.set.kind", cuGraphEventWaitNodeSetEvent, nodes[7], plain);
    for (int i = 0; i < CHAIN; i++) {
        CUgraphNodeType type = 99;
        T(N("type.%d", i), cuGraphNodeGetType, nodes[i], &type);
        V(N("type.%d.v", i), "%d", (int)type);
        T(N("child.get.of%d", i), cuGraphChildGraphNodeGetGraph, nodes[i], &got_graph);
    }
    T("type.null", cuGraphNodeGetType, NULL, (CUgraphNodeType *)&got);
    T("type.nullout", cuGraphNodeGetType, nodes[0], NULL);
    T("child.get.null", cuGraphChildGraphNodeGetGraph, nodes[4], NULL);
    T("child.add.null", cuGraphAddChildGraphNode, &x, g, NULL, 0, NULL);
    T("child.add.self", cuGraphAddChildGraphNode, &x, g, NULL, 0, g);
    T("child.add", cuGraphAddChildGraphNode, &x, g, NULL, 0, child);
    T("empty.nullout", cuGraphAddEmptyNode, NULL, g, NULL, 0);
    T("empty.nullgraph", cuGraphAddEmptyNode, &x, NULL, NULL, 0);
    /* External semaphores, without any. */
    long long zero[16] = {0};
    T("signal.null", cuGraphAddExternalSemaphoresSignalNode, &x, g, NULL, 0, NULL);
    T("signal.none", cuGraphAddExternalSemaphoresSignalNode, &x, g, NULL, 0, zero);
    T("signal.get.kind", cuGraphExternalSemaphoresSignalNodeGetParams, nodes[0], zero);
    T("signal.set.kind", cuGraphExternalSemaphoresSignalNodeSetParams, nodes[0], zero);
    memset(zero, 0, sizeof zero);
    T("semwait.null", cuGraphAddExternalSemaphoresWaitNode, &x, g, NULL, 0, NULL);
    T("semwait.none", cuGraphAddExternalSemaphoresWaitNode, &x, g, NULL, 0, zero);
    T("semwait.get.kind", cuGraphExternalSemaphoresWaitNodeGetParams, nodes[0], zero);
    T("semwait.set.kind", cuGraphExternalSemaphoresWaitNodeSetParams, nodes[0], zero);
}

void group_gbatch(void)
{
    CUgraphNode nodes[CHAIN], x = NULL;
    CUstreamBatchMemOpParams ops[2];
    kit();
    CUgraph g = chain(nodes);
    memset(ops, 0, sizeof ops);
    for (int i = 0; i < 2; i++) {
        ops[i].operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
        ops[i].writeValue.address = K.p + 8192;
        ops[i].writeValue.value = 1;
    }
    struct batch_params b = {K.context, 2, ops, 0}, bad, got;
    EACH_ADD(p_cuGraphAddBatchMemOpNode, &b);
    EACH_KIND(8, p_cuGraphBatchMemOpNodeGetParams, p_cuGraphBatchMemOpNodeSetParams, got, &b)
    T("get", cuGraphBatchMemOpNodeGetParams, nodes[8], &got);
    V("get.v", "%u ctx=%d flags=%u ops=%d", got.count, got.ctx == K.context, got.flags, got.ops != NULL);
    T("add.null", cuGraphAddBatchMemOpNode, &x, g, NULL, 0, NULL);
#define BAD(name, change) bad = b, change; \
    T("add." name, cuGraphAddBatchMemOpNode, &x, g, NULL, 0, &bad); \
    T("set." name, cuGraphBatchMemOpNodeSetParams, nodes[8], &bad);
    BAD("nullctx", bad.ctx = NULL)
    BAD("otherctx", bad.ctx = K.other)
    BAD("flags", bad.flags = 1)
    BAD("count0", bad.count = 0)
    BAD("count257", bad.count = 257)
    BAD("nullops", bad.ops = NULL)
    ops[0].operation = 99;
    BAD("operation99", (void)0)
    ops[0].operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
    ops[0].writeValue.address = 0;
    BAD("address0", (void)0)
    ops[0].writeValue.address = K.p + 1;
    BAD("unaligned", (void)0)
#undef BAD
}

/* cuGraphAddNode, cuGraphNodeSetParams: every type, reserved members, ownership, edges. */
void group_gnode(void)
{
    CUgraphNode nodes[CHAIN], x = NULL;
    CUstreamBatchMemOpParams op;
    struct node_params n;
    kit();
    CUgraph g = chain(nodes), child = single(NULL);
    memset(&op, 0, sizeof op);
    op.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
    op.writeValue.address = K.p;
    for (int type = -1; type <= 15; type++)
        for (int wrong = 0; wrong < 4; wrong++) {
            memset(&n, 0, sizeof n);
            n.type = type;
            switch (type) {
            case 0: n.kernel = right_kernel(); break;
            case 1: n.copy.copy = right_copy(), n.copy.ctx = K.context; break;
            case 2: n.set.set = right_set(), n.set.ctx = K.context; break;
            case 3: n.host = right_host(); break;
            case 4: n.child.graph = child; break;
            case 6: case 7: n.event = K.e; break;
            case 10: n.alloc = right_alloc(); break;
            case 12: n.batch = (struct batch_params){K.context, 1, &op, 0}; break;
            }
            n.reserved0[1] = wrong == 1;
            n.reserved1[28] |= wrong == 2;
            n.reserved2 = wrong == 3;
            T(N("add.%d.%d", type, wrong), cuGraphAddNode, &x, g, NULL, NULL, 0, &n);
            n.type = type;
            if (!wrong)
                for (int i = 0; i < CHAIN; i++)
                    T(N("set.%d.of%d", type, i), cuGraphNodeSetParams, nodes[i], &n);
        }
    memset(&n, 0, sizeof n);
    n.type = 5;
    T("null", cuGraphAddNode, &x, g, NULL, NULL, 0, NULL);
    T("nullgraph", cuGraphAddNode, &x, NULL, NULL, NULL, 0, &n);
    T("nullout", cuGraphAddNode, NULL, g, NULL, NULL, 0, &n);
    T("nulldeps", cuGraphAddNode, &x, g, NULL, NULL, 1, &n);
    T("set.null", cuGraphNodeSetParams, nodes[5], NULL);
    T("set.nullnode", cuGraphNodeSetParams, NULL, &n);
    /* Edges: every port and type, from a kernel to a kernel, and from an empty node. */
    for (int from = 0; from < 2; from++)
        for (int type = 0; type < 3; type++)
            for (int port = 0; port < 4; port++)
                for (int to = 0; to < 2; to++) {
                    CUgraphEdgeData e = {.from_port = (unsigned char)port,
                        .to_port = (unsigned char)to,
                        .type = (unsigned char)type};
                    memset(&n, 0, sizeof n);
                    n.kernel = right_kernel();
                    T(N("edge.%d.%d.%d.%d", from, type, port, to), cuGraphAddNode, &x, g,
                        from ? &nodes[5] : &nodes[0], &e, 1, &n);
                }
    CUgraphEdgeData e = {.reserved = {1}};
    T("edge.reserved", cuGraphAddNode, &x, g, &nodes[0], &e, 1, &n);
}

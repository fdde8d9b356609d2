/* Memory nodes, and conditional nodes. */
#include "graph_kit.h"

static unsigned long long used(void)
{
    cuuint64_t bytes = 99;
    R(cuDeviceGetGraphMemAttribute, 0, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, &bytes);
    return bytes;
}

void group_gmemory(void)
{
    CUgraph g = NULL, clone = NULL, other = NULL;
    CUgraphNode node = NULL, freed = NULL, x = NULL;
    CUgraphExec exec = NULL, exec2 = NULL;
    CUdeviceptr p = 0, got = 0;
    struct alloc_params a, bad, back;
    kit();
    R(cuGraphCreate, &g, 0);
    R(cuGraphCreate, &other, 0);
    a = right_alloc();
    T("alloc.null", cuGraphAddMemAllocNode, &x, other, NULL, 0, NULL);
    T("alloc.nullout", cuGraphAddMemAllocNode, NULL, other, NULL, 0, &a);
    T("alloc.nullgraph", cuGraphAddMemAllocNode, &x, NULL, NULL, 0, &a);
    CUmemAccessDesc access = {.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0},
        .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
#define BAD(name, change)                                                                                    \
    bad = a, change;                                                                                         \
    T("alloc." name, cuGraphAddMemAllocNode, &x, other, NULL, 0, &bad);                                      \
    V("alloc." name ".p", "%d", bad.p != 0);
    BAD("size0", bad.bytes = 0)
    BAD("huge", bad.bytes = 1ull << 50)
    BAD("type0", bad.pool.allocType = 0)
    BAD("type9", bad.pool.allocType = 9)
    BAD("device9", bad.pool.location.id = 9)
    BAD("location0", bad.pool.location.type = 0)
    BAD("host", bad.pool.location.type = 2)
    BAD("handles", bad.pool.handleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
    BAD("maxsize", bad.pool.maxSize = 4096)
    BAD("reserved", bad.pool.reserved[3] = 1)
    BAD("access", (bad.access = &access, bad.accesses = 1))
    BAD("access.null", bad.accesses = 1)
    BAD("access.many", (bad.access = &access, bad.accesses = 2))
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READ;
    BAD("access.read", (bad.access = &access, bad.accesses = 1))
    access.flags = 0;
    BAD("access.none", (bad.access = &access, bad.accesses = 1))
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    access.location.id = 9;
    BAD("access.device9", (bad.access = &access, bad.accesses = 1))
#undef BAD
    T("alloc", cuGraphAddMemAllocNode, &node, g, NULL, 0, &a);
    p = a.p;
    V("alloc.p", "%d aligned=%d", p != 0, p % 256 == 0);
    T("get", cuGraphMemAllocNodeGetParams, node, &back);
    V("get.v", "%d %zu %d", back.p == p, back.bytes, (int)back.pool.allocType);
    T("get.nullout", cuGraphMemAllocNodeGetParams, node, NULL);
    T("get.null", cuGraphMemAllocNodeGetParams, NULL, &back);
    T("pointer.before", cuPointerGetAttribute, &got, CU_POINTER_ATTRIBUTE_DEVICE_POINTER, p);
    T("use.before", cuMemsetD8, p, 0, 16);
    T("free.zero", cuGraphAddMemFreeNode, &x, g, NULL, 0, 0);
    T("free.plain", cuGraphAddMemFreeNode, &x, g, NULL, 0, K.p);
    T("free.inside", cuGraphAddMemFreeNode, &x, g, &node, 1, p + 16);
    R(cuGraphCreate, &clone, 0);
    bad = right_alloc();
    R(cuGraphAddMemAllocNode, &x, clone, NULL, 0, &bad);
    T("free.nodep", cuGraphAddMemFreeNode, &freed, clone, NULL, 0, bad.p);
    V("free.nodep.nodes", "%zu", node_count(clone));
    T("free.nodep.instantiate", cuGraphInstantiate, &exec, clone, 0);
    T("free", cuGraphAddMemFreeNode, &freed, g, &node, 1, p);
    T("free.again", cuGraphAddMemFreeNode, &x, g, &node, 1, p);
    T("free.othergraph", cuGraphAddMemFreeNode, &x, other, NULL, 0, p);
    T("free.get", cuGraphMemFreeNodeGetParams, freed, &got);
    V("free.get.v", "%d", got == p);
    T("free.get.kind", cuGraphMemFreeNodeGetParams, node, &got);
    T("free.get.nullout", cuGraphMemFreeNodeGetParams, freed, NULL);
    T("get.kind", cuGraphMemAllocNodeGetParams, freed, &back);
    T("clone", cuGraphClone, &clone, g);
    T("destroynode", cuGraphDestroyNode, node);
    T("destroynode.free", cuGraphDestroyNode, freed);
    T("adddep", cuGraphAddDependencies, g, &node, &freed, NULL, 1);
    T("removedep", cuGraphRemoveDependencies, g, &node, &freed, NULL, 1);
    T("child", cuGraphAddChildGraphNode, &x, other, NULL, 0, g);
    /* Again, without attempts that failed. */
    R(cuGraphCreate, &g, 0);
    a = right_alloc();
    R(cuGraphAddMemAllocNode, &node, g, NULL, 0, &a);
    T("instantiate", cuGraphInstantiate, &exec, g, 0);
    T("instantiate.second", cuGraphInstantiate, &exec2, g, 0);
    T("launch", cuGraphLaunch, exec, K.s);
    R(cuCtxSynchronize);
    V("launch.used", "%d", used() > 0);
    T("use", cuMemsetD8, a.p, 7, 16);
    T("relaunch", cuGraphLaunch, exec, K.s);
    T("upload", cuGraphUpload, exec, K.s);
    T("update", cuGraphExecUpdate, exec, g, (CUgraphExecUpdateResultInfo[]){{0}});
    T("memfree", cuMemFreeAsync, a.p, K.s);
    T("memfree.again", cuMemFreeAsync, a.p, K.s);
    T("relaunch.freed", cuGraphLaunch, exec, K.s);
    T("memfree.sync", cuMemFree, a.p);
    T("relaunch.freed2", cuGraphLaunch, exec, K.s);
    T("execdestroy.live", cuGraphExecDestroy, exec);
    T("use.afterdestroy", cuMemsetD8, a.p, 7, 16);
    T("instantiate.afterdestroy", cuGraphInstantiate, &exec, g, 0);
    T("memfree.afterdestroy", cuMemFreeAsync, a.p, K.s);
    /* The memory is freed in another graph. */
    R(cuGraphCreate, &g, 0);
    a = right_alloc();
    R(cuGraphAddMemAllocNode, &node, g, NULL, 0, &a);
    exec = executable(g);
    CUgraph freer = NULL;
    R(cuGraphCreate, &freer, 0);
    T("freer", cuGraphAddMemFreeNode, &x, freer, NULL, 0, a.p);
    CUgraphExec free_exec = NULL;
    T("freer.instantiate", cuGraphInstantiate, &free_exec, freer, 0);
    T("freer.early", cuGraphLaunch, free_exec, K.s);
    T("freer.alloc", cuGraphLaunch, exec, K.s);
    T("freer.launch", cuGraphLaunch, free_exec, K.s);
    T("freer.twice", cuGraphLaunch, free_exec, K.s);
    T("freer.realloc", cuGraphLaunch, exec, K.s);
    T("sync", cuCtxSynchronize);
    T("trim", cuDeviceGraphMemTrim, 0);
    T("trim.device9", cuDeviceGraphMemTrim, 9);
    cuuint64_t v = 0;
    for (int i = -1; i <= 4; i++) {
        T(N("attribute.%d", i), cuDeviceGetGraphMemAttribute, 0, (CUgraphMem_attribute)i, &v);
        for (v = 0; v < 2; v++)
            T(N("attribute.%d.set.%d", i, (int)v), cuDeviceSetGraphMemAttribute, 0, (CUgraphMem_attribute)i,
                &v);
    }
    T("attribute.null", cuDeviceGetGraphMemAttribute, 0, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, NULL);
}

void group_gautofree(void)
{
    kit();
    for (int flags = 0; flags < 2; flags++)
        for (int frees = 0; frees < 2; frees++) {
            CUgraph g = NULL;
            CUgraphNode node = NULL, freed = NULL;
            CUgraphExec exec = NULL;
            struct alloc_params a = right_alloc();
            const char *w = N("%d.%d", flags, frees);
            char name[16];
            snprintf(name, sizeof name, "%s", w);
            R(cuGraphCreate, &g, 0);
            R(cuGraphAddMemAllocNode, &node, g, NULL, 0, &a);
            if (frees)
                R(cuGraphAddMemFreeNode, &freed, g, &node, 1, a.p);
            T(N("%s.instantiate", name), cuGraphInstantiate, &exec, g, (unsigned)flags);
            for (int i = 0; i < 3; i++)
                T(N("%s.launch.%d", name, i), cuGraphLaunch, exec, K.s);
            T(N("%s.sync", name), cuCtxSynchronize);
            T(N("%s.use", name), cuMemsetD8, a.p, 1, 16);
            T(N("%s.free", name), cuMemFreeAsync, a.p, K.s);
            T(N("%s.after", name), cuGraphLaunch, exec, K.s);
            R(cuCtxSynchronize);
            T(N("%s.destroy", name), cuGraphExecDestroy, exec);
            V(N("%s.used", name), "%d", used() > 0);
            T(N("%s.use.destroyed", name), cuMemsetD8, a.p, 1, 16);
        }
}

/* Allocations and frees that are captured. */
void group_gmemcapture(void)
{
    CUdeviceptr p = 0, q = 0, outside = 0;
    CUgraph g = NULL;
    CUgraphExec exec = NULL;
    kit();
    R(cuMemAllocAsync, &outside, 64, K.s);
    R(cuStreamBeginCapture, K.s, CU_STREAM_CAPTURE_MODE_RELAXED);
    T("alloc", cuMemAllocAsync, &p, 64, K.s);
    T("use", cuMemsetD8Async, p, 1, 64, K.s);
    T("free", cuMemFreeAsync, p, K.s);
    T("free.again", cuMemFreeAsync, p, K.s);
    T("end", cuStreamEndCapture, K.s, &g);
    R(cuStreamBeginCapture, K.s, CU_STREAM_CAPTURE_MODE_RELAXED);
    T("free.outside", cuMemFreeAsync, outside, K.s);
    T("free.outside.end", cuStreamEndCapture, K.s, &g);
    R(cuStreamBeginCapture, K.s, CU_STREAM_CAPTURE_MODE_RELAXED);
    T("kept", cuMemAllocAsync, &q, 64, K.s);
    T("kept.free.uncaptured", cuMemFreeAsync, q, K.t);
    T("kept.end", cuStreamEndCapture, K.s, &g);
    T("kept.instantiate", cuGraphInstantiate, &exec, g, 0);
    T("kept.launch", cuGraphLaunch, exec, K.s);
    T("kept.use", cuMemsetD8Async, q, 1, 64, K.s);
    T("kept.free", cuMemFreeAsync, q, K.s);
    T("sync", cuCtxSynchronize);
}

static CUresult conditional(
    CUgraph g, uint64_t handle, int type, unsigned size, CUcontext ctx, CUgraph **bodies, CUgraphNode *node) {
    struct node_params n;
    memset(&n, 0, sizeof n);
    n.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
    n.cond = (struct cond_params){handle, type, size, NULL, ctx};
    CUresult status = R(cuGraphAddNode, node, g, NULL, NULL, 0, &n);
    *bodies = n.cond.bodies;
    return status;
}
#define COND(name, ...) if (begin(name)) report(conditional(__VA_ARGS__))

void group_gcond(void)
{
    CUgraph g = NULL, other = NULL, *bodies = NULL;
    CUgraphNode node = NULL;
    CUgraphExec exec = NULL;
    uint64_t h = 0, unused = 0;
    kit();
    R(cuGraphCreate, &g, 0);
    R(cuGraphCreate, &other, 0);
    for (unsigned flags = 0; flags < 4; flags++)
        for (unsigned value = 0; value < 3; value++)
            T(N("handle.flags%u.%u", flags, value), cuGraphConditionalHandleCreate, &h, g, K.context, value,
                flags);
    T("handle.nullout", cuGraphConditionalHandleCreate, NULL, g, K.context, 0, 0);
    T("handle.nullgraph", cuGraphConditionalHandleCreate, &h, NULL, K.context, 0, 0);
    T("handle.nullctx", cuGraphConditionalHandleCreate, &h, g, NULL, 0, 0);
    T("handle.otherctx", cuGraphConditionalHandleCreate, &h, g, K.other, 0, 0);
    for (int type = -1; type <= 3; type++)
        for (unsigned size = 0; size <= 5; size++) {
            CUgraph own = NULL;
            R(cuGraphCreate, &own, 0);
            R(cuGraphConditionalHandleCreate, &h, own, K.context, 0, 1);
            COND(N("type.%d.%u", type, size), own, h, type, size, K.context, &bodies, &node);
            V(N("type.%d.%u.v", type, size), "%d %d", bodies != NULL, bodies && bodies[0] != NULL);
        }
    R(cuGraphConditionalHandleCreate, &h, g, K.context, 0, 1);
    COND("othergraph", other, h, 0, 1, K.context, &bodies, &node);
    COND("nohandle", g, 0, 0, 1, K.context, &bodies, &node);
    COND("badhandle", g, 0x123456789, 0, 1, K.context, &bodies, &node);
    COND("otherctx", g, h, 0, 1, K.other, &bodies, &node);
    COND("nullctx", g, h, 0, 1, NULL, &bodies, &node);
    COND("right", g, h, 0, 1, K.context, &bodies, &node);
    COND("usedtwice", g, h, 0, 1, K.context, &bodies, &node);
    CUDA_GRAPH_INSTANTIATE_PARAMS p = {0};
    T("instantiate.unused", cuGraphInstantiateWithParams, &exec, g, &p);
    V("instantiate.unused.v", "%d", (int)p.result_out);
    R(cuGraphCreate, &g, 0);
    R(cuGraphConditionalHandleCreate, &unused, g, K.context, 0, 1);
    p = (CUDA_GRAPH_INSTANTIATE_PARAMS){0};
    T("onlyhandle", cuGraphInstantiateWithParams, &exec, g, &p);
    V("onlyhandle.v", "%d", (int)p.result_out);
    COND("onlyhandle.used", g, unused, 0, 1, K.context, &bodies, &node);
    T("instantiate", cuGraphInstantiateWithParams, &exec, g, &p);
    CUgraph clone = NULL;
    T("clone", cuGraphClone, &clone, g);
    T("clone.instantiate", cuGraphInstantiate, &exec, clone, 0);
    R(cuGraphCreate, &other, 0);
    CUgraphNode x = NULL;
    T("aschild", cuGraphAddChildGraphNode, &x, other, NULL, 0, g);
    T("enabled", cuGraphNodeSetEnabled, exec, node, 0);
    T("update", cuGraphExecUpdate, exec, g, (CUgraphExecUpdateResultInfo[]){{0}});
    struct node_params n;
    memset(&n, 0, sizeof n);
    n.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
    n.cond = (struct cond_params){unused, 0, 1, NULL, K.context};
    T("set", cuGraphNodeSetParams, node, &n);
    T("set.exec", cuGraphExecNodeSetParams, exec, node, &n);
    T("body.destroy", cuGraphDestroy, bodies ? bodies[0] : NULL);
    T("body.instantiate", cuGraphInstantiate, &exec, bodies ? bodies[0] : NULL, 0);
    T("device", cuGraphInstantiate, &exec, g, 4);
    T("destroynode", cuGraphDestroyNode, node);
    T("external", cuModuleLoadData, (CUmodule *)&x,
        ".version 8.0\n.target sm_52\n.address_size 64\n.extern .func cudaGraphSetConditional(.param .b64 h, "
        ".param .b32 v);\n"
        ".visible .entry set(.param .u64 h) { .reg .b64 %rd; ld.param.u64 %rd, [h]; .param .b64 a; .param "
        ".b32 b;\n"
        "st.param.b64 [a], %rd; st.param.b32 [b], 0; call.uni cudaGraphSetConditional, (a, b); ret; }\n");
}

/* Nodes of every kind in the body of each type of conditional. */
void group_gcondbody(void)
{
    kit();
    for (int type = 0; type < 3; type++)
        for (int kind = 0; kind <= 13; kind++) {
            CUgraph g = NULL, *bodies = NULL, child = single(NULL);
            CUgraphNode node = NULL, x = NULL;
            CUgraphExec exec = NULL;
            CUstreamBatchMemOpParams op;
            uint64_t h = 0, h2 = 0;
            struct node_params n;
            R(cuGraphCreate, &g, 0);
            R(cuGraphConditionalHandleCreate, &h, g, K.context, 0, 1);
            if (conditional(g, h, type, 1, K.context, &bodies, &node) || !bodies)
                continue;
            memset(&op, 0, sizeof op);
            op.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
            op.writeValue.address = K.p;
            memset(&n, 0, sizeof n);
            n.type = kind;
            switch (kind) {
            case 0: n.kernel = right_kernel(); break;
            case 1: n.copy.copy = right_copy(), n.copy.ctx = K.context; break;
            case 2: n.set.set = right_set(), n.set.ctx = K.context; break;
            case 3: n.host = right_host(); break;
            case 4: n.child.graph = child; break;
            case 6: case 7: n.event = K.e; break;
            case 8: case 9: continue;
            case 10: n.alloc = right_alloc(); break;
            case 11: n.free = K.p; break;
            case 12: n.batch = (struct batch_params){K.context, 1, &op, 0}; break;
            case 13:
                R(cuGraphConditionalHandleCreate, &h2, g, K.context, 0, 1);
                n.cond = (struct cond_params){h2, 0, 1, NULL, K.context};
                break;
            }
            T(N("%d.%d", type, kind), cuGraphAddNode, &x, bodies[0], NULL, NULL, 0, &n);
            CUDA_GRAPH_INSTANTIATE_PARAMS p = {0};
            T(N("%d.%d.instantiate", type, kind), cuGraphInstantiateWithParams, &exec, g, &p);
            V(N("%d.%d.v", type, kind), "%d node=%d", (int)p.result_out,
                p.hErrNode_out == x      ? 1
                : p.hErrNode_out == node ? 2
                                         : p.hErrNode_out != NULL);
        }
}

/* Which bodies run, by the default value; a captured body. */
void group_gcondrun(void)
{
    kit();
    for (int type = 0; type < 3; type += 2)
        for (unsigned size = 1; size <= 3; size++)
            for (unsigned value = 0; value < 4; value++) {
                CUgraph g = NULL, *bodies = NULL;
                CUgraphNode node = NULL, x = NULL;
                CUgraphExec exec = NULL;
                uint64_t h = 0;
                R(cuGraphCreate, &g, 0);
                R(cuGraphConditionalHandleCreate, &h, g, K.context, value, 1);
                if (conditional(g, h, type, size, K.context, &bodies, &node) || !bodies)
                    continue;
                CUDA_MEMSET_NODE_PARAMS set = right_set();
                for (unsigned b = 0; b < size; b++) {
                    set.value = b + 1;
                    R(cuGraphAddMemsetNode, &x, bodies[b], NULL, 0, &set, K.context);
                }
                R(cuMemsetD8, K.p, 0, 4096);
                T(N("%d.%u.%u.instantiate", type, size, value), cuGraphInstantiate, &exec, g, 0);
                T(N("%d.%u.%u.launch", type, size, value), cuGraphLaunch, exec, K.s);
                T(N("%d.%u.%u.sync", type, size, value), cuCtxSynchronize);
                V(N("%d.%u.%u.v", type, size, value), "%u", word(K.p + 2048));
            }
    CUgraph g = NULL, *bodies = NULL, out = NULL;
    CUgraphNode node = NULL;
    uint64_t h = 0;
    R(cuGraphCreate, &g, 0);
    R(cuGraphConditionalHandleCreate, &h, g, K.context, 1, 1);
    COND("capture", g, h, 0, 1, K.context, &bodies, &node);
    T("capture.begin", cuStreamBeginCaptureToGraph, K.s, bodies ? bodies[0] : NULL, NULL, NULL, 0,
        CU_STREAM_CAPTURE_MODE_RELAXED);
    T("capture.memset", cuMemsetD8Async, K.p, 5, 16, K.s);
    T("capture.end", cuStreamEndCapture, K.s, &out);
    V("capture.nodes", "%zu", node_count(out));
}

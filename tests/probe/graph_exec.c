/* Executable graphs: instantiation, launches, parameters, disabled nodes, updates. */
#include "graph_kit.h"

void group_ginstantiate(void)
{
    CUgraphNode nodes[CHAIN], x = NULL;
    CUgraph empty = NULL, two = NULL;
    cuuint64_t got;
    kit();
    CUgraph g = chain(nodes), one = single(NULL);
    R(cuGraphCreate, &empty, 0);
    for (unsigned flags = 0; flags <= 32; flags++) {
        CUgraphExec exec = NULL;
        T(N("flags.%u", flags), cuGraphInstantiate, &exec, one, flags);
        got = 99;
        if (exec) {
            T(N("flags.%u.get", flags), cuGraphExecGetFlags, exec, &got);
            V(N("flags.%u.v", flags), "%llu", (unsigned long long)got);
        }
        CUDA_GRAPH_INSTANTIATE_PARAMS p = {
            .flags = flags, .hUploadStream = K.s, .hErrNode_out = (CUgraphNode)8, .result_out = 77};
        exec = NULL;
        T(N("params.%u", flags), cuGraphInstantiateWithParams, &exec, one, &p);
        V(N("params.%u.v", flags), "%d %d exec=%d", (int)p.result_out, index_of(p.hErrNode_out, nodes, CHAIN),
            exec != NULL);
    }
    CUgraphExec exec = NULL;
    CUDA_GRAPH_INSTANTIATE_PARAMS p = {0};
    T("null", cuGraphInstantiate, NULL, one, 0);
    T("nullgraph", cuGraphInstantiate, &exec, NULL, 0);
    T("params.null", cuGraphInstantiateWithParams, &exec, one, NULL);
    T("params.nullout", cuGraphInstantiateWithParams, NULL, one, &p);
    T("params.nullgraph", cuGraphInstantiateWithParams, &exec, NULL, &p);
    p = (CUDA_GRAPH_INSTANTIATE_PARAMS){.flags = 2, .hUploadStream = NULL};
    T("params.upload.legacy", cuGraphInstantiateWithParams, &exec, one, &p);
    p = (CUDA_GRAPH_INSTANTIATE_PARAMS){.flags = 2, .hUploadStream = K.farstream};
    T("params.upload.far", cuGraphInstantiateWithParams, &exec, one, &p);
    T("empty", cuGraphInstantiate, &exec, empty, 0);
    T("empty.launch", cuGraphLaunch, exec, K.s);
    p = (CUDA_GRAPH_INSTANTIATE_PARAMS){.flags = 4};
    T("device.empty", cuGraphInstantiateWithParams, &exec, empty, &p);
    V("device.empty.v", "%d", (int)p.result_out);
    p = (CUDA_GRAPH_INSTANTIATE_PARAMS){.flags = 4};
    T("device.host", cuGraphInstantiateWithParams, &exec, g, &p);
    V("device.host.v", "%d node=%d", (int)p.result_out, index_of(p.hErrNode_out, nodes, CHAIN));
    /* A cycle, and nodes of two contexts. */
    CUgraphNode k[3];
    CUDA_KERNEL_NODE_PARAMS kernel = right_kernel();
    R(cuGraphCreate, &two, 0);
    for (int i = 0; i < 3; i++)
        R(cuGraphAddKernelNode, &k[i], two, i ? &k[i - 1] : NULL, i > 0, &kernel);
    R(cuGraphAddDependencies, two, &k[2], &k[1], NULL, 1);
    p = (CUDA_GRAPH_INSTANTIATE_PARAMS){0};
    T("cycle", cuGraphInstantiateWithParams, &exec, two, &p);
    V("cycle.v", "%d node=%d", (int)p.result_out, index_of(p.hErrNode_out, k, 3));
    CUDA_MEMSET_NODE_PARAMS set = right_set();
    set.dst = K.far;
    two = single(NULL);
    R(cuGraphAddMemsetNode, &x, two, NULL, 0, &set, K.other);
    for (unsigned flags = 0; flags <= 4; flags += 4) {
        p = (CUDA_GRAPH_INSTANTIATE_PARAMS){.flags = flags};
        T(N("contexts.%u", flags), cuGraphInstantiateWithParams, &exec, two, &p);
        V(N("contexts.%u.v", flags), "%d node=%d", (int)p.result_out, index_of(p.hErrNode_out, &x, 1));
    }
    T("getflags.null", cuGraphExecGetFlags, NULL, &got);
    T("getflags.nullout", cuGraphExecGetFlags, exec, NULL);
}

void group_glaunch(void)
{
    CUgraphNode nodes[CHAIN];
    kit();
    CUgraph g = chain(nodes);
    CUgraphExec exec = executable(g);
    T("launch", cuGraphLaunch, exec, K.s);
    T("launch.again", cuGraphLaunch, exec, K.s);
    T("launch.other", cuGraphLaunch, exec, K.t);
    T("launch.legacy", cuGraphLaunch, exec, NULL);
    T("launch.perthread", cuGraphLaunch, exec, CU_STREAM_PER_THREAD);
    T("launch.far", cuGraphLaunch, exec, K.farstream);
    T("launch.null", cuGraphLaunch, NULL, K.s);
    T("upload", cuGraphUpload, exec, K.s);
    T("upload.null", cuGraphUpload, NULL, K.s);
    T("upload.legacy", cuGraphUpload, exec, NULL);
    T("upload.far", cuGraphUpload, exec, K.farstream);
    T("sync", cuCtxSynchronize);
    V("v", "calls=%d %u %u %u %u", host_calls, word(K.p), word(K.p + 1024), word(K.p + 2048),
        word(K.p + 4096));
    /* The graph may change or be destroyed; the executable form does not. */
    T("destroynode", cuGraphDestroyNode, nodes[3]);
    T("graph.destroy", cuGraphDestroy, g);
    host_calls = 0;
    T("after", cuGraphLaunch, exec, K.s);
    T("exec.destroy.running", cuGraphExecDestroy, exec);
    T("after.sync", cuCtxSynchronize);
    V("after.v", "%d", host_calls);
    T("dead.stream", cuGraphLaunch, executable(single(NULL)), dead_stream_of_kit());
    R(cuCtxSetCurrent, NULL);
    T("nocurrent", cuGraphLaunch, exec = NULL, K.s);
    R(cuCtxSetCurrent, K.context);
}

/* Every exec setter with every node, and wrong parameters. */
void group_gexecset(void)
{
    CUgraphNode nodes[CHAIN], foreign = NULL, added = NULL;
    CUstreamBatchMemOpParams op;
    struct node_params n;
    kit();
    CUgraph g = chain(nodes), child = single(&foreign), bigger = NULL;
    CUgraphExec exec = executable(g);
    CUDA_KERNEL_NODE_PARAMS k = right_kernel(), bk;
    CUDA_MEMCPY3D c = right_copy(), bc;
    CUDA_MEMSET_NODE_PARAMS m = right_set(), bm;
    CUDA_HOST_NODE_PARAMS h = right_host();
    memset(&op, 0, sizeof op);
    op.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
    op.writeValue.address = K.p + 4096;
    struct batch_params b = {K.context, 1, &op, 0};
    for (int i = -2; i < CHAIN; i++) {
        CUgraphNode of = i == -2 ? NULL : i == -1 ? foreign : nodes[i];
        T(N("kernel.of%d", i), cuGraphExecKernelNodeSetParams, exec, of, &k);
        T(N("copy.of%d", i), cuGraphExecMemcpyNodeSetParams, exec, of, &c, K.context);
        T(N("memset.of%d", i), cuGraphExecMemsetNodeSetParams, exec, of, &m, K.context);
        T(N("host.of%d", i), cuGraphExecHostNodeSetParams, exec, of, &h);
        T(N("child.of%d", i), cuGraphExecChildGraphNodeSetParams, exec, of, child);
        T(N("wait.of%d", i), cuGraphExecEventWaitNodeSetEvent, exec, of, K.ended);
        T(N("record.of%d", i), cuGraphExecEventRecordNodeSetEvent, exec, of, K.e);
        T(N("batch.of%d", i), cuGraphExecBatchMemOpNodeSetParams, exec, of, &b);
        for (int type = 0; type <= 13; type++) {
            memset(&n, 0, sizeof n);
            n.type = type;
            switch (type) {
            case 0: n.kernel = k; break;
            case 1: n.copy.copy = c, n.copy.ctx = K.context; break;
            case 2: n.set.set = m, n.set.ctx = K.context; break;
            case 3: n.host = h; break;
            case 4: n.child.graph = child; break;
            case 6: case 7: n.event = K.e; break;
            case 12: n.batch = b; break;
            }
            T(N("any.%d.of%d", type, i), cuGraphExecNodeSetParams, exec, of, &n);
        }
    }
    T("kernel.null", cuGraphExecKernelNodeSetParams, exec, nodes[0], NULL);
    T("kernel.nullexec", cuGraphExecKernelNodeSetParams, NULL, nodes[0], &k);
    T("copy.null", cuGraphExecMemcpyNodeSetParams, exec, nodes[1], NULL, K.context);
    T("memset.null", cuGraphExecMemsetNodeSetParams, exec, nodes[2], NULL, K.context);
    T("host.null", cuGraphExecHostNodeSetParams, exec, nodes[3], NULL);
    T("child.null", cuGraphExecChildGraphNodeSetParams, exec, nodes[4], NULL);
    T("wait.null", cuGraphExecEventWaitNodeSetEvent, exec, nodes[6], NULL);
    T("record.null", cuGraphExecEventRecordNodeSetEvent, exec, nodes[7], NULL);
    T("batch.null", cuGraphExecBatchMemOpNodeSetParams, exec, nodes[8], NULL);
    T("any.null", cuGraphExecNodeSetParams, exec, nodes[0], NULL);
#define KERNEL(name, change)                                                                                 \
    bk = k, change;                                                                                          \
    T("kernel." name, cuGraphExecKernelNodeSetParams, exec, nodes[0], &bk);
#define COPY(name, change)                                                                                   \
    bc = c, change;                                                                                          \
    T("copy." name, cuGraphExecMemcpyNodeSetParams, exec, nodes[1], &bc, K.context);
#define SET(name, change)                                                                                    \
    bm = m, change;                                                                                          \
    T("memset." name, cuGraphExecMemsetNodeSetParams, exec, nodes[2], &bm, K.context);
    KERNEL("otherfn", bk.func = K.scale)
    KERNEL("back", (void)0)
    KERNEL("nullfn", bk.func = NULL)
    KERNEL("grid0", bk.gridDimX = 0)
    KERNEL("block1025", bk.blockDimX = 1025)
    KERNEL("grid2", bk.gridDimX = 2)
    KERNEL("shared", bk.sharedMemBytes = 1024)
    KERNEL("noparams", bk.kernelParams = NULL)
    COPY("width", bc.WidthInBytes = 32)
    COPY("wider", bc.WidthInBytes = 512)
    COPY("rows", (bc.Height = 2, bc.srcPitch = 64, bc.dstPitch = 64))
    COPY("tohost", (bc.dstMemoryType = CU_MEMORYTYPE_HOST, bc.dstHost = K.host))
    COPY("far", bc.srcDevice = K.far)
    COPY("width0", bc.WidthInBytes = 0)
    COPY("garbage", bc.srcDevice = 16)
    T("copy.otherctx", cuGraphExecMemcpyNodeSetParams, exec, nodes[1], &c, K.other);
    SET("value", bm.value = 9)
    SET("width", bm.width = 8)
    SET("wider", bm.width = 64)
    SET("size", (bm.elementSize = 1, bm.width = 64))
    SET("rows", (bm.height = 2, bm.pitch = 64))
    SET("far", bm.dst = K.far)
    SET("garbage", bm.dst = 16)
    SET("width0", bm.width = 0)
    T("memset.otherctx", cuGraphExecMemsetNodeSetParams, exec, nodes[2], &m, K.other);
    bigger = single(&added);
    R(cuGraphAddKernelNode, &added, bigger, &added, 1, &k);
    T("child.bigger", cuGraphExecChildGraphNodeSetParams, exec, nodes[4], bigger);
    T("child.self", cuGraphExecChildGraphNodeSetParams, exec, nodes[4], g);
    R(cuGraphAddKernelNode, &added, g, NULL, 0, &k);
    T("kernel.addedlater", cuGraphExecKernelNodeSetParams, exec, added, &k);
    T("destroynode", cuGraphDestroyNode, nodes[3]);
    T("host.destroyednode", cuGraphExecHostNodeSetParams, exec, nodes[3], &h);
    T("launch", cuGraphLaunch, exec, K.s);
    T("sync", cuCtxSynchronize);
}

void group_genable(void)
{
    CUgraphNode nodes[CHAIN], foreign = NULL;
    unsigned on;
    kit();
    CUgraph g = chain(nodes);
    single(&foreign);
    CUgraphExec exec = executable(g);
    for (int i = 0; i < CHAIN; i++) {
        on = 77;
        T(N("get.%d", i), cuGraphNodeGetEnabled, exec, nodes[i], &on);
        V(N("get.%d.v", i), "%u", on);
        T(N("off.%d", i), cuGraphNodeSetEnabled, exec, nodes[i], 0);
        R(cuGraphNodeGetEnabled, exec, nodes[i], &on);
        V(N("off.%d.v", i), "%u", on);
        T(N("launch.%d", i), cuGraphLaunch, exec, K.s);
        R(cuCtxSynchronize);
        V(N("launch.%d.v", i), "calls=%d %u %u %u", host_calls, word(K.p), word(K.p + 1024),
            word(K.p + 2048));
        R(cuMemsetD8, K.p, 0, 4096);
        T(N("on.%d", i), cuGraphNodeSetEnabled, exec, nodes[i], 2);
        R(cuGraphNodeGetEnabled, exec, nodes[i], &on);
        V(N("on.%d.v", i), "%u", on);
    }
    T("foreign", cuGraphNodeSetEnabled, exec, foreign, 0);
    T("null", cuGraphNodeSetEnabled, exec, NULL, 0);
    T("nullexec", cuGraphNodeSetEnabled, NULL, nodes[0], 0);
    T("get.nullout", cuGraphNodeGetEnabled, exec, nodes[0], NULL);
    T("get.foreign", cuGraphNodeGetEnabled, exec, foreign, &on);
    /* Parameters of a disabled node, and an update. */
    CUDA_KERNEL_NODE_PARAMS k = right_kernel();
    R(cuGraphNodeSetEnabled, exec, nodes[0], 0);
    T("disabled.set", cuGraphExecKernelNodeSetParams, exec, nodes[0], &k);
    R(cuGraphNodeGetEnabled, exec, nodes[0], &on);
    V("disabled.set.v", "%u", on);
    CUgraphExecUpdateResultInfo info = {0};
    T("disabled.update", cuGraphExecUpdate, exec, g, &info);
    R(cuGraphNodeGetEnabled, exec, nodes[0], &on);
    V("disabled.update.v", "%u %d", on, (int)info.result);
}

void group_gexecdead(void)
{
    CUgraphNode node = NULL;
    CUDA_KERNEL_NODE_PARAMS k;
    CUgraphExecUpdateResultInfo info = {0};
    cuuint64_t flags;
    unsigned on;
    kit();
    CUgraph g = single(&node);
    CUgraphExec exec = executable(g);
    k = right_kernel();
    T("launch", cuGraphLaunch, dead_exec(), K.s);
    T("upload", cuGraphUpload, dead_exec(), K.s);
    T("destroy", cuGraphExecDestroy, dead_exec());
    T("flags", cuGraphExecGetFlags, dead_exec(), &flags);
    T("set", cuGraphExecKernelNodeSetParams, dead_exec(), node, &k);
    T("enabled", cuGraphNodeGetEnabled, dead_exec(), node, &on);
    T("update", cuGraphExecUpdate, dead_exec(), g, &info);
    T("update.graph", cuGraphExecUpdate, exec, dead_graph(), &info);
    T("set.node", cuGraphExecKernelNodeSetParams, exec, dead_node(), &k);
    T("graph.as.exec", cuGraphLaunch, (CUgraphExec)g, K.s);
    T("exec.as.graph", cuGraphGetNodes, (CUgraph)exec, NULL, (size_t *)&flags);
    T("sync", cuCtxSynchronize);
}

/* Each result of an update; error nodes by their index in the new graph. */
static void update(const char *name, CUgraphExec exec, CUgraph g, const CUgraphNode *nodes, int count)
{
    CUgraphExecUpdateResultInfo info = {
        .result = 77, .errorNode = (CUgraphNode)8, .errorFromNode = (CUgraphNode)8};
    T(name, cuGraphExecUpdate, exec, g, &info);
    V(N("%s.v", name), "%d node=%d from=%d", (int)info.result, index_of(info.errorNode, nodes, count),
      index_of(info.errorFromNode, nodes, count));
}

/* Three nodes in a chain: kernel, memset, copy; the change is made by its number. */
static CUgraph variant(int change, CUgraphNode n[4])
{
    CUgraph g = NULL;
    CUDA_KERNEL_NODE_PARAMS k = right_kernel();
    CUDA_MEMSET_NODE_PARAMS m = right_set();
    CUDA_MEMCPY3D c = right_copy();
    CUDA_HOST_NODE_PARAMS h = right_host();
    CUkernelNodeAttrValue value;
    memset(n, 0, 4 * sizeof *n);
    memset(&value, 0, sizeof value);
    R(cuGraphCreate, &g, 0);
    if (change == 4) k.func = K.scale;
    if (change == 5) k.gridDimX = 2, k.blockDimX = 8;
    if (change == 6) m.value = 8;
    if (change == 7) m.width = 8;
    if (change == 8) m.elementSize = 1;
    if (change == 9) m.height = 2, m.pitch = 128;
    if (change == 10) m.dst = K.p + 3072;
    if (change == 11) c.WidthInBytes = 32;
    if (change == 12) c.dstMemoryType = CU_MEMORYTYPE_HOST, c.dstHost = K.host;
    if (change == 13) c.srcDevice = K.far;
    if (change == 14) m.dst = K.far;
    if (change == 15) k.sharedMemBytes = 512;
    if (change == 20) k.func = K.empty, k.kernelParams = NULL;
    R(cuGraphAddKernelNode, &n[0], g, NULL, 0, &k);
    if (change == 16)
        value.priority = -3, R(cuGraphKernelNodeSetAttribute, n[0], CU_LAUNCH_ATTRIBUTE_PRIORITY, &value);
    if (change == 17)
        value.cooperative = 1,
        R(cuGraphKernelNodeSetAttribute, n[0], CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &value);
    if (change == 1)
        R(cuGraphAddHostNode, &n[1], g, &n[0], 1, &h);
    else if (change == 18)
        R(cuGraphAddEmptyNode, &n[1], g, &n[0], 1);
    else
        R(cuGraphAddMemsetNode, &n[1], g, change == 2 ? NULL : &n[0], change != 2, &m,
            change == 14 ? K.other : K.context);
    if (change == 19)
        return g;
    R(cuGraphAddMemcpyNode, &n[2], g, &n[1], 1, &c, K.context);
    if (change == 3)
        R(cuGraphAddEmptyNode, &n[3], g, &n[2], 1);
    if (change == 21)
        R(cuGraphAddDependencies, g, &n[0], &n[2], NULL, 1);
    return g;
}

void group_gupdate(void)
{
    CUgraphNode n[4], nodes[CHAIN], x[4];
    CUgraphExecUpdateResultInfo info = {0};
    kit();
    for (int change = 0; change <= 21; change++) {
        CUgraphExec exec = executable(variant(0, x));
        CUgraph g = variant(change, n);
        update(N("change.%d", change), exec, g, n, 4);
        /* After a failure, the old graph runs. */
        R(cuMemsetD8, K.p, 0, 4096);
        T(N("change.%d.launch", change), cuGraphLaunch, exec, K.s);
        R(cuCtxSynchronize);
        V(N("change.%d.memory", change), "%u %u %u %u", word(K.p + 4), word(K.p + 1024), word(K.p + 2048),
            word(K.p + 2048 + 32));
        update(N("change.%d.back", change), exec, variant(0, n), n, 4);
    }
    CUgraph g = variant(0, n);
    CUgraphExec exec = executable(g);
    T("nullinfo", cuGraphExecUpdate, exec, g, NULL);
    T("nullgraph", cuGraphExecUpdate, exec, NULL, &info);
    T("nullexec", cuGraphExecUpdate, NULL, g, &info);
    update("self", exec, g, n, 4);
    exec = executable(chain(nodes));
    CUgraph other = chain(nodes);
    update("chain", exec, other, nodes, CHAIN);
    R(cuGraphEventRecordNodeSetEvent, nodes[7], K.e);
    update("chain.record", exec, other, nodes, CHAIN);
    R(cuGraphEventWaitNodeSetEvent, nodes[6], K.e);
    update("chain.wait", exec, other, nodes, CHAIN);
    CUgraph inner = NULL;
    CUgraphNode in = NULL;
    CUDA_KERNEL_NODE_PARAMS k = right_kernel();
    R(cuGraphChildGraphNodeGetGraph, nodes[4], &inner);
    R(cuGraphAddKernelNode, &in, inner, NULL, 0, &k);
    update("chain.child", exec, other, nodes, CHAIN);
    exec = executable(g);
    CUgraph empty = NULL;
    R(cuGraphCreate, &empty, 0);
    update("toempty", exec, empty, n, 4);
    update("fromempty", executable(empty), g, n, 4);
}

/* Updates of graphs of one node from each kind to each, and of kernels between functions. */
void group_gupdateparams(void)
{
    kit();
    CUDA_KERNEL_NODE_PARAMS k = right_kernel();
    CUDA_MEMSET_NODE_PARAMS m = right_set();
    CUDA_MEMCPY3D c = right_copy();
    CUDA_HOST_NODE_PARAMS h = right_host();
    CUfunction functions[] = {K.fill, K.scale, K.addone, K.empty, K.mix};
    for (int from = 0; from < 8; from++)
        for (int to = 0; to < 8; to++) {
            CUgraph g[2];
            CUgraphNode n[2] = {NULL, NULL};
            for (int i = 0; i < 2; i++) {
                int kind = i ? to : from;
                R(cuGraphCreate, &g[i], 0);
                switch (kind) {
                case 0: R(cuGraphAddKernelNode, &n[i], g[i], NULL, 0, &k); break;
                case 1: R(cuGraphAddMemcpyNode, &n[i], g[i], NULL, 0, &c, K.context); break;
                case 2: R(cuGraphAddMemsetNode, &n[i], g[i], NULL, 0, &m, K.context); break;
                case 3: R(cuGraphAddHostNode, &n[i], g[i], NULL, 0, &h); break;
                case 4: R(cuGraphAddChildGraphNode, &n[i], g[i], NULL, 0, single(NULL)); break;
                case 5: R(cuGraphAddEmptyNode, &n[i], g[i], NULL, 0); break;
                case 6: R(cuGraphAddEventWaitNode, &n[i], g[i], NULL, 0, K.ended); break;
                case 7: R(cuGraphAddEventRecordNode, &n[i], g[i], NULL, 0, K.e); break;
                }
            }
            update(N("kind.%d.%d", from, to), executable(g[0]), g[1], &n[1], 1);
        }
    unsigned zero = 0;
    void *args[] = {&K.p, &K.p, &zero, &zero};
    k.kernelParams = args;
    for (size_t from = 0; from < COUNT(functions); from++)
        for (size_t to = 0; to < COUNT(functions); to++) {
            CUgraph g[2];
            CUgraphNode n = NULL;
            for (int i = 0; i < 2; i++) {
                R(cuGraphCreate, &g[i], 0);
                k.func = functions[i ? to : from];
                R(cuGraphAddKernelNode, &n, g[i], NULL, 0, &k);
            }
            update(N("function.%zu.%zu", from, to), executable(g[0]), g[1], &n, 1);
        }
}

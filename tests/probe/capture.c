/* Stream capture: what invalidates it, how it ends, its information, captures to graphs, modes of threads. */
#include "graph_kit.h"
#include <pthread.h>

static CUstreamCaptureStatus status_of(CUstream s)
{
    CUstreamCaptureStatus status = 9;
    R(cuStreamIsCapturing, s, &status);
    return status;
}
static CUresult empty_in(CUstream s) {
    return R(cuLaunchKernel, K.empty, 1, 1, 1, 1, 1, 1, 0, s, NULL, NULL);
}
static void start(CUstreamCaptureMode mode) { R(cuStreamBeginCapture, K.s, mode); }
static void fork_to(CUstream from, CUstream to, CUevent e)
{
    R(cuEventRecord, e, from);
    R(cuStreamWaitEvent, to, e, 0);
}
/* Ends the capture of K.s under a name, and prints the graph's nodes. */
static CUgraph end(const char *name)
{
    CUgraph g = (CUgraph)1;
    T(name, cuStreamEndCapture, K.s, &g);
    int null = !g || g == (CUgraph)1;
    V(N("%s.v", name), "null=%d nodes=%zu status=%d", !g, null ? 0 : node_count(g), (int)status_of(K.s));
    return null ? NULL : g;
}

/* Each invalidation, and what further calls return then. */
void group_capcodes(void)
{
    static const char *const ways[] = {"sync", "query", "legacy", "ctxsync", "alloc", "eventquery",
        "eventsync", "callback", "merge", "unjoined", "isolation", "external", "badcopy"};
    CUevent old = NULL, far = NULL;
    CUgraph g = NULL;
    CUdeviceptr p = 0;
    kit();
    R(cuEventCreate, &old, CU_EVENT_DISABLE_TIMING);
    R(cuEventRecord, old, K.t);
    R(cuCtxSetCurrent, K.other);
    R(cuEventCreate, &far, CU_EVENT_DISABLE_TIMING);
    R(cuEventRecord, far, K.farstream);
    R(cuCtxSetCurrent, K.context);
    R(cuCtxSynchronize);
    for (int i = 0; i < (int)COUNT(ways); i++) {
        const char *w = ways[i];
        start(CU_STREAM_CAPTURE_MODE_GLOBAL);
        empty_in(K.s);
        fork_to(K.s, K.free_stream, K.e);
        empty_in(K.free_stream);
        switch (i) {
        case 0: T(w, cuStreamSynchronize, K.s); break;
        case 1: T(w, cuStreamQuery, K.s); break;
        case 2: T(w, cuMemsetD8Async, K.p, 0, 16, NULL); break;
        case 3: T(w, cuCtxSynchronize); break;
        case 4: T(w, cuMemAlloc, &p, 16); break;
        case 5: T(w, cuEventQuery, K.e); break;
        case 6: T(w, cuEventSynchronize, K.e); break;
        case 7: T(w, cuStreamAddCallback, K.s, NULL, NULL, 0); break;
        case 8:
            R(cuStreamBeginCapture, K.t, CU_STREAM_CAPTURE_MODE_GLOBAL);
            R(cuEventRecord, K.f, K.t);
            T(w, cuStreamWaitEvent, K.s, K.f, 0);
            V("merge.other", "%d", (int)status_of(K.t));
            T("merge.other.end", cuStreamEndCapture, K.t, &g);
            break;
        case 9: break;
        case 10: T(w, cuStreamWaitEvent, K.s, old, 0); break;
        case 11: T(w, cuStreamWaitEvent, K.s, far, 0); break;
        case 12: T(w, cuMemcpyDtoDAsync, 16, K.p, 16, K.s); break;
        }
        V(N("%s.status", w), "%d %d", (int)status_of(K.s), (int)status_of(K.free_stream));
        T(N("%s.launch", w), cuLaunchKernel, K.empty, 1, 1, 1, 1, 1, 1, 0, K.s, NULL, NULL);
        T(N("%s.launch.fork", w), cuLaunchKernel, K.empty, 1, 1, 1, 1, 1, 1, 0, K.free_stream, NULL, NULL);
        T(N("%s.memset", w), cuMemsetD8Async, K.p, 0, 16, K.s);
        T(N("%s.record", w), cuEventRecord, K.f, K.s);
        T(N("%s.wait", w), cuStreamWaitEvent, K.s, K.e, 0);
        T(N("%s.eventquery", w), cuEventQuery, K.e);
        CUstreamCaptureStatus status = 9;
        T(N("%s.info", w), cuStreamGetCaptureInfo, K.s, &status, NULL, NULL, NULL, NULL, NULL);
        T(N("%s.begin", w), cuStreamBeginCapture, K.s, CU_STREAM_CAPTURE_MODE_RELAXED);
        T(N("%s.endfork", w), cuStreamEndCapture, K.free_stream, &g);
        g = end(N("%s.end", w));
        V(N("%s.fork.status", w), "%d", (int)status_of(K.free_stream));
        T(N("%s.fork.launch", w), cuLaunchKernel, K.empty, 1, 1, 1, 1, 1, 1, 0, K.free_stream, NULL, NULL);
        T(N("%s.eventquery.after", w), cuEventQuery, K.e);
        T(N("%s.sync.after", w), cuCtxSynchronize);
        T(N("%s.record.after", w), cuEventRecord, K.e, K.s);
        T(N("%s.eventsync.after", w), cuEventSynchronize, K.e);
    }
}

struct far { CUstream s; CUresult status; CUgraph g; };

static void *end_far(void *of)
{
    struct far *f = of;
    R(cuCtxSetCurrent, K.context);
    f->status = R(cuStreamEndCapture, f->s, &f->g);
    return NULL;
}

static CUresult far_end(CUstream s)
{
    struct far f = {s, CUDA_ERROR_UNKNOWN, NULL};
    pthread_t thread;
    pthread_create(&thread, NULL, end_far, &f);
    pthread_join(thread, NULL);
    return f.status;
}

/* Ends by the wrong stream, thread, or argument. */
void group_capends(void)
{
    static const char *const modes[] = {"global", "thread", "relaxed"};
    CUgraph g = NULL;
    kit();
    T("none", cuStreamEndCapture, K.s, &g);
    T("none.null", cuStreamEndCapture, K.s, NULL);
    T("none.legacy", cuStreamEndCapture, NULL, &g);
    T("none.perthread", cuStreamEndCapture, CU_STREAM_PER_THREAD, &g);
    for (int m = 0; m < 3; m++) {
        const char *w = modes[m];
        start(m);
        if (begin(N("%s.thread", w)))
            report(far_end(K.s));
        V(N("%s.thread.status", w), "%d", (int)status_of(K.s));
        end(N("%s.thread.end", w));
        start(m);
        T(N("%s.nullout", w), cuStreamEndCapture, K.s, NULL);
        end(N("%s.nullout.end", w));
        start(m);
        T(N("%s.other", w), cuStreamEndCapture, K.t, &g);
        V(N("%s.other.status", w), "%d", (int)status_of(K.s));
        fork_to(K.s, K.t, K.e);
        T(N("%s.fork", w), cuStreamEndCapture, K.t, &g);
        V(N("%s.fork.status", w), "%d %d", (int)status_of(K.s), (int)status_of(K.t));
        end(N("%s.fork.end", w));
        /* The fork has no work of its own, or has some, or is joined before its last. */
        start(m);
        fork_to(K.s, K.t, K.e);
        end(N("%s.unjoined.idle", w));
        start(m);
        fork_to(K.s, K.t, K.e);
        empty_in(K.t);
        end(N("%s.unjoined.work", w));
        start(m);
        fork_to(K.s, K.t, K.e);
        empty_in(K.t);
        fork_to(K.t, K.s, K.f);
        empty_in(K.t);
        end(N("%s.unjoined.late", w));
        start(m);
        fork_to(K.s, K.t, K.e);
        empty_in(K.t);
        fork_to(K.t, K.s, K.f);
        fork_to(K.s, K.t, K.e);
        end(N("%s.rejoined", w));
        start(m);
        end(N("%s.nothing", w));
        T(N("%s.sync", w), cuCtxSynchronize);
    }
    T("perthread.begin", cuStreamBeginCapture, CU_STREAM_PER_THREAD, CU_STREAM_CAPTURE_MODE_RELAXED);
    V("perthread.status", "%d", (int)status_of(CU_STREAM_PER_THREAD));
    T("perthread.end", cuStreamEndCapture, CU_STREAM_PER_THREAD, &g);
    T("legacy.begin", cuStreamBeginCapture, CU_STREAM_LEGACY, CU_STREAM_CAPTURE_MODE_RELAXED);
    static const int odd[] = {-1, 3, 4, 0x7fffffff};
    for (int i = 0; i < (int)COUNT(odd); i++) {
        T(N("mode.%d", odd[i]), cuStreamBeginCapture, K.s, (CUstreamCaptureMode)odd[i]);
        V(N("mode.%d.status", odd[i]), "%d", (int)status_of(K.s));
    }
    T("dead.begin", cuStreamBeginCapture, dead_stream_of_kit(), CU_STREAM_CAPTURE_MODE_RELAXED);
    T("dead.end", cuStreamEndCapture, dead_stream_of_kit(), &g);
    T("dead.status", cuStreamIsCapturing, dead_stream_of_kit(), (CUstreamCaptureStatus *)&g);
    T("foreign.begin", cuStreamBeginCapture, K.farstream, CU_STREAM_CAPTURE_MODE_RELAXED);
    T("foreign.launch", cuLaunchKernel, K.empty, 1, 1, 1, 1, 1, 1, 0, K.farstream, NULL, NULL);
    T("foreign.memset", cuMemsetD8Async, K.far, 1, 16, K.farstream);
    T("foreign.end", cuStreamEndCapture, K.farstream, &g);
    T("sync", cuCtxSynchronize);
}

static cuuint64_t id;
static CUgraph info_graph;
static const CUgraphNode *info_nodes;
static const CUgraphEdgeData *info_edges;
static size_t info_count;

static void info(const char *name)
{
    CUstreamCaptureStatus status = 9;
    id = 0, info_graph = NULL, info_nodes = NULL, info_edges = NULL, info_count = 99;
    T(name, cuStreamGetCaptureInfo, K.s, &status, &id, &info_graph, &info_nodes, &info_edges, &info_count);
    V(N("%s.v", name), "%d id=%d graph=%d nodes=%zu deps=%d count=%zu", (int)status, id != 0,
        info_graph != NULL, node_count(info_graph), info_nodes != NULL, info_count);
}

/* Information, and dependencies that are changed. */
void group_capinfo(void)
{
    CUstreamCaptureStatus status;
    CUgraphNode extra = NULL, two[2], foreign = NULL;
    CUgraph first;
    kit();
    single(&foreign);
    info("none");
    start(CU_STREAM_CAPTURE_MODE_RELAXED);
    info("begun");
    first = info_graph;
    cuuint64_t first_id = id;
    empty_in(K.s);
    info("one");
    V("one.same", "%d %d", id == first_id, info_graph == first);
    T("noedges", cuStreamGetCaptureInfo, K.s, &status, &id, &info_graph, &info_nodes, NULL, &info_count);
    T("onlycount", cuStreamGetCaptureInfo, K.s, &status, NULL, NULL, NULL, NULL, &info_count);
    T("onlydeps", cuStreamGetCaptureInfo, K.s, &status, NULL, NULL, &info_nodes, NULL, NULL);
    T("onlyedges", cuStreamGetCaptureInfo, K.s, &status, NULL, NULL, NULL, &info_edges, NULL);
    T("nostatus", cuStreamGetCaptureInfo, K.s, NULL, &id, NULL, NULL, NULL, NULL);
    T("legacy", cuStreamGetCaptureInfo, NULL, &status, &id, NULL, NULL, NULL, NULL);
    T("other", cuStreamGetCaptureInfo, K.t, &status, &id, NULL, NULL, NULL, NULL);
    V("other.v", "%d", (int)status);
    fork_to(K.s, K.t, K.e);
    cuuint64_t fork_id = 0;
    T("fork", cuStreamGetCaptureInfo, K.t, &status, &fork_id, &info_graph, NULL, NULL, NULL);
    V("fork.v", "%d same=%d %d", (int)status, fork_id == first_id, info_graph == first);
    R(cuMemsetD8Async, K.p, 0, 16, K.t);
    fork_to(K.t, K.s, K.f);
    info("joined");
    T("addnode", cuGraphAddEmptyNode, &extra, first, NULL, 0);
    info("added");
    T("update.add", cuStreamUpdateCaptureDependencies, K.s, &extra, NULL, 1,
        CU_STREAM_ADD_CAPTURE_DEPENDENCIES);
    info("update.added");
    T("update.again", cuStreamUpdateCaptureDependencies, K.s, &extra, NULL, 1,
        CU_STREAM_ADD_CAPTURE_DEPENDENCIES);
    info("update.again.info");
    T("update.set", cuStreamUpdateCaptureDependencies, K.s, &extra, NULL, 1,
        CU_STREAM_SET_CAPTURE_DEPENDENCIES);
    info("update.set.info");
    two[0] = two[1] = extra;
    T("update.twice", cuStreamUpdateCaptureDependencies, K.s, two, NULL, 2,
        CU_STREAM_SET_CAPTURE_DEPENDENCIES);
    info("update.twice.info");
    T("update.flags2", cuStreamUpdateCaptureDependencies, K.s, &extra, NULL, 1, 2);
    T("update.null", cuStreamUpdateCaptureDependencies, K.s, NULL, NULL, 1,
        CU_STREAM_SET_CAPTURE_DEPENDENCIES);
    T("update.nullnode", cuStreamUpdateCaptureDependencies, K.s, (CUgraphNode[]){NULL}, NULL, 1,
        CU_STREAM_SET_CAPTURE_DEPENDENCIES);
    T("update.foreign", cuStreamUpdateCaptureDependencies, K.s, &foreign, NULL, 1,
        CU_STREAM_SET_CAPTURE_DEPENDENCIES);
    info("update.foreign.info");
    CUgraphEdgeData edge = {.type = 9};
    T("update.badedge", cuStreamUpdateCaptureDependencies, K.s, &extra, &edge, 1,
        CU_STREAM_SET_CAPTURE_DEPENDENCIES);
    edge = (CUgraphEdgeData){.type = 0};
    T("update.edge", cuStreamUpdateCaptureDependencies, K.s, &extra, &edge, 1,
        CU_STREAM_SET_CAPTURE_DEPENDENCIES);
    T("update.none", cuStreamUpdateCaptureDependencies, K.s, NULL, NULL, 0,
        CU_STREAM_SET_CAPTURE_DEPENDENCIES);
    info("update.none.info");
    T("update.notcapturing", cuStreamUpdateCaptureDependencies, K.free_stream, &extra, NULL, 1, 0);
    T("update.legacy", cuStreamUpdateCaptureDependencies, NULL, &extra, NULL, 1, 0);
    T("adddep", cuGraphAddDependencies, first, &extra, &foreign, NULL, 1);
    T("instantiate.during", cuGraphInstantiate, (CUgraphExec *)&two[0], first, 0);
    T("clone.during", cuGraphClone, (CUgraph *)&two[1], first);
    V("during.status", "%d", (int)status_of(K.s));
    T("destroynode.during", cuGraphDestroyNode, extra);
    V("destroynode.status", "%d", (int)status_of(K.s));
    end("end");
    start(CU_STREAM_CAPTURE_MODE_RELAXED);
    info("second");
    V("second.id.differs", "%d", id != first_id);
    end("second.end");
}

/* Which nodes and edges work in streams becomes. */
void group_caporder(void)
{
    CUgraphNode nodes[16], from[32], to[32];
    CUgraph g;
    size_t count, edges;
    CUgraphNodeType type;
    CUdeviceptr p = 0;
    CUgraph inner = NULL;
    kit();
    inner = single(NULL);
    CUgraphExec exec = executable(inner);
    start(CU_STREAM_CAPTURE_MODE_RELAXED);
    empty_in(K.s);
    R(cuMemsetD8Async, K.p, 1, 64, K.s);
    R(cuMemcpyDtoDAsync, K.p, K.p + 1024, 64, K.s);
    R(cuMemcpyDtoHAsync, K.host, K.p, 64, K.s);
    CUDA_HOST_NODE_PARAMS host = right_host();
    R(cuLaunchHostFunc, K.s, host.fn, host.userData);
    R(cuGraphLaunch, exec, K.s);
    R(cuStreamWriteValue32, K.s, K.p, 1, 0);
    R(cuEventRecordWithFlags, K.f, K.s, CU_EVENT_RECORD_EXTERNAL);
    R(cuStreamWaitEvent, K.s, K.ended, CU_EVENT_WAIT_EXTERNAL);
    R(cuMemAllocAsync, &p, 64, K.s);
    R(cuMemFreeAsync, p, K.s);
    fork_to(K.s, K.t, K.e);
    empty_in(K.t);
    empty_in(K.s);
    fork_to(K.t, K.s, K.f);
    empty_in(K.s);
    g = end("end");
    if (!g)
        return;
    count = COUNT(nodes);
    T("nodes", cuGraphGetNodes, g, nodes, &count);
    for (size_t i = 0; i < count; i++) {
        type = 99;
        R(cuGraphNodeGetType, nodes[i], &type);
        V(N("type.%zu", i), "%d", (int)type);
    }
    edges = COUNT(from);
    T("edges", cuGraphGetEdges, g, from, to, NULL, &edges);
    for (size_t i = 0; i < edges && i < COUNT(from); i++)
        V(N("edge.%zu", i), "%d %d", index_of(from[i], nodes, (int)count),
            index_of(to[i], nodes, (int)count));
    CUgraphExec whole = NULL;
    T("instantiate", cuGraphInstantiate, &whole, g, 0);
    T("launch", cuGraphLaunch, whole, K.s);
    T("sync", cuStreamSynchronize, K.s);
    V("v", "calls=%d %u", host_calls, word(K.p));
}

/* Captures into a graph that exists. */
void group_captograph(void)
{
    CUgraph g = NULL, out = NULL;
    CUgraphNode node = NULL, foreign = NULL;
    CUgraphEdgeData edge = {.type = 0};
    kit();
    single(&foreign);
    g = single(&node);
    T("nullgraph", cuStreamBeginCaptureToGraph, K.s, NULL, NULL, NULL, 0, 0);
    T("deadgraph", cuStreamBeginCaptureToGraph, K.s, dead_graph(), NULL, NULL, 0, 0);
    V("deadgraph.status", "%d", (int)status_of(K.s));
    R(cuStreamEndCapture, K.s, &out);
    T("legacy", cuStreamBeginCaptureToGraph, NULL, g, NULL, NULL, 0, 0);
    T("badmode", cuStreamBeginCaptureToGraph, K.s, g, NULL, NULL, 0, 7);
    T("nulldeps", cuStreamBeginCaptureToGraph, K.s, g, NULL, NULL, 1, 0);
    T("nullnode", cuStreamBeginCaptureToGraph, K.s, g, (CUgraphNode[]){NULL}, NULL, 1, 0);
    T("foreigndep", cuStreamBeginCaptureToGraph, K.s, g, &foreign, NULL, 1, 0);
    T("twice", cuStreamBeginCaptureToGraph, K.s, g, (CUgraphNode[]){node, node}, NULL, 2, 0);
    V("twice.status", "%d", (int)status_of(K.s));
    R(cuStreamEndCapture, K.s, &out);
    edge.type = 5;
    T("badedge", cuStreamBeginCaptureToGraph, K.s, g, &node, &edge, 1, 0);
    R(cuStreamEndCapture, K.s, &out);
    edge.type = 0;
    g = single(&node);
    T("begin", cuStreamBeginCaptureToGraph, K.s, g, &node, &edge, 1, CU_STREAM_CAPTURE_MODE_RELAXED);
    V("begin.status", "%d", (int)status_of(K.s));
    info("info");
    V("info.same", "%d %d", info_graph == g, info_count == 1 && info_nodes && info_nodes[0] == node);
    empty_in(K.s);
    T("second", cuStreamBeginCaptureToGraph, K.t, g, NULL, NULL, 0, CU_STREAM_CAPTURE_MODE_RELAXED);
    V("second.status", "%d %d", (int)status_of(K.s), (int)status_of(K.t));
    R(cuStreamEndCapture, K.t, &out);
    T("instantiate", cuGraphInstantiate, (CUgraphExec *)&out, g, 0);
    T("end", cuStreamEndCapture, K.s, &out);
    V("end.v", "same=%d nodes=%zu", out == g, node_count(g));
    /* An invalidated capture, and one that adds nothing. */
    R(cuStreamBeginCaptureToGraph, K.s, g, NULL, NULL, 0, CU_STREAM_CAPTURE_MODE_RELAXED);
    empty_in(K.s);
    R(cuStreamSynchronize, K.s);
    T("invalid.end", cuStreamEndCapture, K.s, &out);
    V("invalid.v", "null=%d nodes=%zu", out == NULL, node_count(g));
    size_t left = 77;
    T("invalid.nodes", cuGraphGetNodes, g, NULL, &left);
    V("invalid.nodes.v", "%zu", left);
    T("invalid.destroy", cuGraphDestroy, g);
    g = single(NULL);
    T("nothing", cuStreamBeginCaptureToGraph, K.s, g, NULL, NULL, 0, CU_STREAM_CAPTURE_MODE_RELAXED);
    T("nothing.end", cuStreamEndCapture, K.s, &out);
    V("nothing.v", "same=%d nodes=%zu", out == g, node_count(g));
    g = single(NULL);
    R(cuStreamBeginCaptureToGraph, K.s, g, NULL, NULL, 0, CU_STREAM_CAPTURE_MODE_RELAXED);
    T("destroy.during", cuGraphDestroy, g);
    V("destroy.during.status", "%d", (int)status_of(K.s));
    T("destroy.during.end", cuStreamEndCapture, K.s, &out);
    T("sync", cuCtxSynchronize);
}

static void *mode_far(void *of)
{
    CUstreamCaptureMode *mode = of;
    CUstreamCaptureMode set = CU_STREAM_CAPTURE_MODE_RELAXED;
    R(cuThreadExchangeStreamCaptureMode, &set);
    *mode = set;
    return NULL;
}

void group_capmode(void)
{
    static const int values[] = {0, 1, 2, 3, -1, 100, 0, 2, 1};
    CUstreamCaptureMode mode;
    CUdeviceptr p = 0;
    pthread_t thread;
    mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    kit();
    T("null", cuThreadExchangeStreamCaptureMode, NULL);
    for (int i = 0; i < (int)COUNT(values); i++) {
        mode = (CUstreamCaptureMode)values[i];
        T(N("%d.set.%d", i, values[i]), cuThreadExchangeStreamCaptureMode, &mode);
        V(N("%d.was", i), "%d", (int)mode);
    }
    pthread_create(&thread, NULL, mode_far, &mode);
    pthread_join(thread, NULL);
    V("thread.was", "%d", (int)mode);
    /* The thread's mode and the capture's. */
    for (int thread_mode = 0; thread_mode < 3; thread_mode++)
        for (int capture_mode = 0; capture_mode < 3; capture_mode++) {
            start(capture_mode);
            mode = thread_mode;
            R(cuThreadExchangeStreamCaptureMode, &mode);
            T(N("alloc.%d.%d", thread_mode, capture_mode), cuMemAlloc, &p, 16);
            V(N("alloc.%d.%d.status", thread_mode, capture_mode), "%d", (int)status_of(K.s));
            R(cuThreadExchangeStreamCaptureMode, &mode);
            end(N("alloc.%d.%d.end", thread_mode, capture_mode));
        }
}

/* Events that a capture recorded, during it, after it, and in other captures. */
void group_capevents(void)
{
    CUevent plain = NULL;
    float ms;
    kit();
    R(cuEventCreate, &plain, 0);
    start(CU_STREAM_CAPTURE_MODE_RELAXED);
    empty_in(K.s);
    T("record", cuEventRecord, K.e, K.s);
    T("query", cuEventQuery, K.e);
    V("query.status", "%d", (int)status_of(K.s));
    end("query.end");
    start(CU_STREAM_CAPTURE_MODE_RELAXED);
    R(cuEventRecord, K.e, K.s);
    T("sync", cuEventSynchronize, K.e);
    end("sync.end");
    start(CU_STREAM_CAPTURE_MODE_RELAXED);
    R(cuEventRecord, plain, K.s);
    T("elapsed", cuEventElapsedTime, &ms, K.ended, plain);
    end("elapsed.end");
    start(CU_STREAM_CAPTURE_MODE_RELAXED);
    R(cuEventRecord, K.e, K.s);
    T("rerecord.outside", cuEventRecord, K.e, K.free_stream);
    T("rerecord.wait", cuStreamWaitEvent, K.s, K.e, 0);
    end("rerecord.end");
    start(CU_STREAM_CAPTURE_MODE_RELAXED);
    R(cuEventRecord, K.e, K.s);
    end("stale");
    T("stale.query", cuEventQuery, K.e);
    T("stale.sync", cuEventSynchronize, K.e);
    T("stale.elapsed", cuEventElapsedTime, &ms, plain, plain);
    T("stale.wait", cuStreamWaitEvent, K.t, K.e, 0);
    T("stale.wait.legacy", cuStreamWaitEvent, NULL, K.e, 0);
    start(CU_STREAM_CAPTURE_MODE_RELAXED);
    T("stale.wait.captured", cuStreamWaitEvent, K.s, K.e, 0);
    end("stale.wait.end");
    T("stale.record", cuEventRecord, K.e, K.s);
    T("stale.recorded.query", cuEventSynchronize, K.e);
    /* External records and waits. */
    start(CU_STREAM_CAPTURE_MODE_RELAXED);
    T("external.record", cuEventRecordWithFlags, K.f, K.s, CU_EVENT_RECORD_EXTERNAL);
    T("external.query", cuEventQuery, K.f);
    T("external.wait", cuStreamWaitEvent, K.s, K.f, CU_EVENT_WAIT_EXTERNAL);
    T("external.wait.plain", cuStreamWaitEvent, K.s, K.f, 0);
    end("external.end");
    T("external.outside.record", cuEventRecordWithFlags, K.f, K.t, CU_EVENT_RECORD_EXTERNAL);
    T("external.outside.wait", cuStreamWaitEvent, K.t, K.f, CU_EVENT_WAIT_EXTERNAL);
    T("dead.record", cuEventRecord, dead_event(), K.s);
    start(CU_STREAM_CAPTURE_MODE_RELAXED);
    R(cuEventRecord, K.e, K.s);
    T("destroyed", cuEventDestroy, K.e);
    V("destroyed.status", "%d", (int)status_of(K.s));
    end("destroyed.end");
    T("end.sync", cuCtxSynchronize);
}

/* Streams and contexts that are destroyed during a capture. */
void group_capdestroy(void)
{
    CUstream s = NULL, t = NULL;
    CUcontext c = NULL;
    CUgraph g = NULL;
    kit();
    R(cuStreamCreate, &s, 0);
    R(cuStreamCreate, &t, 0);
    start(CU_STREAM_CAPTURE_MODE_RELAXED);
    fork_to(K.s, t, K.e);
    T("fork", cuStreamDestroy, t);
    V("fork.status", "%d", (int)status_of(K.s));
    end("fork.end");
    R(cuStreamCreate, &t, 0);
    start(CU_STREAM_CAPTURE_MODE_RELAXED);
    fork_to(K.s, t, K.e);
    empty_in(t);
    fork_to(t, K.s, K.f);
    T("joined", cuStreamDestroy, t);
    V("joined.status", "%d", (int)status_of(K.s));
    end("joined.end");
    R(cuStreamBeginCapture, s, CU_STREAM_CAPTURE_MODE_GLOBAL);
    fork_to(s, K.t, K.e);
    T("origin", cuStreamDestroy, s);
    V("origin.status", "%d", (int)status_of(K.t));
    T("origin.fork.launch", cuLaunchKernel, K.empty, 1, 1, 1, 1, 1, 1, 0, K.t, NULL, NULL);
    T("origin.fork.end", cuStreamEndCapture, K.t, &g);
    CUdeviceptr p = 0;
    T("origin.alloc", cuMemAlloc, &p, 16);
    T("origin.sync", cuCtxSynchronize);
    R(cuCtxCreate, &c, NULL, 0, 0);
    R(cuStreamCreate, &s, 0);
    R(cuStreamBeginCapture, s, CU_STREAM_CAPTURE_MODE_RELAXED);
    R(cuMemsetD8Async, K.p, 0, 16, s);
    T("context", cuCtxDestroy, c);
    T("context.current", cuCtxSetCurrent, K.context);
    T("context.status", cuStreamIsCapturing, s, (CUstreamCaptureStatus *)&g);
    T("context.end", cuStreamEndCapture, s, &g);
    T("end.sync", cuCtxSynchronize);
}

/* Lists of nodes and edges, dependencies, clones, dot files, user objects, child graphs, dead handles. */
#include "graph_kit.h"
#include <unistd.h>

/* Lists with arrays that are too small, exact, too large. */
void group_glist(void)
{
    CUgraphNode nodes[CHAIN], some[16], others[16];
    CUgraphEdgeData data[16];
    CUgraph none = NULL;
    size_t n;
    kit();
    CUgraph g = chain(nodes);
    R(cuGraphCreate, &none, 0);
    R(cuGraphAddDependencies, g, &nodes[0], &nodes[8], NULL, 1);
    static const size_t sizes[] = {0, 1, 2, 8, 9, 10, 16};
    for (size_t i = 0; i < COUNT(sizes); i++) {
#define LIST(name, fn, ...) \
        memset(some, 0x55, sizeof some), memset(others, 0x55, sizeof others), n = sizes[i]; \
        TP(N(name ".%zu", sizes[i]), fn, __VA_ARGS__, &n); \
        for (size_t k = 0, filled = 0; k <= COUNT(some); k++) { \
            if (k == COUNT(some)) \
                V(N(name ".%zu.v", sizes[i]), "n=%zu filled=%zu zero=%d first=%d", n, filled, \
                  sizes[i] > 0 && some[sizes[i] - 1] == NULL, index_of(some[0], nodes, CHAIN)); \
            else \
                filled += index_of(some[k], nodes, CHAIN) >= 0; \
        }
        LIST("nodes", p_cuGraphGetNodes, g, some)
        LIST("roots", p_cuGraphGetRootNodes, g, some)
        LIST("edges", p_cuGraphGetEdges, g, some, others, NULL)
        LIST("edgesdata", p_cuGraphGetEdges, g, some, others, data)
        LIST("deps", p_cuGraphNodeGetDependencies, nodes[8], some, NULL)
        LIST("dependents", p_cuGraphNodeGetDependentNodes, nodes[0], some, data)
        LIST("none.nodes", p_cuGraphGetNodes, none, some)
        LIST("none.edges", p_cuGraphGetEdges, none, some, others, NULL)
        LIST("none.deps", p_cuGraphNodeGetDependencies, nodes[0], some, NULL)
#undef LIST
    }
    n = 16;
    T("edges.nofrom", cuGraphGetEdges, g, NULL, others, NULL, &n);
    V("edges.nofrom.v", "%zu", n);
    n = 16;
    T("edges.noto", cuGraphGetEdges, g, some, NULL, NULL, &n);
    n = 16;
    T("edges.onlydata", cuGraphGetEdges, g, NULL, NULL, data, &n);
    n = 16;
    T("deps.onlydata", cuGraphNodeGetDependencies, nodes[1], NULL, data, &n);
    T("nodes.nullcount", cuGraphGetNodes, g, some, NULL);
    T("nodes.nullgraph", cuGraphGetNodes, NULL, some, &n);
    T("roots.nullcount", cuGraphGetRootNodes, g, some, NULL);
    T("roots.nullgraph", cuGraphGetRootNodes, NULL, some, &n);
    T("edges.nullcount", cuGraphGetEdges, g, some, others, NULL, NULL);
    T("edges.nullgraph", cuGraphGetEdges, NULL, some, others, NULL, &n);
    T("deps.nullcount", cuGraphNodeGetDependencies, nodes[1], some, NULL, NULL);
    T("deps.nullnode", cuGraphNodeGetDependencies, NULL, some, NULL, &n);
    T("dependents.nullnode", cuGraphNodeGetDependentNodes, NULL, some, NULL, &n);
    T("dependents.nullcount", cuGraphNodeGetDependentNodes, nodes[1], some, NULL, NULL);
}

/* Dependencies, and lists that would lose an edge's data: the functions' first versions. */
void group_gedge(void)
{
    CUgraphNode k[4], empty = NULL, foreign = NULL, from[16], to[16];
    CUgraphEdgeData data[16], e;
    CUgraph g = NULL;
    size_t n;
    kit();
    CUDA_KERNEL_NODE_PARAMS kernel = right_kernel();
    single(&foreign);
    R(cuGraphCreate, &g, 0);
    for (int i = 0; i < 4; i++)
        R(cuGraphAddKernelNode, &k[i], g, NULL, 0, &kernel);
    R(cuGraphAddEmptyNode, &empty, g, NULL, 0);
    T("add", cuGraphAddDependencies, g, &k[0], &k[1], NULL, 1);
    T("add.zero", cuGraphAddDependencies, g, NULL, NULL, NULL, 0);
    T("add.again", cuGraphAddDependencies, g, &k[0], &k[1], NULL, 1);
    T("add.reverse", cuGraphAddDependencies, g, &k[1], &k[0], NULL, 1);
    T("add.self", cuGraphAddDependencies, g, &k[2], &k[2], NULL, 1);
    T("add.null", cuGraphAddDependencies, g, NULL, &k[1], NULL, 1);
    T("add.nullgraph", cuGraphAddDependencies, NULL, &k[0], &k[1], NULL, 1);
    T("add.nullnode", cuGraphAddDependencies, g, (CUgraphNode[]){NULL}, &k[1], NULL, 1);
    T("add.foreignfrom", cuGraphAddDependencies, g, &foreign, &k[1], NULL, 1);
    T("add.foreignto", cuGraphAddDependencies, g, &k[1], &foreign, NULL, 1);
    /* The first of two is right, the second is not. */
    T("add.half", cuGraphAddDependencies, g, (CUgraphNode[]){k[2], foreign}, (CUgraphNode[]){k[3], k[3]},
        NULL, 2);
    R(cuGraphGetEdges, g, NULL, NULL, NULL, &n);
    V("add.half.edges", "%zu", n);
    T("add.pairtwice", cuGraphAddDependencies, g, (CUgraphNode[]){k[2], k[2]}, (CUgraphNode[]){k[3], k[3]},
        NULL, 2);
    T("remove.foreign", cuGraphRemoveDependencies, g, &foreign, &k[1], NULL, 1);
    T("remove.absent", cuGraphRemoveDependencies, g, &k[3], &k[0], NULL, 1);
    T("remove.null", cuGraphRemoveDependencies, g, NULL, NULL, NULL, 1);
    T("remove.zero", cuGraphRemoveDependencies, g, NULL, NULL, NULL, 0);
    T("remove", cuGraphRemoveDependencies, g, &k[0], &k[1], NULL, 1);
    e = (CUgraphEdgeData){.from_port = 1, .type = CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC};
    T("programmatic", cuGraphAddDependencies, g, &k[0], &k[1], &e, 1);
    T("programmatic.plaintoo", cuGraphAddDependencies, g, &k[0], &k[1], NULL, 1);
    T("programmatic.empty", cuGraphAddDependencies, g, &k[0], &empty, &e, 1);
    T("programmatic.fromempty", cuGraphAddDependencies, g, &empty, &k[3], &e, 1);
    for (int port = 0; port < 4; port++)
        for (int type = 0; type < 3; type++) {
            CUgraphEdgeData d = {.from_port = (unsigned char)port, .type = (unsigned char)type};
            T(N("port.%d.type.%d", port, type), cuGraphAddDependencies, g, &k[1], &k[2], &d, 1);
            T(N("port.%d.type.%d.remove", port, type), cuGraphRemoveDependencies, g, &k[1], &k[2], &d, 1);
        }
    n = 16;
    T("lossy.edges", cuGraphGetEdges, g, from, to, NULL, &n);
    n = 16;
    T("lossy.edges.data", cuGraphGetEdges, g, from, to, data, &n);
    T("lossy.edges.count", cuGraphGetEdges, g, NULL, NULL, NULL, &n);
    n = 16;
    T("lossy.deps", cuGraphNodeGetDependencies, k[1], from, NULL, &n);
    n = 16;
    T("lossy.deps.data", cuGraphNodeGetDependencies, k[1], from, data, &n);
    V("lossy.deps.data.v", "%u %u %u", data[0].from_port, data[0].to_port, data[0].type);
    n = 16;
    T("lossy.dependents", cuGraphNodeGetDependentNodes, k[0], from, NULL, &n);
    CUresult (*edges1)(CUgraph, CUgraphNode *, CUgraphNode *, size_t *) =
        (CUresult (*)(CUgraph, CUgraphNode *, CUgraphNode *, size_t *))S("cuGraphGetEdges");
    CUresult (*deps1)(CUgraphNode, CUgraphNode *, size_t *) =
        (CUresult (*)(CUgraphNode, CUgraphNode *, size_t *))S("cuGraphNodeGetDependencies");
    CUresult (*dependents1)(CUgraphNode, CUgraphNode *, size_t *) =
        (CUresult (*)(CUgraphNode, CUgraphNode *, size_t *))S("cuGraphNodeGetDependentNodes");
#define OLD(name, call) if (begin(name)) report(call)
    n = 16;
    if (edges1 && deps1 && dependents1) {
        OLD("lossy.v1.edges", edges1(g, from, to, &n));
        OLD("lossy.v1.edges.count", edges1(g, NULL, NULL, &n));
        n = 16;
        OLD("lossy.v1.deps", deps1(k[1], from, &n));
        OLD("lossy.v1.deps.count", deps1(k[1], NULL, &n));
        n = 16;
        OLD("lossy.v1.dependents", dependents1(k[0], from, &n));
        n = 16;
        OLD("lossy.v1.other", deps1(k[3], from, &n));
    }
#undef OLD
    T("lossy.remove.plain", cuGraphRemoveDependencies, g, &k[0], &k[1], NULL, 1);
    T("lossy.remove", cuGraphRemoveDependencies, g, &k[0], &k[1], &e, 1);
    T("lossy.add", cuGraphAddDependencies, g, &k[0], &k[1], &e, 1);
    CUgraphEdgeData unlike = {.from_port = 2, .type = 1};
    T("lossy.add.unlike", cuGraphAddDependencies, g, &k[0], &k[1], &unlike, 1);
    T("lossy.remove.unlike", cuGraphRemoveDependencies, g, &k[0], &k[1], &unlike, 1);
    T("lossy.remove.like", cuGraphRemoveDependencies, g, &k[0], &k[1], &e, 1);
    T("destroy", cuGraphDestroyNode, k[2]);
    R(cuGraphGetEdges, g, NULL, NULL, NULL, &n);
    V("destroy.edges", "%zu", n);
    T("destroy.null", cuGraphDestroyNode, NULL);
}

void group_gclone(void)
{
    CUgraphNode nodes[CHAIN], found = NULL, inner = NULL, foreign = NULL;
    CUgraph clone = NULL, second = NULL, child = NULL, other;
    CUgraphNodeType type = 99;
    kit();
    CUgraph g = chain(nodes);
    other = single(&foreign);
    T("clone", cuGraphClone, &clone, g);
    T("clone.nullout", cuGraphClone, NULL, g);
    T("clone.null", cuGraphClone, &second, NULL);
    for (int i = 0; i < CHAIN; i++) {
        T(N("find.%d", i), cuGraphNodeFindInClone, &found, nodes[i], clone);
        R(cuGraphNodeGetType, found, &type);
        V(N("find.%d.v", i), "%d", (int)type);
    }
    T("find.original", cuGraphNodeFindInClone, &found, nodes[0], g);
    T("find.foreign", cuGraphNodeFindInClone, &found, foreign, clone);
    T("find.othergraph", cuGraphNodeFindInClone, &found, nodes[0], other);
    T("find.nullout", cuGraphNodeFindInClone, NULL, nodes[0], clone);
    T("find.nullnode", cuGraphNodeFindInClone, &found, NULL, clone);
    T("find.nullgraph", cuGraphNodeFindInClone, &found, nodes[0], NULL);
    T("second", cuGraphClone, &second, clone);
    T("second.find.original", cuGraphNodeFindInClone, &found, nodes[0], second);
    R(cuGraphNodeFindInClone, &found, nodes[0], clone);
    T("second.find.clone", cuGraphNodeFindInClone, &found, found, second);
    T("destroynode.clone", cuGraphDestroyNode, nodes[8]);
    T("destroynode.find", cuGraphNodeFindInClone, &found, nodes[8], clone);
    R(cuGraphNodeFindInClone, &found, nodes[0], clone);
    T("destroynode.inclone", cuGraphDestroyNode, found);
    T("destroynode.inclone.find", cuGraphNodeFindInClone, &found, nodes[0], clone);
    R(cuGraphChildGraphNodeGetGraph, nodes[4], &child);
    size_t n = 1;
    R(cuGraphGetNodes, child, &inner, &n);
    T("find.inner", cuGraphNodeFindInClone, &found, inner, clone);
    T("original.destroy", cuGraphDestroy, g);
    V("clone.nodes", "%zu", node_count(clone));
    T("clone.destroy", cuGraphDestroy, clone);
}

/* Dot files: whether one is written, and how many lines it has. */
void group_gdot(void)
{
    CUgraphNode nodes[CHAIN];
    char path[] = "/tmp/probe-dot-XXXXXX";
    kit();
    CUgraph g = chain(nodes);
    close(mkstemp(path));
    for (int bit = -1; bit <= 20; bit++) {
        unsigned flags = bit < 0 ? 0 : 1u << bit;
        T(N("flag.%d", bit), cuGraphDebugDotPrint, g, path, flags);
        FILE *f = fopen(path, "r");
        int c, lines = 0, shapes = 0;
        while (f && (c = getc(f)) != EOF)
            lines += c == '\n', shapes += c == '{';
        if (f)
            fclose(f);
        M(N("flag.%d.v", bit), "lines=%d braces=%d", lines, shapes);
        V(N("flag.%d.written", bit), "%d", lines > 0);
        if (truncate(path, 0))
            break;
    }
    T("all", cuGraphDebugDotPrint, g, path, 0xffff);
    T("high", cuGraphDebugDotPrint, g, path, 0x80000000);
    T("nullpath", cuGraphDebugDotPrint, g, NULL, 0);
    T("nopath", cuGraphDebugDotPrint, g, "/nowhere/at/all.dot", 0);
    T("emptypath", cuGraphDebugDotPrint, g, "", 0);
    T("nullgraph", cuGraphDebugDotPrint, NULL, path, 0);
    unlink(path);
}

static int destroyed;

static void CUDA_CB destroy_object(void *of)
{
    destroyed += (int)(intptr_t)of;
}

static int settled(void)
{
    R(cuCtxSynchronize);
    usleep(50000);
    return destroyed;
}

void group_gobject(void)
{
    CUuserObject o = NULL, x = NULL;
    CUgraph g = NULL, clone = NULL;
    kit();
    g = single(NULL);
    T("create", cuUserObjectCreate, &o, (void *)1, destroy_object, 2, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC);
    T("create.nullout", cuUserObjectCreate, NULL, (void *)1, destroy_object, 1,
        CU_USER_OBJECT_NO_DESTRUCTOR_SYNC);
    T("create.nullptr", cuUserObjectCreate, &x, NULL, destroy_object, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC);
    T("create.nullfn", cuUserObjectCreate, &x, (void *)1, NULL, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC);
    T("create.flags0", cuUserObjectCreate, &x, (void *)1, destroy_object, 1, 0);
    T("create.flags2", cuUserObjectCreate, &x, (void *)1, destroy_object, 1, 2);
    T("create.flags3", cuUserObjectCreate, &x, (void *)1, destroy_object, 1, 3);
    static const unsigned counts[] = {0, 1, 0x7fffffff, 0x80000000, 0xffffffff};
    for (size_t i = 0; i < COUNT(counts); i++)
        T(N("create.count.%u", counts[i]), cuUserObjectCreate, &x, (void *)1, destroy_object, counts[i],
            CU_USER_OBJECT_NO_DESTRUCTOR_SYNC);
    T("retain", cuUserObjectRetain, o, 1);
    T("retain.0", cuUserObjectRetain, o, 0);
    T("retain.null", cuUserObjectRetain, NULL, 1);
    T("retain.max", cuUserObjectRetain, o, 0x7fffffff);
    T("retain.more", cuUserObjectRetain, o, 0x80000000);
    T("release", cuUserObjectRelease, o, 1);
    T("release.0", cuUserObjectRelease, o, 0);
    T("release.null", cuUserObjectRelease, NULL, 1);
    V("destroyed.none", "%d", settled());
    T("graph.retain", cuGraphRetainUserObject, g, o, 1, 0);
    T("graph.retain.0", cuGraphRetainUserObject, g, o, 0, 0);
    T("graph.retain.flags2", cuGraphRetainUserObject, g, o, 1, 2);
    T("graph.retain.null", cuGraphRetainUserObject, g, NULL, 1, 0);
    T("graph.retain.nullgraph", cuGraphRetainUserObject, NULL, o, 1, 0);
    T("graph.move", cuGraphRetainUserObject, g, o, 1, CU_GRAPH_USER_OBJECT_MOVE);
    T("graph.release.many", cuGraphReleaseUserObject, g, o, 100);
    T("graph.release.0", cuGraphReleaseUserObject, g, o, 0);
    T("graph.release", cuGraphReleaseUserObject, g, o, 1);
    T("graph.release.null", cuGraphReleaseUserObject, g, NULL, 1);
    T("graph.release.nullgraph", cuGraphReleaseUserObject, NULL, o, 1);
    T("graph.release.other", cuGraphReleaseUserObject, single(NULL), o, 1);
    /* One object through a graph, its clone and its executable form. */
    T("second", cuUserObjectCreate, &x, (void *)100, destroy_object, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC);
    T("second.move", cuGraphRetainUserObject, g, x, 1, CU_GRAPH_USER_OBJECT_MOVE);
    R(cuGraphClone, &clone, g);
    CUgraphExec exec = executable(g);
    R(cuGraphLaunch, exec, K.s);
    T("second.destroy", cuGraphDestroy, g);
    V("second.graph", "%d", settled() >= 100);
    R(cuGraphDestroy, clone);
    V("second.clone", "%d", settled() >= 100);
    R(cuGraphExecDestroy, exec);
    V("second.exec", "%d", settled() >= 100);
}

/* Child graphs that are cloned or moved into their parents. */
void group_gchild(void)
{
    CUgraph parent = NULL, other = NULL, child, got = NULL;
    CUgraphNode node = NULL, inner = NULL, x = NULL;
    struct node_params n;
    kit();
    child = single(&inner);
    R(cuGraphCreate, &parent, 0);
    R(cuGraphCreate, &other, 0);
    memset(&n, 0, sizeof n);
    n.type = CU_GRAPH_NODE_TYPE_GRAPH;
    static const int ownerships[] = {0, 2, -1, 99};
    for (size_t i = 0; i < COUNT(ownerships); i++) {
        n.child = (struct child_params){child, ownerships[i]};
        T(N("ownership.%d", ownerships[i]), cuGraphAddNode, &x, parent, NULL, NULL, 0, &n);
    }
    n.child = (struct child_params){child, 1};
    T("move", cuGraphAddNode, &node, parent, NULL, NULL, 0, &n);
    T("move.get", cuGraphChildGraphNodeGetGraph, node, &got);
    V("move.get.v", "%d", got == child);
    T("move.again", cuGraphAddNode, &x, other, NULL, NULL, 0, &n);
    T("move.clone", cuGraphAddChildGraphNode, &x, other, NULL, 0, child);
    T("move.destroy", cuGraphDestroy, child);
    T("move.instantiate", cuGraphInstantiate, (CUgraphExec *)&x, child, 0);
    CUDA_KERNEL_NODE_PARAMS kernel = right_kernel();
    struct alloc_params alloc = right_alloc();
    T("move.addkernel", cuGraphAddKernelNode, &x, child, NULL, 0, &kernel);
    T("move.addalloc", cuGraphAddMemAllocNode, &x, child, NULL, 0, &alloc);
    CUgraphExec exec = NULL;
    T("move.parent", cuGraphInstantiate, &exec, parent, 0);
    CUgraphExecUpdateResultInfo info = {0};
    T("move.update", cuGraphExecUpdate, exec, child, &info);
    T("move.launch", cuGraphLaunch, exec, K.s);
    T("move.destroynode", cuGraphDestroyNode, node);
    T("move.self", cuGraphAddNode, &x, parent, NULL, NULL, 0, (n.child.graph = parent, &n));
    /* A graph with memory nodes as a child. */
    CUgraph memory = NULL;
    R(cuGraphCreate, &memory, 0);
    R(cuGraphAddMemAllocNode, &x, memory, NULL, 0, &alloc);
    n.child = (struct child_params){memory, 0};
    T("memory.clone", cuGraphAddNode, &x, other, NULL, NULL, 0, &n);
    T("memory.child", cuGraphAddChildGraphNode, &x, other, NULL, 0, memory);
    n.child.ownership = 1;
    T("memory.move", cuGraphAddNode, &x, other, NULL, NULL, 0, &n);
    T("memory.parent.clone", cuGraphClone, &got, other);
    T("memory.instantiate", cuGraphInstantiate, &exec, other, 0);
    /* A clone's child is another graph, and changes of the original are not seen. */
    child = single(&inner);
    R(cuGraphCreate, &parent, 0);
    R(cuGraphAddChildGraphNode, &node, parent, NULL, 0, child);
    R(cuGraphChildGraphNodeGetGraph, node, &got);
    V("cloned.same", "%d", got == child);
    R(cuGraphAddKernelNode, &x, child, NULL, 0, &kernel);
    V("cloned.nodes", "%zu %zu", node_count(child), node_count(got));
    T("cloned.instantiate", cuGraphInstantiate, &exec, got, 0);
    T("cloned.clone", cuGraphClone, &memory, got);
    T("cloned.aschild", cuGraphAddChildGraphNode, &x, other, NULL, 0, got);
    T("cloned.move", cuGraphAddNode, &x, other, NULL, NULL, 0,
        (n.child = (struct child_params){got, 1}, &n));
    T("cloned.addalloc", cuGraphAddMemAllocNode, &x, got, NULL, 0, &alloc);
    T("cloned.update", cuGraphExecUpdate, exec, got, &info);
    T("cloned.change", cuGraphAddKernelNode, &x, got, NULL, 0, &kernel);
    T("cloned.destroy", cuGraphDestroy, got);
    T("sync", cuCtxSynchronize);
}

/* Dead handles: a graph's, a node's, an event's. */
void group_gdead(void)
{
    CUgraphNode nodes[CHAIN], x = NULL;
    CUgraph clone = NULL;
    CUgraphNodeType type;
    size_t n = 0;
    kit();
    CUgraph g = chain(nodes);
    CUDA_KERNEL_NODE_PARAMS kernel = right_kernel();
    T("type.node", cuGraphNodeGetType, dead_node(), &type);
    T("params.node", cuGraphKernelNodeGetParams, dead_node(), &kernel);
    T("destroy.node", cuGraphDestroyNode, dead_node());
    T("adddep.node", cuGraphAddDependencies, g, &nodes[0], (CUgraphNode[]){dead_node()}, NULL, 1);
    kernel = right_kernel();
    T("add.dep", cuGraphAddKernelNode, &x, g, (CUgraphNode[]){dead_node()}, 1, &kernel);
    T("find.node", cuGraphNodeFindInClone, &x, dead_node(), g);
    T("add.graph", cuGraphAddEmptyNode, &x, dead_graph(), NULL, 0);
    T("nodes.graph", cuGraphGetNodes, dead_graph(), NULL, &n);
    T("clone.graph", cuGraphClone, &clone, dead_graph());
    T("child.graph", cuGraphAddChildGraphNode, &x, g, NULL, 0, dead_graph());
    T("instantiate.graph", cuGraphInstantiate, (CUgraphExec *)&x, dead_graph(), 0);
    T("dot.graph", cuGraphDebugDotPrint, dead_graph(), "/dev/null", 0);
    T("graph.as.node", cuGraphNodeGetType, (CUgraphNode)g, &type);
    T("node.as.graph", cuGraphGetNodes, (CUgraph)nodes[0], NULL, &n);
    T("wait.event", cuGraphAddEventWaitNode, &x, g, NULL, 0, dead_event());
    T("sync", cuCtxSynchronize);
}

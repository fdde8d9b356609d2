/* What the groups about graphs and capture share: functions and layouts that not every cuda.h declares, and
 * the objects that their calls need. */
#ifndef ANYWARP_GRAPH_KIT_H
#define ANYWARP_GRAPH_KIT_H

#include "probe.h"
#include <stddef.h>

/* Like T, for a function given by its pointer: a macro that passes functions on would expand their names. */
#define TP(name, fn, ...) (begin(name) ? report(fn(__VA_ARGS__)) : skipped())

struct cond_params { uint64_t handle; int type; unsigned size; CUgraph *bodies; CUcontext ctx; };
struct alloc_params {
    CUmemPoolProps pool;
    const CUmemAccessDesc *access;
    size_t accesses, bytes;
    CUdeviceptr p;
};
struct batch_params { CUcontext ctx; unsigned count; CUstreamBatchMemOpParams *ops; unsigned flags; };
struct child_params { CUgraph graph; int ownership; };
struct copy_params { int flags, reserved; CUcontext ctx; CUDA_MEMCPY3D copy; };
struct set_params { CUDA_MEMSET_NODE_PARAMS set; CUcontext ctx; };
struct node_params {
    int type, reserved0[3];
    union {
        long long reserved1[29];
        CUDA_KERNEL_NODE_PARAMS kernel;
        struct copy_params copy;
        struct set_params set;
        CUDA_HOST_NODE_PARAMS host;
        struct child_params child;
        CUevent event;
        struct alloc_params alloc;
        CUdeviceptr free;
        struct batch_params batch;
        struct cond_params cond;
    };
    long long reserved2;
};
_Static_assert(sizeof(struct node_params) == 256, "CUgraphNodeParams");

#define ADDS CUgraphNode *, CUgraph, const CUgraphNode *, size_t
#define KIT_FUNCTIONS(X)                                                                                     \
    X(cuGraphAddNode, "cuGraphAddNode_v2",                                                                   \
        (CUgraphNode *, CUgraph, const CUgraphNode *, const CUgraphEdgeData *, size_t,                       \
            struct node_params *))                                                                           \
    X(cuGraphNodeSetParams, "cuGraphNodeSetParams", (CUgraphNode, struct node_params *))                     \
    X(cuGraphExecNodeSetParams, "cuGraphExecNodeSetParams",                                                  \
        (CUgraphExec, CUgraphNode, struct node_params *))                                                    \
    X(cuGraphConditionalHandleCreate, "cuGraphConditionalHandleCreate",                                      \
        (uint64_t *, CUgraph, CUcontext, unsigned, unsigned))                                                \
    X(cuGraphAddMemAllocNode, "cuGraphAddMemAllocNode", (ADDS, struct alloc_params *))                       \
    X(cuGraphMemAllocNodeGetParams, "cuGraphMemAllocNodeGetParams", (CUgraphNode, struct alloc_params *))    \
    X(cuGraphAddMemFreeNode, "cuGraphAddMemFreeNode", (ADDS, CUdeviceptr))                                   \
    X(cuGraphMemFreeNodeGetParams, "cuGraphMemFreeNodeGetParams", (CUgraphNode, CUdeviceptr *))              \
    X(cuGraphAddBatchMemOpNode, "cuGraphAddBatchMemOpNode", (ADDS, const struct batch_params *))             \
    X(cuGraphBatchMemOpNodeGetParams, "cuGraphBatchMemOpNodeGetParams",                                      \
        (CUgraphNode, struct batch_params *))                                                                \
    X(cuGraphBatchMemOpNodeSetParams, "cuGraphBatchMemOpNodeSetParams",                                      \
        (CUgraphNode, const struct batch_params *))                                                          \
    X(cuGraphExecBatchMemOpNodeSetParams, "cuGraphExecBatchMemOpNodeSetParams",                              \
        (CUgraphExec, CUgraphNode, const struct batch_params *))                                             \
    X(cuGraphEventRecordNodeGetEvent, "cuGraphEventRecordNodeGetEvent", (CUgraphNode, CUevent *))            \
    X(cuGraphEventRecordNodeSetEvent, "cuGraphEventRecordNodeSetEvent", (CUgraphNode, CUevent))              \
    X(cuGraphEventWaitNodeGetEvent, "cuGraphEventWaitNodeGetEvent", (CUgraphNode, CUevent *))                \
    X(cuGraphEventWaitNodeSetEvent, "cuGraphEventWaitNodeSetEvent", (CUgraphNode, CUevent))                  \
    X(cuGraphExecEventRecordNodeSetEvent, "cuGraphExecEventRecordNodeSetEvent",                              \
        (CUgraphExec, CUgraphNode, CUevent))                                                                 \
    X(cuGraphExecEventWaitNodeSetEvent, "cuGraphExecEventWaitNodeSetEvent",                                  \
        (CUgraphExec, CUgraphNode, CUevent))                                                                 \
    X(cuGraphAddExternalSemaphoresSignalNode, "cuGraphAddExternalSemaphoresSignalNode",                      \
        (ADDS, const void *))                                                                                \
    X(cuGraphExternalSemaphoresSignalNodeGetParams, "cuGraphExternalSemaphoresSignalNodeGetParams",          \
        (CUgraphNode, void *))                                                                               \
    X(cuGraphExternalSemaphoresSignalNodeSetParams, "cuGraphExternalSemaphoresSignalNodeSetParams",          \
        (CUgraphNode, const void *))                                                                         \
    X(cuGraphExecExternalSemaphoresSignalNodeSetParams, "cuGraphExecExternalSemaphoresSignalNodeSetParams",  \
        (CUgraphExec, CUgraphNode, const void *))                                                            \
    X(cuGraphAddExternalSemaphoresWaitNode, "cuGraphAddExternalSemaphoresWaitNode", (ADDS, const void *))    \
    X(cuGraphExternalSemaphoresWaitNodeGetParams, "cuGraphExternalSemaphoresWaitNodeGetParams",              \
        (CUgraphNode, void *))                                                                               \
    X(cuGraphExternalSemaphoresWaitNodeSetParams, "cuGraphExternalSemaphoresWaitNodeSetParams",              \
        (CUgraphNode, const void *))                                                                         \
    X(cuGraphExecExternalSemaphoresWaitNodeSetParams, "cuGraphExecExternalSemaphoresWaitNodeSetParams",      \
        (CUgraphExec, CUgraphNode, const void *))
#define X(name, symbol, arguments) extern CUresult(*p_##name) arguments;
KIT_FUNCTIONS(X)
#undef X

/* The objects. `p` has 64 KiB of zeros. `e` and `f` are events without timing; `ended` was recorded and has
 * completed. `other` is a second context of the device, `far` memory and `farstream` a stream in it. */
struct kit {
    CUcontext context, other;
    CUmodule module;
    CUfunction fill, scale, addone, empty, mix;
    CUstream s, t, free_stream, farstream;
    CUevent e, f, ended;
    CUdeviceptr p, far;
    unsigned *host;
};
extern struct kit K;
void kit(void);

enum { KIT_BYTES = 65536 };

/* Parameters of right nodes: fill(p, 16, 7) by 16 threads; 64 bytes from p to p + 1024; 16 words of 3 at
 * p + 2048; a host function that counts its calls in host_calls. */
CUDA_KERNEL_NODE_PARAMS right_kernel(void);
CUDA_MEMCPY3D right_copy(void);
CUDA_MEMSET_NODE_PARAMS right_set(void);
CUDA_HOST_NODE_PARAMS right_host(void);
struct alloc_params right_alloc(void);
extern int host_calls;

/* A graph with a node of each plain kind in a chain: 0 kernel, 1 copy, 2 memset, 3 host, 4 child (of one
 * kernel), 5 empty, 6 event wait, 7 event record, 8 batch operation. */
enum { CHAIN = 9 };
CUgraph chain(CUgraphNode nodes[CHAIN]);
/* A graph of one kernel. */
CUgraph single(CUgraphNode *node);
/* An executable graph of `chain`'s first nodes. */
CUgraphExec executable(CUgraph g);
/* The index of a node in an array: -1 null, -2 absent. */
int index_of(CUgraphNode node, const CUgraphNode *nodes, int count);
size_t node_count(CUgraph g);
/* The 32-bit word at an address of the device. */
unsigned word(CUdeviceptr at);
/* A destroyed graph, graph's node, executable graph, stream, event. */
CUgraph dead_graph(void);
CUgraphNode dead_node(void);
CUgraphExec dead_exec(void);
CUstream dead_stream_of_kit(void);
CUevent dead_event(void);

#endif

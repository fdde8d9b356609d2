/* Random graphs whose nodes conflict in memory only along dependencies, so that each has one result. Each
 * prints a checksum of the memory, and whether a model that runs the nodes one after the other agrees. */
#include "graph_kit.h"
#include "splitmix.h"

enum {
    SLOTS = 12,
    WORDS = 16,
    MAX_NODES = 40,
    STREAMS = 4,
    BY_NODES = 80,
    BY_CAPTURE = 60,
    BY_UPDATE = 60,
    LAUNCHES = 2
};
enum { FILL, MIX, SCALE, ADDONE, COPY, SET, KINDS };

struct node { int kind, to, from, n; unsigned value; uint64_t after; };
struct plan { int count; struct node node[MAX_NODES]; };

static uint64_t counter;

static unsigned pick(unsigned below)
{
    return (unsigned)(splitmix(counter++) % below);
}

static int writes(const struct node *n, int slot) { return n->to == slot; }
static int uses(const struct node *n, int slot)
{
    return n->to == slot || ((n->kind == MIX || n->kind == COPY) && n->from == slot);
}

/* Each node comes after all earlier ones that it conflicts with, and after some others. */
static struct plan random_plan(uint64_t seed)
{
    struct plan p = {0};
    counter = seed << 20;
    p.count = 3 + (int)pick(MAX_NODES - 3);
    for (int i = 0; i < p.count; i++) {
        struct node *n = &p.node[i];
        *n = (struct node){.kind = (int)pick(KINDS),
            .to = (int)pick(SLOTS),
            .from = (int)pick(SLOTS),
            .n = 1 + (int)pick(WORDS),
            .value = (unsigned)splitmix(counter++) | 1};
        if (n->kind == COPY && n->from == n->to)
            n->kind = SCALE;
        for (int j = 0; j < i; j++)
            for (int slot = 0; slot < SLOTS; slot++)
                if ((uses(n, slot) && writes(&p.node[j], slot)) ||
                    (writes(n, slot) && uses(&p.node[j], slot)))
                    n->after |= 1ull << j;
        if (i && !pick(4))
            n->after |= 1ull << pick((unsigned)i);
    }
    return p;
}

static unsigned model[SLOTS][WORDS], memory[SLOTS][WORDS];

static void reset(void)
{
    for (int s = 0; s < SLOTS; s++)
        for (int w = 0; w < WORDS; w++)
            model[s][w] = (unsigned)splitmix((uint64_t)(s * WORDS + w));
    R(cuMemcpyHtoD, K.p, model, sizeof model);
}

static void run_model(const struct plan *p, uint64_t disabled)
{
    for (int i = 0; i < p->count; i++) {
        const struct node *n = &p->node[i];
        unsigned *to = model[n->to], *from = model[n->from];
        if (disabled >> i & 1)
            continue;
        for (int w = 0; w < n->n; w++)
            switch (n->kind) {
            case FILL: to[w] = n->value; break;
            case MIX: to[w] = to[w] * n->value + from[w]; break;
            case SCALE: to[w] = 2 * (unsigned)w; break;
            case ADDONE: to[0]++; break;
            case COPY: to[w] = from[w]; break;
            case SET: to[w] = n->value; break;
            }
    }
}

static CUdeviceptr slot(int s) { return K.p + (CUdeviceptr)(s * WORDS * 4); }

static void result(int number, const struct plan *p, const char *failed)
{
    uint64_t sum = 14695981039346656037ull;
    CUresult sync = R(cuCtxSynchronize);
    R(cuMemcpyDtoH, memory, K.p, sizeof memory);
    for (size_t i = 0; i < sizeof memory; i++)
        sum = (sum ^ ((unsigned char *)memory)[i]) * 1099511628211ull;
    V(N("%d", number), "%016llx nodes=%d model=%d sync=%d %s", (unsigned long long)sum, p->count,
      !memcmp(memory, model, sizeof model), (int)sync, failed ? failed : "-");
}

/* Parameters of a kernel; they are copied when a node is added or set. */
static unsigned arg_n, arg_v;
static CUdeviceptr arg_to, arg_from;

static CUDA_KERNEL_NODE_PARAMS kernel_of(const struct node *n)
{
    static void *fill[] = {&arg_to, &arg_n, &arg_v}, *mix[] = {&arg_to, &arg_from, &arg_n, &arg_v};
    CUDA_KERNEL_NODE_PARAMS k = {.func = n->kind == FILL    ? K.fill
                                         : n->kind == MIX   ? K.mix
                                         : n->kind == SCALE ? K.scale
                                                            : K.addone,
        .gridDimX = 1,
        .gridDimY = 1,
        .gridDimZ = 1,
        .blockDimX = WORDS,
        .blockDimY = 1,
        .blockDimZ = 1,
        .kernelParams = n->kind == MIX ? mix : fill};
    arg_to = slot(n->to);
    arg_from = slot(n->from);
    arg_n = (unsigned)n->n;
    arg_v = n->value;
    if (n->kind == ADDONE)
        k.blockDimX = (unsigned)n->n;
    return k;
}

static CUDA_MEMCPY3D copy_of(const struct node *n)
{
    return (CUDA_MEMCPY3D){.srcMemoryType = CU_MEMORYTYPE_DEVICE,
        .srcDevice = slot(n->from),
        .dstMemoryType = CU_MEMORYTYPE_DEVICE,
        .dstDevice = slot(n->to),
        .WidthInBytes = 4 * (size_t)n->n,
        .Height = 1,
        .Depth = 1};
}

static CUDA_MEMSET_NODE_PARAMS set_of(const struct node *n)
{
    return (CUDA_MEMSET_NODE_PARAMS){
        .dst = slot(n->to), .value = n->value, .elementSize = 4, .width = (size_t)n->n, .height = 1};
}

static CUresult add(
    const struct node *n, CUgraph g, const CUgraphNode *after, size_t count, CUgraphNode *node) {
    CUDA_MEMCPY3D copy = copy_of(n);
    CUDA_MEMSET_NODE_PARAMS set = set_of(n);
    CUDA_KERNEL_NODE_PARAMS kernel = kernel_of(n);
    if (n->kind == COPY)
        return R(cuGraphAddMemcpyNode, node, g, after, count, &copy, K.context);
    if (n->kind == SET)
        return R(cuGraphAddMemsetNode, node, g, after, count, &set, K.context);
    return R(cuGraphAddKernelNode, node, g, after, count, &kernel);
}

/* With `children`, some nodes are graphs of one node. */
static CUresult build(const struct plan *p, int children, CUgraph *g, CUgraphNode nodes[MAX_NODES])
{
    CUresult status = R(cuGraphCreate, g, 0);
    for (int i = 0; i < p->count && !status; i++) {
        CUgraphNode after[MAX_NODES], inner;
        CUgraph child;
        size_t count = 0;
        for (int j = 0; j < i; j++)
            if (p->node[i].after >> j & 1)
                after[count++] = nodes[j];
        if (children && i % 5 == 2) {
            R(cuGraphCreate, &child, 0);
            status = add(&p->node[i], child, NULL, 0, &inner);
            status = status ? status : R(cuGraphAddChildGraphNode, &nodes[i], *g, after, count, child);
            R(cuGraphDestroy, child);
        } else
            status = add(&p->node[i], *g, after, count, &nodes[i]);
    }
    return status;
}

static CUresult launch_all(CUgraphExec exec)
{
    CUresult status = CUDA_SUCCESS;
    for (int i = 0; i < LAUNCHES && !status; i++)
        status = R(cuGraphLaunch, exec, K.s);
    R(cuStreamSynchronize, K.s);
    return status;
}

void group_randnodes(void)
{
    kit();
    for (int i = 0; i < BY_NODES; i++) {
        struct plan p = random_plan((uint64_t)i);
        CUgraph g = NULL;
        CUgraphExec exec = NULL;
        CUgraphNode nodes[MAX_NODES];
        reset();
        CUresult status = build(&p, i & 1, &g, nodes);
        status = status ? status : R(cuGraphInstantiate, &exec, g, 0);
        status = status ? status : launch_all(exec);
        for (int j = 0; j < LAUNCHES; j++)
            run_model(&p, 0);
        result(i, &p, status ? error_name(status) : NULL);
        if (exec)
            R(cuGraphExecDestroy, exec);
        if (g)
            R(cuGraphDestroy, g);
    }
}

static CUresult enqueue(const struct node *n, CUstream s)
{
    CUDA_KERNEL_NODE_PARAMS k = kernel_of(n);
    if (n->kind == COPY)
        return R(cuMemcpyDtoDAsync, slot(n->to), slot(n->from), 4 * (size_t)n->n, s);
    if (n->kind == SET)
        return R(cuMemsetD32Async, slot(n->to), n->value, (size_t)n->n, s);
    return R(cuLaunchKernel, k.func, 1, 1, 1, k.blockDimX, 1, 1, 0, s, k.kernelParams, NULL);
}

void group_randcapture(void)
{
    CUstream streams[STREAMS];
    CUevent done[MAX_NODES], joined[STREAMS];
    kit();
    for (int i = 0; i < STREAMS; i++) {
        R(cuStreamCreate, &streams[i], CU_STREAM_NON_BLOCKING);
        R(cuEventCreate, &joined[i], CU_EVENT_DISABLE_TIMING);
    }
    for (int i = 0; i < MAX_NODES; i++)
        R(cuEventCreate, &done[i], CU_EVENT_DISABLE_TIMING);
    for (int i = 0; i < BY_CAPTURE; i++) {
        struct plan p = random_plan(1000 + (uint64_t)i);
        int in[MAX_NODES];
        CUgraph g = NULL;
        CUgraphExec exec = NULL;
        reset();
        CUresult status = R(cuStreamBeginCapture, streams[0], (CUstreamCaptureMode)(i % 3));
        R(cuEventRecord, K.e, streams[0]);
        for (int s = 1; s < STREAMS; s++)
            R(cuStreamWaitEvent, streams[s], K.e, 0);
        for (int j = 0; j < p.count && !status; j++) {
            in[j] = (int)pick(STREAMS);
            for (int a = 0; a < j; a++)
                if ((p.node[j].after >> a & 1) && in[a] != in[j])
                    R(cuStreamWaitEvent, streams[in[j]], done[a], 0);
            status = enqueue(&p.node[j], streams[in[j]]);
            R(cuEventRecord, done[j], streams[in[j]]);
        }
        for (int s = 1; s < STREAMS; s++) {
            R(cuEventRecord, joined[s], streams[s]);
            R(cuStreamWaitEvent, streams[0], joined[s], 0);
        }
        CUresult ended = R(cuStreamEndCapture, streams[0], &g);
        status = status ? status : ended;
        status = status ? status : R(cuGraphInstantiate, &exec, g, 0);
        status = status ? status : launch_all(exec);
        for (int j = 0; j < LAUNCHES; j++)
            run_model(&p, 0);
        result(i, &p, status ? error_name(status) : NULL);
        if (exec)
            R(cuGraphExecDestroy, exec);
        if (g)
            R(cuGraphDestroy, g);
    }
}

/* An executable graph is given the parameters of another graph of the same shape: a third of them with
 * cuGraphExecUpdate, a third node by node, a third with some nodes disabled as well. */
void group_randupdate(void)
{
    kit();
    for (int i = 0; i < BY_UPDATE; i++) {
        struct plan p = random_plan(2000 + (uint64_t)i), q = p;
        CUgraph g = NULL, h = NULL;
        CUgraphExec exec = NULL;
        CUgraphNode nodes[MAX_NODES], others[MAX_NODES];
        CUgraphExecUpdateResultInfo info;
        uint64_t disabled = 0;
        for (int j = 0; j < q.count; j++) {
            q.node[j].value = (unsigned)splitmix(counter++) | 1;
            q.node[j].n = 1 + (int)pick(WORDS);
        }
        reset();
        CUresult status = build(&p, 0, &g, nodes);
        status = status ? status : R(cuGraphInstantiate, &exec, g, 0);
        status = status ? status : launch_all(exec);
        for (int j = 0; j < LAUNCHES; j++)
            run_model(&p, 0);
        if (i % 3 == 0) {
            status = status ? status : build(&q, 0, &h, others);
            status = status ? status : R(cuGraphExecUpdate, exec, h, &info);
        }
        for (int j = 0; j < q.count && i % 3 && !status; j++) {
            const struct node *n = &q.node[j];
            CUDA_MEMCPY3D copy = copy_of(n);
            CUDA_MEMSET_NODE_PARAMS set = set_of(n);
            CUDA_KERNEL_NODE_PARAMS kernel = kernel_of(n);
            status = n->kind == COPY  ? R(cuGraphExecMemcpyNodeSetParams, exec, nodes[j], &copy, K.context)
                     : n->kind == SET ? R(cuGraphExecMemsetNodeSetParams, exec, nodes[j], &set, K.context)
                                      : R(cuGraphExecKernelNodeSetParams, exec, nodes[j], &kernel);
            if (i % 3 == 2 && !pick(3) && !status) {
                status = R(cuGraphNodeSetEnabled, exec, nodes[j], 0);
                disabled |= 1ull << j;
            }
        }
        status = status ? status : launch_all(exec);
        for (int j = 0; j < LAUNCHES; j++)
            run_model(&q, disabled);
        result(i, &p, status ? error_name(status) : NULL);
        if (exec)
            R(cuGraphExecDestroy, exec);
        if (g)
            R(cuGraphDestroy, g);
        if (h)
            R(cuGraphDestroy, h);
    }
}

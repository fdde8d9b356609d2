// Functions whose signature differs between CUDA's releases: the arguments tell which one is called.
// CHECK: #include <hip/hip_runtime.h>
#include <cuda_runtime.h>
struct Where { cudaMemLocation place; int device; };
static cudaMemLocation here(int device);
void memory(void *p, size_t n, cudaStream_t stream, Where where) {
    int device = 0, other = 1;
    cudaMemLocation location = {cudaMemLocationTypeDevice, device}, *locations = &location;
    auto host = cudaMemLocation{cudaMemLocationTypeHost, 0};
    // CUDA 12: a device, and a stream with a default.
    // CHECK: hipMemPrefetchAsync(p, n, device);
    cudaMemPrefetchAsync(p, n, device);
    // CHECK: hipMemPrefetchAsync(p, n, hipCpuDeviceId, stream);
    cudaMemPrefetchAsync(p, n, cudaCpuDeviceId, stream);
    // CHECK: hipMemPrefetchAsync(p, n, other, 0);
    cudaMemPrefetchAsync(p, n, other, 0);
    // CHECK: hipMemPrefetchAsync(p, n, where.device, 0);
    cudaMemPrefetchAsync(p, n, where.device, 0);
    // CHECK: hipMemAdvise(p, n, hipMemAdviseSetReadMostly, device + 1);
    cudaMemAdvise(p, n, cudaMemAdviseSetReadMostly, device + 1);
    // CUDA 13: a location, flags, and a stream with a default, which HIP lacks.
    // CHECK: hipMemPrefetchAsync_v2(p, n, location, 0, 0);
    cudaMemPrefetchAsync(p, n, location, 0);
    // CHECK: hipMemPrefetchAsync_v2(p, n, host, 0, stream);
    cudaMemPrefetchAsync(p, n, host, 0, stream);
    // CHECK: hipMemPrefetchAsync_v2(p, n, elsewhere, 0, stream);
    cudaMemPrefetchAsync(p, n, elsewhere, 0, stream);
    // CHECK: hipMemPrefetchAsync_v2(p, n, {hipMemLocationTypeDevice, 1}, 0, 0);
    cudaMemPrefetchAsync(p, n, {cudaMemLocationTypeDevice, 1}, 0);
    // CHECK: hipMemPrefetchAsync_v2(p, n, here(0), 0, 0);
    cudaMemPrefetchAsync(p, n, here(0), 0);
    // CHECK: hipMemAdvise_v2(p, n, hipMemAdviseSetReadMostly, where.place);
    cudaMemAdvise(p, n, cudaMemAdviseSetReadMostly, where.place);
    // CHECK: hipMemAdvise_v2(p, n, hipMemAdviseSetReadMostly, locations[1]);
    cudaMemAdvise(p, n, cudaMemAdviseSetReadMostly, locations[1]);
    // CHECK: hipMemAdvise_v2(p, n, hipMemAdviseSetReadMostly, (hipMemLocation){hipMemLocationTypeHost});
    cudaMemAdvise(p, n, cudaMemAdviseSetReadMostly, (cudaMemLocation){cudaMemLocationTypeHost});
    // CHECK: hipMemAdvise_v2(p, n, hipMemAdviseSetReadMostly, location);
    cudaMemAdvise_v2(p, n, cudaMemAdviseSetReadMostly, location);
    // A header may declare these names.
    // FINDING: ambiguous cudaMemPrefetchAsync
    // CHECK: hipMemPrefetchAsync(p, n, that->place_or_device, 0);
    cudaMemPrefetchAsync(p, n, that->place_or_device, 0);
    // FINDING: ambiguous cudaMemAdvise
    // CHECK: hipMemAdvise(p, n, hipMemAdviseSetReadMostly, current());
    cudaMemAdvise(p, n, cudaMemAdviseSetReadMostly, current());
}
void graphs(cudaGraph_t graph, cudaGraphNode_t *a, cudaGraphNode_t *b, cudaGraphEdgeData *edges, size_t n) {
    // CHECK: hipGraphAddDependencies(graph, a, b, 1);
    cudaGraphAddDependencies(graph, a, b, 1);
    // CHECK: hipGraphAddDependencies(graph, a, b, 1);
    cudaGraphAddDependencies(graph, a, b, nullptr, 1);
    // CHECK: hipGraphRemoveDependencies(graph, a, b, 1);
    cudaGraphRemoveDependencies_v2(graph, a, b, NULL, 1);
    // FINDING: unsupported cudaGraphAddDependencies
    // CHECK: cudaGraphAddDependencies(graph, a, b, edges, 1);
    cudaGraphAddDependencies(graph, a, b, edges, 1);
    // CHECK: hipGraphGetEdges(graph, a, b, &n);
    cudaGraphGetEdges(graph, a, b, 0, &n);
    // CHECK: hipGraphNodeGetDependencies(*a, b, &n); hipGraphNodeGetDependencies(*a, b, &n);
    cudaGraphNodeGetDependencies(*a, b, &n); cudaGraphNodeGetDependencies(*a, b, NULL, &n);
    // FINDING: unsupported cudaGraphNodeGetDependentNodes
    // CHECK: cudaGraphNodeGetDependentNodes(*a, b, edges, &n);
    cudaGraphNodeGetDependentNodes(*a, b, edges, &n);
    // CHECK: hipGraphAddNode(a, graph, b, 1, &params);
    cudaGraphAddNode(a, graph, b, (cudaGraphEdgeData *)NULL, 1, &params);
    // The node that is written comes first in CUDA and last in HIP.
    // CHECK: hipGraphKernelNodeCopyAttributes(*from, *to);
    cudaGraphKernelNodeCopyAttributes(*to, *from);
    // FINDING: unsupported cudaGraphExecUpdate
    // CHECK: cudaGraphExecUpdate(executable, graph, &info);
    cudaGraphExecUpdate(executable, graph, &info);
    // CHECK: hipGraphExecUpdate(executable, graph, a, &result);
    cudaGraphExecUpdate(executable, graph, a, &result);
    // CHECK: hipGraphInstantiateWithFlags(&executable, graph, 0);
    cudaGraphInstantiateWithFlags(&executable, graph);
}
void captures(cudaStream_t s, cudaStreamCaptureStatus *status, unsigned long long *id, cudaGraph_t *graph) {
    // CHECK: hipStreamGetCaptureInfo_v2(s, status);
    cudaStreamGetCaptureInfo(s, status);
    // CHECK: hipStreamGetCaptureInfo(s, status, id);
    cudaStreamGetCaptureInfo(s, status, id);
    // CHECK: hipStreamGetCaptureInfo_v2(s, status, id, graph);
    cudaStreamGetCaptureInfo(s, status, id, graph);
    // CHECK: hipStreamGetCaptureInfo_v2(s, status, id, graph, &nodes, &n);
    cudaStreamGetCaptureInfo(s, status, id, graph, &nodes, &n);
    // CHECK: hipStreamGetCaptureInfo_v2(s, status, id, graph, &nodes, &n);
    cudaStreamGetCaptureInfo(s, status, id, graph, &nodes, nullptr, &n);
    // FINDING: unsupported cudaStreamGetCaptureInfo
    // CHECK: cudaStreamGetCaptureInfo(s, status, id, graph, &nodes, &edges, &n);
    cudaStreamGetCaptureInfo(s, status, id, graph, &nodes, &edges, &n);
    // CHECK: hipStreamUpdateCaptureDependencies(s, nodes, 0, hipStreamSetCaptureDependencies);
    cudaStreamUpdateCaptureDependencies(s, nodes, 0, cudaStreamSetCaptureDependencies);
    // CHECK: hipStreamUpdateCaptureDependencies(s, nodes, 1);
    cudaStreamUpdateCaptureDependencies(s, nodes, nullptr, 1);
}
void copies(void **to, const void **from, size_t *sizes, cudaStream_t stream) {
    // CUDA 12.8 returns the index of the copy that failed, as HIP does.
    // CHECK: hipMemcpyBatchAsync(to, from, sizes, 2, &attributes, &index, 1, &failed, stream);
    cudaMemcpyBatchAsync(to, from, sizes, 2, &attributes, &index, 1, &failed, stream);
    // CHECK: hipMemcpyBatchAsync((void **)(to), (void **)(from), (size_t *)(sizes), 2, &attributes, &index, 1, NULL, stream);
    cudaMemcpyBatchAsync(to, from, sizes, 2, &attributes, &index, 1, stream);
    // FINDING: unsupported cudaMemcpyBatchAsync
    // CHECK: cudaMemcpyBatchAsync(to, from, sizes, 2, attributes, stream);
    cudaMemcpyBatchAsync(to, from, sizes, 2, attributes, stream);
    // CHECK: hipMemcpy3DBatchAsync(2, copies, NULL, 0, stream);
    cudaMemcpy3DBatchAsync(2, copies, 0, stream);
    // CHECK: hipEventElapsedTime(&time, start, stop);
    cudaEventElapsedTime_v2(&time, start, stop);
}
void driver(CUdeviceptr p, CUcontext *context, CUmemLocation place, CUgraphExec *executable, CUgraph graph) {
    // FINDING: ambiguous cuMemAdvise
    // CHECK: hipMemAdvise(p, 4, hipMemAdviseSetReadMostly, chosen);
    cuMemAdvise(p, 4, CU_MEM_ADVISE_SET_READ_MOSTLY, chosen);
    // CHECK: hipMemAdvise_v2(p, 4, hipMemAdviseSetReadMostly, place);
    cuMemAdvise(p, 4, CU_MEM_ADVISE_SET_READ_MOSTLY, place);
    // CHECK: hipMemPrefetchAsync_v2(p, 4, place, 0, stream);
    cuMemPrefetchAsync(p, 4, place, 0, stream);
    // CHECK: hipCtxCreate(context, 0, 0); hipCtxCreate(context, 0, 0);
    cuCtxCreate(context, 0, 0); cuCtxCreate(context, NULL, 0, 0);
    // FINDING: unsupported cuCtxCreate
    // CHECK: cuCtxCreate(context, &parameters, 0, 0);
    cuCtxCreate(context, &parameters, 0, 0);
    // CHECK: hipGraphInstantiateWithFlags(executable, graph, 0);
    cuGraphInstantiate(executable, graph, 0);
    // CHECK: hipStreamWaitValue32(stream, p, 1, hipStreamWaitValueGte, 0xffffffff);
    cuStreamWaitValue32(stream, p, 1, CU_STREAM_WAIT_VALUE_GEQ);
}

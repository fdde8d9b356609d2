/*
 * Anywarp's declaration of HIP: graphs and stream capture, with the functions up to 7.2.
 *
 * Written for this project. Names, values and layouts are those of the interface, so a program compiled with
 * this file calls the library in the same way as one compiled with any other header of the same version.
 * Programs include hip/hip_runtime_api.h, which includes this file.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef ANYWARP_HIP_HIP_GRAPH_API_H
#define ANYWARP_HIP_HIP_GRAPH_API_H

#ifndef ANYWARP_HIP_HIP_RUNTIME_API_H
#error "include hip/hip_runtime_api.h"
#endif

/* ---- Types --------------------------------------------------------------------------------------------- */

typedef struct ihipGraph *hipGraph_t;
typedef struct hipGraphNode *hipGraphNode_t;
typedef struct hipGraphExec *hipGraphExec_t;
typedef struct hipUserObject *hipUserObject_t;

typedef enum hipGraphNodeType {
    hipGraphNodeTypeKernel = 0,
    hipGraphNodeTypeMemcpy = 1,
    hipGraphNodeTypeMemset = 2,
    hipGraphNodeTypeHost = 3,
    hipGraphNodeTypeGraph = 4,
    hipGraphNodeTypeEmpty = 5,
    hipGraphNodeTypeWaitEvent = 6,
    hipGraphNodeTypeEventRecord = 7,
    hipGraphNodeTypeExtSemaphoreSignal = 8,
    hipGraphNodeTypeExtSemaphoreWait = 9,
    hipGraphNodeTypeMemAlloc = 10,
    hipGraphNodeTypeMemFree = 11,
    hipGraphNodeTypeMemcpyFromSymbol = 12,
    hipGraphNodeTypeMemcpyToSymbol = 13,
    hipGraphNodeTypeBatchMemOp = 14,
    hipGraphNodeTypeCount = 15,
} hipGraphNodeType;

typedef enum hipGraphExecUpdateResult {
    hipGraphExecUpdateSuccess = 0,
    hipGraphExecUpdateError = 1,
    hipGraphExecUpdateErrorTopologyChanged = 2,
    hipGraphExecUpdateErrorNodeTypeChanged = 3,
    hipGraphExecUpdateErrorFunctionChanged = 4,
    hipGraphExecUpdateErrorParametersChanged = 5,
    hipGraphExecUpdateErrorNotSupported = 6,
    hipGraphExecUpdateErrorUnsupportedFunctionChange = 7,
} hipGraphExecUpdateResult;

typedef enum hipStreamUpdateCaptureDependenciesFlags {
    hipStreamAddCaptureDependencies = 0,
    hipStreamSetCaptureDependencies = 1,
} hipStreamUpdateCaptureDependenciesFlags;

typedef enum hipGraphMemAttributeType {
    hipGraphMemAttrUsedMemCurrent = 0,
    hipGraphMemAttrUsedMemHigh = 1,
    hipGraphMemAttrReservedMemCurrent = 2,
    hipGraphMemAttrReservedMemHigh = 3,
} hipGraphMemAttributeType;

typedef enum hipUserObjectFlags {
    hipUserObjectNoDestructorSync = 1,
} hipUserObjectFlags;

typedef enum hipUserObjectRetainFlags {
    hipGraphUserObjectMove = 1,
} hipUserObjectRetainFlags;

typedef enum hipGraphInstantiateFlags {
    hipGraphInstantiateFlagAutoFreeOnLaunch = 1,
    hipGraphInstantiateFlagUpload = 2,
    hipGraphInstantiateFlagDeviceLaunch = 4,
    hipGraphInstantiateFlagUseNodePriority = 8,
} hipGraphInstantiateFlags;

typedef enum hipGraphInstantiateResult {
    hipGraphInstantiateSuccess = 0,
    hipGraphInstantiateError = 1,
    hipGraphInstantiateInvalidStructure = 2,
    hipGraphInstantiateNodeOperationNotSupported = 3,
    hipGraphInstantiateMultipleDevicesNotSupported = 4,
} hipGraphInstantiateResult;

enum hipGraphDebugDotFlags {
    hipGraphDebugDotFlagsVerbose = 1 << 0,
    hipGraphDebugDotFlagsKernelNodeParams = 1 << 2,
    hipGraphDebugDotFlagsMemcpyNodeParams = 1 << 3,
    hipGraphDebugDotFlagsMemsetNodeParams = 1 << 4,
    hipGraphDebugDotFlagsHostNodeParams = 1 << 5,
    hipGraphDebugDotFlagsEventNodeParams = 1 << 6,
    hipGraphDebugDotFlagsExtSemasSignalNodeParams = 1 << 7,
    hipGraphDebugDotFlagsExtSemasWaitNodeParams = 1 << 8,
    hipGraphDebugDotFlagsKernelNodeAttributes = 1 << 9,
    hipGraphDebugDotFlagsHandles = 1 << 10,
};

#define hipGraphKernelNodePortDefault 0
#define hipGraphKernelNodePortProgrammatic 1
#define hipGraphKernelNodePortLaunchCompletion 2

typedef enum hipGraphDependencyType {
    hipGraphDependencyTypeDefault = 0,
    hipGraphDependencyTypeProgrammatic = 1,
} hipGraphDependencyType;

typedef struct hipGraphEdgeData {
    unsigned char from_port;
    unsigned char reserved[5];
    unsigned char to_port;
    unsigned char type;
} hipGraphEdgeData;

/* The attributes of a kernel node are those of a launch. */
#define hipKernelNodeAttrID hipLaunchAttributeID
#define hipKernelNodeAttrValue hipLaunchAttributeValue
#define hipKernelNodeAttributeAccessPolicyWindow hipLaunchAttributeAccessPolicyWindow
#define hipKernelNodeAttributeCooperative hipLaunchAttributeCooperative
#define hipKernelNodeAttributePriority hipLaunchAttributePriority

/* ---- Parameters of nodes ------------------------------------------------------------------------------- */

typedef struct hipKernelNodeParams {
    dim3 blockDim;
    void **extra;
    void *func;
    dim3 gridDim;
    void **kernelParams;
    unsigned int sharedMemBytes;
} hipKernelNodeParams;

typedef struct hipMemcpyNodeParams {
    int flags;
    int reserved[3];
    hipMemcpy3DParms copyParams;
} hipMemcpyNodeParams;

typedef struct hipMemsetParams {
    void *dst;
    unsigned int elementSize;
    size_t height;
    size_t pitch;
    unsigned int value;
    size_t width;
} hipMemsetParams;

typedef struct hipHostNodeParams {
    hipHostFn_t fn;
    void *userData;
} hipHostNodeParams;

typedef struct hipChildGraphNodeParams {
    hipGraph_t graph;
} hipChildGraphNodeParams;

typedef struct hipEventWaitNodeParams {
    hipEvent_t event;
} hipEventWaitNodeParams;

typedef struct hipEventRecordNodeParams {
    hipEvent_t event;
} hipEventRecordNodeParams;

typedef struct hipMemAllocNodeParams {
    hipMemPoolProps poolProps;
    const hipMemAccessDesc *accessDescs;
    size_t accessDescCount;
    size_t bytesize;
    void *dptr;
} hipMemAllocNodeParams;

typedef struct hipMemFreeNodeParams {
    void *dptr;
} hipMemFreeNodeParams;

typedef struct hipBatchMemOpNodeParams {
    hipCtx_t ctx;
    unsigned int count;
    hipStreamBatchMemOpParams *paramArray;
    unsigned int flags;
} hipBatchMemOpNodeParams;

typedef struct hipExternalSemaphoreSignalNodeParams {
    hipExternalSemaphore_t *extSemArray;
    const hipExternalSemaphoreSignalParams *paramsArray;
    unsigned int numExtSems;
} hipExternalSemaphoreSignalNodeParams;

typedef struct hipExternalSemaphoreWaitNodeParams {
    hipExternalSemaphore_t *extSemArray;
    const hipExternalSemaphoreWaitParams *paramsArray;
    unsigned int numExtSems;
} hipExternalSemaphoreWaitNodeParams;

typedef struct hipGraphNodeParams {
    hipGraphNodeType type;
    int reserved0[3];
    union {
        long long reserved1[29];
        hipKernelNodeParams kernel;
        hipMemcpyNodeParams memcpy;
        hipMemsetParams memset;
        hipHostNodeParams host;
        hipChildGraphNodeParams graph;
        hipEventWaitNodeParams eventWait;
        hipEventRecordNodeParams eventRecord;
        hipExternalSemaphoreSignalNodeParams extSemSignal;
        hipExternalSemaphoreWaitNodeParams extSemWait;
        hipMemAllocNodeParams alloc;
        hipMemFreeNodeParams free;
    };
    long long reserved2;
} hipGraphNodeParams;

typedef struct hipGraphInstantiateParams {
    hipGraphNode_t errNode_out;
    unsigned long long flags;
    hipGraphInstantiateResult result_out;
    hipStream_t uploadStream;
} hipGraphInstantiateParams;

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Graphs --------------------------------------------------------------------------------------------- */

hipError_t hipGraphCreate(hipGraph_t *pGraph, unsigned int flags);
hipError_t hipGraphDestroy(hipGraph_t graph);
hipError_t hipGraphAddDependencies(hipGraph_t graph, const hipGraphNode_t *from, const hipGraphNode_t *to,
    size_t numDependencies);
hipError_t hipGraphRemoveDependencies(hipGraph_t graph, const hipGraphNode_t *from, const hipGraphNode_t *to,
    size_t numDependencies);
hipError_t hipGraphGetEdges(hipGraph_t graph, hipGraphNode_t *from, hipGraphNode_t *to, size_t *numEdges);
hipError_t hipGraphGetNodes(hipGraph_t graph, hipGraphNode_t *nodes, size_t *numNodes);
hipError_t hipGraphGetRootNodes(hipGraph_t graph, hipGraphNode_t *pRootNodes, size_t *pNumRootNodes);
hipError_t hipGraphNodeGetDependencies(hipGraphNode_t node, hipGraphNode_t *pDependencies, size_t *pNumDependencies);
hipError_t hipGraphNodeGetDependentNodes(hipGraphNode_t node, hipGraphNode_t *pDependentNodes,
    size_t *pNumDependentNodes);
hipError_t hipGraphNodeGetType(hipGraphNode_t node, hipGraphNodeType *pType);
hipError_t hipGraphDestroyNode(hipGraphNode_t node);
hipError_t hipGraphClone(hipGraph_t *pGraphClone, hipGraph_t originalGraph);
hipError_t hipGraphNodeFindInClone(hipGraphNode_t *pNode, hipGraphNode_t originalNode, hipGraph_t clonedGraph);
hipError_t hipGraphDebugDotPrint(hipGraph_t graph, const char *path, unsigned int flags);

/* ---- Nodes ---------------------------------------------------------------------------------------------- */

hipError_t hipGraphAddBatchMemOpNode(hipGraphNode_t *phGraphNode, hipGraph_t hGraph,
    const hipGraphNode_t *dependencies, size_t numDependencies, const hipBatchMemOpNodeParams *nodeParams);
hipError_t hipGraphBatchMemOpNodeGetParams(hipGraphNode_t hNode, hipBatchMemOpNodeParams *nodeParams_out);
hipError_t hipGraphBatchMemOpNodeSetParams(hipGraphNode_t hNode, hipBatchMemOpNodeParams *nodeParams);
hipError_t hipGraphAddNode(hipGraphNode_t *pGraphNode, hipGraph_t graph, const hipGraphNode_t *pDependencies,
    size_t numDependencies, hipGraphNodeParams *nodeParams);
hipError_t hipGraphNodeSetParams(hipGraphNode_t node, hipGraphNodeParams *nodeParams);
hipError_t hipGraphAddKernelNode(hipGraphNode_t *pGraphNode, hipGraph_t graph, const hipGraphNode_t *pDependencies,
    size_t numDependencies, const hipKernelNodeParams *pNodeParams);
hipError_t hipGraphKernelNodeGetParams(hipGraphNode_t node, hipKernelNodeParams *pNodeParams);
hipError_t hipGraphKernelNodeSetParams(hipGraphNode_t node, const hipKernelNodeParams *pNodeParams);
hipError_t hipDrvGraphAddMemcpyNode(hipGraphNode_t *phGraphNode, hipGraph_t hGraph,
    const hipGraphNode_t *dependencies, size_t numDependencies, const HIP_MEMCPY3D *copyParams, hipCtx_t ctx);
hipError_t hipGraphAddMemcpyNode(hipGraphNode_t *pGraphNode, hipGraph_t graph, const hipGraphNode_t *pDependencies,
    size_t numDependencies, const hipMemcpy3DParms *pCopyParams);
hipError_t hipGraphMemcpyNodeGetParams(hipGraphNode_t node, hipMemcpy3DParms *pNodeParams);
hipError_t hipGraphMemcpyNodeSetParams(hipGraphNode_t node, const hipMemcpy3DParms *pNodeParams);
hipError_t hipGraphKernelNodeSetAttribute(hipGraphNode_t hNode, hipKernelNodeAttrID attr,
    const hipKernelNodeAttrValue *value);
hipError_t hipGraphKernelNodeGetAttribute(hipGraphNode_t hNode, hipKernelNodeAttrID attr,
    hipKernelNodeAttrValue *value);
hipError_t hipGraphAddMemcpyNode1D(hipGraphNode_t *pGraphNode, hipGraph_t graph, const hipGraphNode_t *pDependencies,
    size_t numDependencies, void *dst, const void *src, size_t count, hipMemcpyKind kind);
hipError_t hipGraphMemcpyNodeSetParams1D(hipGraphNode_t node, void *dst, const void *src, size_t count,
    hipMemcpyKind kind);
hipError_t hipGraphAddMemcpyNodeFromSymbol(hipGraphNode_t *pGraphNode, hipGraph_t graph,
    const hipGraphNode_t *pDependencies, size_t numDependencies, void *dst, const void *symbol, size_t count,
    size_t offset, hipMemcpyKind kind);
hipError_t hipGraphMemcpyNodeSetParamsFromSymbol(hipGraphNode_t node, void *dst, const void *symbol, size_t count,
    size_t offset, hipMemcpyKind kind);
hipError_t hipGraphAddMemcpyNodeToSymbol(hipGraphNode_t *pGraphNode, hipGraph_t graph,
    const hipGraphNode_t *pDependencies, size_t numDependencies, const void *symbol, const void *src, size_t count,
    size_t offset, hipMemcpyKind kind);
hipError_t hipGraphMemcpyNodeSetParamsToSymbol(hipGraphNode_t node, const void *symbol, const void *src, size_t count,
    size_t offset, hipMemcpyKind kind);
hipError_t hipGraphAddMemsetNode(hipGraphNode_t *pGraphNode, hipGraph_t graph, const hipGraphNode_t *pDependencies,
    size_t numDependencies, const hipMemsetParams *pMemsetParams);
hipError_t hipGraphMemsetNodeGetParams(hipGraphNode_t node, hipMemsetParams *pNodeParams);
hipError_t hipGraphMemsetNodeSetParams(hipGraphNode_t node, const hipMemsetParams *pNodeParams);
hipError_t hipGraphAddHostNode(hipGraphNode_t *pGraphNode, hipGraph_t graph, const hipGraphNode_t *pDependencies,
    size_t numDependencies, const hipHostNodeParams *pNodeParams);
hipError_t hipGraphHostNodeGetParams(hipGraphNode_t node, hipHostNodeParams *pNodeParams);
hipError_t hipGraphHostNodeSetParams(hipGraphNode_t node, const hipHostNodeParams *pNodeParams);
hipError_t hipGraphAddChildGraphNode(hipGraphNode_t *pGraphNode, hipGraph_t graph,
    const hipGraphNode_t *pDependencies, size_t numDependencies, hipGraph_t childGraph);
hipError_t hipGraphChildGraphNodeGetGraph(hipGraphNode_t node, hipGraph_t *pGraph);
hipError_t hipGraphAddEmptyNode(hipGraphNode_t *pGraphNode, hipGraph_t graph, const hipGraphNode_t *pDependencies,
    size_t numDependencies);
hipError_t hipGraphAddEventRecordNode(hipGraphNode_t *pGraphNode, hipGraph_t graph,
    const hipGraphNode_t *pDependencies, size_t numDependencies, hipEvent_t event);
hipError_t hipGraphEventRecordNodeGetEvent(hipGraphNode_t node, hipEvent_t *event_out);
hipError_t hipGraphEventRecordNodeSetEvent(hipGraphNode_t node, hipEvent_t event);
hipError_t hipGraphAddEventWaitNode(hipGraphNode_t *pGraphNode, hipGraph_t graph, const hipGraphNode_t *pDependencies,
    size_t numDependencies, hipEvent_t event);
hipError_t hipGraphEventWaitNodeGetEvent(hipGraphNode_t node, hipEvent_t *event_out);
hipError_t hipGraphEventWaitNodeSetEvent(hipGraphNode_t node, hipEvent_t event);
hipError_t hipGraphAddMemAllocNode(hipGraphNode_t *pGraphNode, hipGraph_t graph, const hipGraphNode_t *pDependencies,
    size_t numDependencies, hipMemAllocNodeParams *pNodeParams);
hipError_t hipGraphMemAllocNodeGetParams(hipGraphNode_t node, hipMemAllocNodeParams *pNodeParams);
hipError_t hipGraphAddMemFreeNode(hipGraphNode_t *pGraphNode, hipGraph_t graph, const hipGraphNode_t *pDependencies,
    size_t numDependencies, void *dev_ptr);
hipError_t hipGraphMemFreeNodeGetParams(hipGraphNode_t node, void *dev_ptr);
hipError_t hipGraphKernelNodeCopyAttributes(hipGraphNode_t hSrc, hipGraphNode_t hDst);
hipError_t hipGraphAddExternalSemaphoresWaitNode(hipGraphNode_t *pGraphNode, hipGraph_t graph,
    const hipGraphNode_t *pDependencies, size_t numDependencies,
    const hipExternalSemaphoreWaitNodeParams *nodeParams);
hipError_t hipGraphAddExternalSemaphoresSignalNode(hipGraphNode_t *pGraphNode, hipGraph_t graph,
    const hipGraphNode_t *pDependencies, size_t numDependencies,
    const hipExternalSemaphoreSignalNodeParams *nodeParams);
hipError_t hipGraphExternalSemaphoresSignalNodeSetParams(hipGraphNode_t hNode,
    const hipExternalSemaphoreSignalNodeParams *nodeParams);
hipError_t hipGraphExternalSemaphoresWaitNodeSetParams(hipGraphNode_t hNode,
    const hipExternalSemaphoreWaitNodeParams *nodeParams);
hipError_t hipGraphExternalSemaphoresSignalNodeGetParams(hipGraphNode_t hNode,
    hipExternalSemaphoreSignalNodeParams *params_out);
hipError_t hipGraphExternalSemaphoresWaitNodeGetParams(hipGraphNode_t hNode,
    hipExternalSemaphoreWaitNodeParams *params_out);
hipError_t hipDrvGraphMemcpyNodeGetParams(hipGraphNode_t hNode, HIP_MEMCPY3D *nodeParams);
hipError_t hipDrvGraphMemcpyNodeSetParams(hipGraphNode_t hNode, const HIP_MEMCPY3D *nodeParams);
hipError_t hipDrvGraphAddMemsetNode(hipGraphNode_t *phGraphNode, hipGraph_t hGraph,
    const hipGraphNode_t *dependencies, size_t numDependencies, const HIP_MEMSET_NODE_PARAMS *memsetParams,
    hipCtx_t ctx);
hipError_t hipDrvGraphAddMemFreeNode(hipGraphNode_t *phGraphNode, hipGraph_t hGraph,
    const hipGraphNode_t *dependencies, size_t numDependencies, hipDeviceptr_t dptr);

/* ---- Executable graphs ---------------------------------------------------------------------------------- */

hipError_t hipGraphExecBatchMemOpNodeSetParams(hipGraphExec_t hGraphExec, hipGraphNode_t hNode,
    const hipBatchMemOpNodeParams *nodeParams);
hipError_t hipGraphInstantiate(hipGraphExec_t *pGraphExec, hipGraph_t graph, hipGraphNode_t *pErrorNode,
    char *pLogBuffer, size_t bufferSize);
hipError_t hipGraphInstantiateWithFlags(hipGraphExec_t *pGraphExec, hipGraph_t graph, unsigned long long flags);
hipError_t hipGraphInstantiateWithParams(hipGraphExec_t *pGraphExec, hipGraph_t graph,
    hipGraphInstantiateParams *instantiateParams);
hipError_t hipGraphLaunch(hipGraphExec_t graphExec, hipStream_t stream);
hipError_t hipGraphUpload(hipGraphExec_t graphExec, hipStream_t stream);
hipError_t hipGraphExecGetFlags(hipGraphExec_t graphExec, unsigned long long *flags);
hipError_t hipGraphExecNodeSetParams(hipGraphExec_t graphExec, hipGraphNode_t node, hipGraphNodeParams *nodeParams);
hipError_t hipGraphExecDestroy(hipGraphExec_t graphExec);
hipError_t hipGraphExecUpdate(hipGraphExec_t hGraphExec, hipGraph_t hGraph, hipGraphNode_t *hErrorNode_out,
    hipGraphExecUpdateResult *updateResult_out);
hipError_t hipGraphExecKernelNodeSetParams(hipGraphExec_t hGraphExec, hipGraphNode_t node,
    const hipKernelNodeParams *pNodeParams);
hipError_t hipGraphExecMemcpyNodeSetParams(hipGraphExec_t hGraphExec, hipGraphNode_t node,
    hipMemcpy3DParms *pNodeParams);
hipError_t hipGraphExecMemcpyNodeSetParams1D(hipGraphExec_t hGraphExec, hipGraphNode_t node, void *dst,
    const void *src, size_t count, hipMemcpyKind kind);
hipError_t hipGraphExecMemcpyNodeSetParamsFromSymbol(hipGraphExec_t hGraphExec, hipGraphNode_t node, void *dst,
    const void *symbol, size_t count, size_t offset, hipMemcpyKind kind);
hipError_t hipGraphExecMemcpyNodeSetParamsToSymbol(hipGraphExec_t hGraphExec, hipGraphNode_t node, const void *symbol,
    const void *src, size_t count, size_t offset, hipMemcpyKind kind);
hipError_t hipGraphExecMemsetNodeSetParams(hipGraphExec_t hGraphExec, hipGraphNode_t node,
    const hipMemsetParams *pNodeParams);
hipError_t hipGraphExecHostNodeSetParams(hipGraphExec_t hGraphExec, hipGraphNode_t node,
    const hipHostNodeParams *pNodeParams);
hipError_t hipGraphExecChildGraphNodeSetParams(hipGraphExec_t hGraphExec, hipGraphNode_t node, hipGraph_t childGraph);
hipError_t hipGraphExecEventRecordNodeSetEvent(hipGraphExec_t hGraphExec, hipGraphNode_t hNode, hipEvent_t event);
hipError_t hipGraphExecEventWaitNodeSetEvent(hipGraphExec_t hGraphExec, hipGraphNode_t hNode, hipEvent_t event);
hipError_t hipGraphNodeSetEnabled(hipGraphExec_t hGraphExec, hipGraphNode_t hNode, unsigned int isEnabled);
hipError_t hipGraphNodeGetEnabled(hipGraphExec_t hGraphExec, hipGraphNode_t hNode, unsigned int *isEnabled);
hipError_t hipGraphExecExternalSemaphoresSignalNodeSetParams(hipGraphExec_t hGraphExec, hipGraphNode_t hNode,
    const hipExternalSemaphoreSignalNodeParams *nodeParams);
hipError_t hipGraphExecExternalSemaphoresWaitNodeSetParams(hipGraphExec_t hGraphExec, hipGraphNode_t hNode,
    const hipExternalSemaphoreWaitNodeParams *nodeParams);
hipError_t hipDrvGraphExecMemcpyNodeSetParams(hipGraphExec_t hGraphExec, hipGraphNode_t hNode,
    const HIP_MEMCPY3D *copyParams, hipCtx_t ctx);
hipError_t hipDrvGraphExecMemsetNodeSetParams(hipGraphExec_t hGraphExec, hipGraphNode_t hNode,
    const HIP_MEMSET_NODE_PARAMS *memsetParams, hipCtx_t ctx);
hipError_t hipGraphLaunch_spt(hipGraphExec_t graphExec, hipStream_t stream);

/* ---- User objects --------------------------------------------------------------------------------------- */

hipError_t hipUserObjectCreate(hipUserObject_t *object_out, void *ptr, hipHostFn_t destroy,
    unsigned int initialRefcount, unsigned int flags);
hipError_t hipUserObjectRelease(hipUserObject_t object, unsigned int count ANYWARP_HIP_DEFAULT(1));
hipError_t hipUserObjectRetain(hipUserObject_t object, unsigned int count ANYWARP_HIP_DEFAULT(1));
hipError_t hipGraphRetainUserObject(hipGraph_t graph, hipUserObject_t object,
    unsigned int count ANYWARP_HIP_DEFAULT(1), unsigned int flags ANYWARP_HIP_DEFAULT(0));
hipError_t hipGraphReleaseUserObject(hipGraph_t graph, hipUserObject_t object,
    unsigned int count ANYWARP_HIP_DEFAULT(1));

/* ---- Memory of graphs ----------------------------------------------------------------------------------- */

hipError_t hipDeviceGetGraphMemAttribute(int device, hipGraphMemAttributeType attr, void *value);
hipError_t hipDeviceSetGraphMemAttribute(int device, hipGraphMemAttributeType attr, void *value);
hipError_t hipDeviceGraphMemTrim(int device);

/* ---- Stream capture ------------------------------------------------------------------------------------- */

hipError_t hipStreamBeginCapture(hipStream_t stream, hipStreamCaptureMode mode);
hipError_t hipStreamBeginCaptureToGraph(hipStream_t stream, hipGraph_t graph, const hipGraphNode_t *dependencies,
    const hipGraphEdgeData *dependencyData, size_t numDependencies, hipStreamCaptureMode mode);
hipError_t hipStreamEndCapture(hipStream_t stream, hipGraph_t *pGraph);
hipError_t hipStreamGetCaptureInfo(hipStream_t stream, hipStreamCaptureStatus *pCaptureStatus,
    unsigned long long *pId);
hipError_t hipStreamGetCaptureInfo_v2(hipStream_t stream, hipStreamCaptureStatus *captureStatus_out,
    unsigned long long *id_out ANYWARP_HIP_DEFAULT(0), hipGraph_t *graph_out ANYWARP_HIP_DEFAULT(0),
    const hipGraphNode_t **dependencies_out ANYWARP_HIP_DEFAULT(0),
    size_t *numDependencies_out ANYWARP_HIP_DEFAULT(0));
hipError_t hipStreamUpdateCaptureDependencies(hipStream_t stream, hipGraphNode_t *dependencies,
    size_t numDependencies, unsigned int flags ANYWARP_HIP_DEFAULT(0));
hipError_t hipStreamBeginCapture_spt(hipStream_t stream, hipStreamCaptureMode mode);
hipError_t hipStreamEndCapture_spt(hipStream_t stream, hipGraph_t *pGraph);
hipError_t hipStreamGetCaptureInfo_spt(hipStream_t stream, hipStreamCaptureStatus *pCaptureStatus,
    unsigned long long *pId);
hipError_t hipStreamGetCaptureInfo_v2_spt(hipStream_t stream, hipStreamCaptureStatus *captureStatus_out,
    unsigned long long *id_out ANYWARP_HIP_DEFAULT(0), hipGraph_t *graph_out ANYWARP_HIP_DEFAULT(0),
    const hipGraphNode_t **dependencies_out ANYWARP_HIP_DEFAULT(0),
    size_t *numDependencies_out ANYWARP_HIP_DEFAULT(0));

#ifdef __cplusplus
}
#endif

/* ---- Parameters of fills in HIP 7 ----------------------------------------------------------------------- */

/*
 * hipDrvGraphAddMemsetNode and hipDrvGraphExecMemsetNodeSetParams take HIP_MEMSET_NODE_PARAMS in HIP 6 and
 * hipMemsetParams from HIP 7.0 on, which has the same members in another order. Sources for either release
 * compile: these forms take hipMemsetParams as this header lays it out.
 */
#ifdef __cplusplus
/* A class, so that a null pointer is passed to the function above. */
class anywarpMemsetParams {
  public:
    anywarpMemsetParams(const hipMemsetParams *params) : value(), known(params != 0) {
        if (!known) return;
        HIP_MEMSET_NODE_PARAMS copy = {
            (hipDeviceptr_t)params->dst, params->pitch, params->value, params->elementSize, params->width,
            params->height};
        value = copy;
    }
    const HIP_MEMSET_NODE_PARAMS *get() const { return known ? &value : 0; }

  private:
    HIP_MEMSET_NODE_PARAMS value;
    bool known;
};

static inline hipError_t hipDrvGraphAddMemsetNode(hipGraphNode_t *phGraphNode, hipGraph_t hGraph,
    const hipGraphNode_t *dependencies, size_t numDependencies, anywarpMemsetParams memsetParams,
    hipCtx_t ctx) {
    return hipDrvGraphAddMemsetNode(phGraphNode, hGraph, dependencies, numDependencies, memsetParams.get(), ctx);
}
static inline hipError_t hipDrvGraphExecMemsetNodeSetParams(hipGraphExec_t hGraphExec, hipGraphNode_t hNode,
    anywarpMemsetParams memsetParams, hipCtx_t ctx) {
    return hipDrvGraphExecMemsetNodeSetParams(hGraphExec, hNode, memsetParams.get(), ctx);
}
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
static inline HIP_MEMSET_NODE_PARAMS anywarpMemsetParams(const hipMemsetParams *params) {
    HIP_MEMSET_NODE_PARAMS copy = {
        (hipDeviceptr_t)params->dst, params->pitch, params->value, params->elementSize, params->width,
        params->height};
    return copy;
}
static inline hipError_t anywarpGraphAddMemsetNode(hipGraphNode_t *phGraphNode, hipGraph_t hGraph,
    const hipGraphNode_t *dependencies, size_t numDependencies, const hipMemsetParams *memsetParams,
    hipCtx_t ctx) {
    if (!memsetParams) return hipErrorInvalidValue;
    HIP_MEMSET_NODE_PARAMS copy = anywarpMemsetParams(memsetParams);
    return hipDrvGraphAddMemsetNode(phGraphNode, hGraph, dependencies, numDependencies, &copy, ctx);
}
static inline hipError_t anywarpGraphExecMemsetNodeSetParams(hipGraphExec_t hGraphExec, hipGraphNode_t hNode,
    const hipMemsetParams *memsetParams, hipCtx_t ctx) {
    if (!memsetParams) return hipErrorInvalidValue;
    HIP_MEMSET_NODE_PARAMS copy = anywarpMemsetParams(memsetParams);
    return hipDrvGraphExecMemsetNodeSetParams(hGraphExec, hNode, &copy, ctx);
}
#define hipDrvGraphAddMemsetNode(phGraphNode, hGraph, dependencies, numDependencies, memsetParams, ctx) \
    _Generic((memsetParams), hipMemsetParams *: anywarpGraphAddMemsetNode, \
        const hipMemsetParams *: anywarpGraphAddMemsetNode, default: hipDrvGraphAddMemsetNode)( \
        phGraphNode, hGraph, dependencies, numDependencies, memsetParams, ctx)
#define hipDrvGraphExecMemsetNodeSetParams(hGraphExec, hNode, memsetParams, ctx) \
    _Generic((memsetParams), hipMemsetParams *: anywarpGraphExecMemsetNodeSetParams, \
        const hipMemsetParams *: anywarpGraphExecMemsetNodeSetParams, \
        default: hipDrvGraphExecMemsetNodeSetParams)(hGraphExec, hNode, memsetParams, ctx)
#endif

#undef ANYWARP_HIP_DEFAULT

#endif

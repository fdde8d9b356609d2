/*
 * Anywarp's declaration of the CUDA runtime: copies in batches, and the functions of 13.1 and 13.2. It is
 * included by `cuda_runtime_api.h`.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef ANYWARP_CUDA_RUNTIME_SINCE_13_1_H
#define ANYWARP_CUDA_RUNTIME_SINCE_13_1_H

#include <driver_types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Copies in batches ---------------------------------------------------------------------------------- */

enum cudaMemcpyFlags {
    cudaMemcpyFlagDefault = 0x0,
    cudaMemcpyFlagPreferOverlapWithCompute = 0x1
};
enum cudaMemcpySrcAccessOrder {
    cudaMemcpySrcAccessOrderInvalid = 0,
    cudaMemcpySrcAccessOrderStream = 1,
    cudaMemcpySrcAccessOrderDuringApiCall = 2,
    cudaMemcpySrcAccessOrderAny = 3
};
struct cudaMemcpyAttributes {
    enum cudaMemcpySrcAccessOrder srcAccessOrder;
    struct cudaMemLocation srcLocHint;
    struct cudaMemLocation dstLocHint;
    unsigned int flags;
};
enum cudaMemcpy3DOperandType {
    cudaMemcpyOperandTypePointer = 1,
    cudaMemcpyOperandTypeArray = 2
};
struct cudaOffset3D {
    size_t x;
    size_t y;
    size_t z;
};
struct cudaMemcpy3DOperand {
    enum cudaMemcpy3DOperandType type;
    union {
        struct {
            void *ptr;
            size_t rowLength;
            size_t layerHeight;
            struct cudaMemLocation locHint;
        } ptr;
        struct {
            cudaArray_t array;
            struct cudaOffset3D offset;
        } array;
    } op;
};
struct cudaMemcpy3DBatchOp {
    struct cudaMemcpy3DOperand src;
    struct cudaMemcpy3DOperand dst;
    struct cudaExtent extent;
    enum cudaMemcpySrcAccessOrder srcAccessOrder;
    unsigned int flags;
};

cudaError_t cudaMemcpyBatchAsync(void *const *to, const void *const *from, const size_t *sizes, size_t count,
                                 struct cudaMemcpyAttributes *attributes, size_t *firsts, size_t attributeCount,
                                 cudaStream_t stream);
cudaError_t cudaMemcpy3DBatchAsync(size_t count, struct cudaMemcpy3DBatchOp *list, unsigned long long flags,
                                   cudaStream_t stream);
cudaError_t cudaMemcpyWithAttributesAsync(void *to, const void *from, size_t size,
                                          struct cudaMemcpyAttributes *attributes, cudaStream_t stream);
cudaError_t cudaMemcpy3DWithAttributesAsync(struct cudaMemcpy3DBatchOp *copy, unsigned long long flags,
                                            cudaStream_t stream);
cudaError_t cudaMemPrefetchBatchAsync(void **pointers, size_t *sizes, size_t count, struct cudaMemLocation *locations,
                                      size_t *firsts, size_t locationCount, unsigned long long flags,
                                      cudaStream_t stream);
cudaError_t cudaMemDiscardBatchAsync(void **pointers, size_t *sizes, size_t count, unsigned long long flags,
                                     cudaStream_t stream);
cudaError_t cudaMemDiscardAndPrefetchBatchAsync(void **pointers, size_t *sizes, size_t count,
                                                struct cudaMemLocation *locations, size_t *firsts,
                                                size_t locationCount, unsigned long long flags, cudaStream_t stream);

/* ---- Green contexts ------------------------------------------------------------------------------------- */

typedef struct CUdevResourceDesc_st *cudaDevResourceDesc_t;
typedef struct cudaExecutionContext_st *cudaExecutionContext_t;

enum cudaDevResourceType {
    cudaDevResourceTypeInvalid = 0,
    cudaDevResourceTypeSm = 1,
    cudaDevResourceTypeWorkqueueConfig = 1000,
    cudaDevResourceTypeWorkqueue = 10000
};
enum cudaDevSmResourceGroup_flags {
    cudaDevSmResourceGroupDefault = 0,
    cudaDevSmResourceGroupBackfill = 1
};
enum cudaDevSmResourceSplitByCount_flags {
    cudaDevSmResourceSplitIgnoreSmCoscheduling = 1,
    cudaDevSmResourceSplitMaxPotentialClusterSize = 2
};
enum cudaDevWorkqueueConfigScope {
    cudaDevWorkqueueConfigScopeDeviceCtx = 0,
    cudaDevWorkqueueConfigScopeGreenCtxBalanced = 1
};
struct cudaDevSmResource {
    unsigned int smCount;
    unsigned int minSmPartitionSize;
    unsigned int smCoscheduledAlignment;
    unsigned int flags;
};
struct cudaDevWorkqueueConfigResource {
    int device;
    unsigned int wqConcurrencyLimit;
    enum cudaDevWorkqueueConfigScope sharingScope;
};
struct cudaDevWorkqueueResource {
    unsigned char reserved[40];
};
typedef struct cudaDevSmResourceGroupParams_st {
    unsigned int smCount;
    unsigned int coscheduledSmCount;
    unsigned int preferredCoscheduledSmCount;
    unsigned int flags;
    unsigned int reserved[12];
} cudaDevSmResourceGroupParams;
typedef struct cudaDevResource_st {
    enum cudaDevResourceType type;
    unsigned char pad[92];
    union {
        struct cudaDevSmResource sm;
        struct cudaDevWorkqueueConfigResource wqConfig;
        struct cudaDevWorkqueueResource wq;
        unsigned char bytes[40];
    };
    struct cudaDevResource_st *nextResource;
} cudaDevResource;

cudaError_t cudaDeviceGetDevResource(int device, cudaDevResource *resource, enum cudaDevResourceType type);
cudaError_t cudaDevSmResourceSplitByCount(cudaDevResource *parts, unsigned int *count, const cudaDevResource *whole,
                                          cudaDevResource *rest, unsigned int flags, unsigned int least);
cudaError_t cudaDevSmResourceSplit(cudaDevResource *parts, unsigned int count, const cudaDevResource *whole,
                                   cudaDevResource *rest, unsigned int flags, cudaDevSmResourceGroupParams *params);
cudaError_t cudaDevResourceGenerateDesc(cudaDevResourceDesc_t *description, cudaDevResource *resources,
                                        unsigned int count);
cudaError_t cudaGreenCtxCreate(cudaExecutionContext_t *context, cudaDevResourceDesc_t description, int device,
                               unsigned int flags);
cudaError_t cudaDeviceGetExecutionCtx(cudaExecutionContext_t *context, int device);
cudaError_t cudaExecutionCtxDestroy(cudaExecutionContext_t context);
cudaError_t cudaExecutionCtxGetDevResource(cudaExecutionContext_t context, cudaDevResource *resource,
                                           enum cudaDevResourceType type);
cudaError_t cudaExecutionCtxGetDevice(int *device, cudaExecutionContext_t context);
cudaError_t cudaExecutionCtxGetId(cudaExecutionContext_t context, unsigned long long *id);
cudaError_t cudaExecutionCtxStreamCreate(cudaStream_t *stream, cudaExecutionContext_t context, unsigned int flags,
                                         int priority);
cudaError_t cudaExecutionCtxSynchronize(cudaExecutionContext_t context);
cudaError_t cudaExecutionCtxRecordEvent(cudaExecutionContext_t context, cudaEvent_t event);
cudaError_t cudaExecutionCtxWaitEvent(cudaExecutionContext_t context, cudaEvent_t event);
cudaError_t cudaStreamGetDevResource(cudaStream_t stream, cudaDevResource *resource, enum cudaDevResourceType type);

/* ---- Graphs and launches -------------------------------------------------------------------------------- */

enum cudaHostTaskSyncMode {
    cudaHostTaskBlocking = 0,
    cudaHostTaskSpinWait = 1
};

cudaError_t cudaLaunchHostFunc_v2(cudaStream_t stream, cudaHostFn_t function, void *data, unsigned int mode);
cudaError_t cudaFuncGetParamCount(const void *function, size_t *count);
cudaError_t cudaGraphConditionalHandleCreate_v2(cudaGraphConditionalHandle *handle, cudaGraph_t graph,
                                                cudaExecutionContext_t context ANYWARP_DEFAULT(0),
                                                unsigned int value ANYWARP_DEFAULT(0),
                                                unsigned int flags ANYWARP_DEFAULT(0));
cudaError_t cudaGraphGetId(cudaGraph_t graph, unsigned int *id);
cudaError_t cudaGraphExecGetId(cudaGraphExec_t exec, unsigned int *id);
cudaError_t cudaGraphNodeGetContainingGraph(cudaGraphNode_t node, cudaGraph_t *graph);
cudaError_t cudaGraphNodeGetLocalId(cudaGraphNode_t node, unsigned int *id);
cudaError_t cudaGraphNodeGetToolsId(cudaGraphNode_t node, unsigned long long *id);
cudaError_t cudaGraphNodeGetParams(cudaGraphNode_t node, struct cudaGraphNodeParams *params);

#ifdef __cplusplus
}
#endif

#endif

//! Graphs: what does not name a function, a variable or a copy.

use crate::forward;

forward! {
    Driver fn cudaGraphCreate(out: u64, flags: u32) = cuGraphCreate;
    Driver fn cudaGraphDestroy(graph: u64) = cuGraphDestroy;
    Driver fn cudaGraphClone(out: u64, graph: u64) = cuGraphClone;
    Driver fn cudaGraphDebugDotPrint(graph: u64, path: u64, flags: u32) = cuGraphDebugDotPrint;
    Driver fn cudaGraphGetNodes(graph: u64, nodes: u64, count: u64) = cuGraphGetNodes;
    Driver fn cudaGraphGetRootNodes(graph: u64, nodes: u64, count: u64) = cuGraphGetRootNodes;
    Driver fn cudaGraphGetEdges(graph: u64, from: u64, to: u64, edges: u64, count: u64) = cuGraphGetEdges_v2;
    Driver fn cudaGraphGetEdges_v2(graph: u64, from: u64, to: u64, edges: u64, count: u64)
        = cuGraphGetEdges_v2;
    Driver fn cudaGraphGetEdges_in_12(graph: u64, from: u64, to: u64, count: u64) = cuGraphGetEdges;
    Driver fn cudaGraphAddDependencies(graph: u64, from: u64, to: u64, edges: u64, count: u64)
        = cuGraphAddDependencies_v2;
    Driver fn cudaGraphAddDependencies_v2(graph: u64, from: u64, to: u64, edges: u64, count: u64)
        = cuGraphAddDependencies_v2;
    Driver fn cudaGraphAddDependencies_in_12(graph: u64, from: u64, to: u64, count: u64)
        = cuGraphAddDependencies;
    Driver fn cudaGraphRemoveDependencies(graph: u64, from: u64, to: u64, edges: u64, count: u64)
        = cuGraphRemoveDependencies_v2;
    Driver fn cudaGraphRemoveDependencies_v2(graph: u64, from: u64, to: u64, edges: u64, count: u64)
        = cuGraphRemoveDependencies_v2;
    Driver fn cudaGraphRemoveDependencies_in_12(graph: u64, from: u64, to: u64, count: u64)
        = cuGraphRemoveDependencies;
    Driver fn cudaGraphNodeGetDependencies(node: u64, nodes: u64, edges: u64, count: u64)
        = cuGraphNodeGetDependencies_v2;
    Driver fn cudaGraphNodeGetDependencies_v2(node: u64, nodes: u64, edges: u64, count: u64)
        = cuGraphNodeGetDependencies_v2;
    Driver fn cudaGraphNodeGetDependencies_in_12(node: u64, nodes: u64, count: u64)
        = cuGraphNodeGetDependencies;
    Driver fn cudaGraphNodeGetDependentNodes(node: u64, nodes: u64, edges: u64, count: u64)
        = cuGraphNodeGetDependentNodes_v2;
    Driver fn cudaGraphNodeGetDependentNodes_v2(node: u64, nodes: u64, edges: u64, count: u64)
        = cuGraphNodeGetDependentNodes_v2;
    Driver fn cudaGraphNodeGetDependentNodes_in_12(node: u64, nodes: u64, count: u64)
        = cuGraphNodeGetDependentNodes;
    Driver fn cudaGraphNodeGetType(node: u64, kind: u64) = cuGraphNodeGetType;
    Driver fn cudaGraphGetId(graph: u64, id: u64) = cuGraphGetId;
    Driver fn cudaGraphExecGetId(exec: u64, id: u64) = cuGraphExecGetId;
    Driver fn cudaGraphNodeGetContainingGraph(node: u64, graph: u64) = cuGraphNodeGetContainingGraph;
    Driver fn cudaGraphNodeGetLocalId(node: u64, id: u64) = cuGraphNodeGetLocalId;
    Driver fn cudaGraphNodeGetToolsId(node: u64, id: u64) = cuGraphNodeGetToolsId;
    Driver fn cudaGraphNodeFindInClone(out: u64, node: u64, graph: u64) = cuGraphNodeFindInClone;
    Driver fn cudaGraphNodeGetEnabled(exec: u64, node: u64, enabled: u64) = cuGraphNodeGetEnabled;
    Driver fn cudaGraphNodeSetEnabled(exec: u64, node: u64, enabled: u32) = cuGraphNodeSetEnabled;
    Driver fn cudaGraphDestroyNode(node: u64) = cuGraphDestroyNode;

    Context fn cudaGraphAddEmptyNode(out: u64, graph: u64, after: u64, count: u64) = cuGraphAddEmptyNode;
    Context fn cudaGraphAddChildGraphNode(out: u64, graph: u64, after: u64, count: u64, child: u64)
        = cuGraphAddChildGraphNode;
    Driver fn cudaGraphChildGraphNodeGetGraph(node: u64, graph: u64) = cuGraphChildGraphNodeGetGraph;
    Context fn cudaGraphAddHostNode(out: u64, graph: u64, after: u64, count: u64, params: u64)
        = cuGraphAddHostNode;
    Driver fn cudaGraphHostNodeGetParams(node: u64, params: u64) = cuGraphHostNodeGetParams;
    Driver fn cudaGraphHostNodeSetParams(node: u64, params: u64) = cuGraphHostNodeSetParams;
    Context fn cudaGraphAddEventRecordNode(out: u64, graph: u64, after: u64, count: u64, event: u64)
        = cuGraphAddEventRecordNode;
    Driver fn cudaGraphEventRecordNodeGetEvent(node: u64, event: u64) = cuGraphEventRecordNodeGetEvent;
    Driver fn cudaGraphEventRecordNodeSetEvent(node: u64, event: u64) = cuGraphEventRecordNodeSetEvent;
    Context fn cudaGraphAddEventWaitNode(out: u64, graph: u64, after: u64, count: u64, event: u64)
        = cuGraphAddEventWaitNode;
    Driver fn cudaGraphEventWaitNodeGetEvent(node: u64, event: u64) = cuGraphEventWaitNodeGetEvent;
    Driver fn cudaGraphEventWaitNodeSetEvent(node: u64, event: u64) = cuGraphEventWaitNodeSetEvent;
    Context fn cudaGraphAddExternalSemaphoresSignalNode(
        out: u64, graph: u64, after: u64, count: u64, params: u64
    ) = cuGraphAddExternalSemaphoresSignalNode;
    Driver fn cudaGraphExternalSemaphoresSignalNodeGetParams(node: u64, params: u64)
        = cuGraphExternalSemaphoresSignalNodeGetParams;
    Driver fn cudaGraphExternalSemaphoresSignalNodeSetParams(node: u64, params: u64)
        = cuGraphExternalSemaphoresSignalNodeSetParams;
    Context fn cudaGraphAddExternalSemaphoresWaitNode(
        out: u64, graph: u64, after: u64, count: u64, params: u64
    ) = cuGraphAddExternalSemaphoresWaitNode;
    Driver fn cudaGraphExternalSemaphoresWaitNodeGetParams(node: u64, params: u64)
        = cuGraphExternalSemaphoresWaitNodeGetParams;
    Driver fn cudaGraphExternalSemaphoresWaitNodeSetParams(node: u64, params: u64)
        = cuGraphExternalSemaphoresWaitNodeSetParams;
    Context fn cudaGraphAddMemAllocNode(out: u64, graph: u64, after: u64, count: u64, params: u64)
        = cuGraphAddMemAllocNode;
    Driver fn cudaGraphMemAllocNodeGetParams(node: u64, params: u64) = cuGraphMemAllocNodeGetParams;
    Context fn cudaGraphAddMemFreeNode(out: u64, graph: u64, after: u64, count: u64, address: u64)
        = cuGraphAddMemFreeNode;
    Driver fn cudaGraphMemFreeNodeGetParams(node: u64, address: u64) = cuGraphMemFreeNodeGetParams;
    Driver fn cudaGraphKernelNodeCopyAttributes(to: u64, from: u64) = cuGraphKernelNodeCopyAttributes;
    Driver fn cudaGraphKernelNodeGetAttribute(node: u64, number: u32, value: u64)
        = cuGraphKernelNodeGetAttribute;
    Driver fn cudaGraphKernelNodeSetAttribute(node: u64, number: u32, value: u64)
        = cuGraphKernelNodeSetAttribute;

    Context fn cudaGraphInstantiate(out: u64, graph: u64, flags: u64) = cuGraphInstantiateWithFlags;
    Context fn cudaGraphInstantiate_in_11(out: u64, graph: u64, failed: u64, log: u64, size: u64)
        = cuGraphInstantiate_v2;
    Context fn cudaGraphInstantiateWithFlags(out: u64, graph: u64, flags: u64) = cuGraphInstantiateWithFlags;
    Context fn cudaGraphInstantiateWithParams / cudaGraphInstantiateWithParams_ptsz (
        out: u64, graph: u64, params: u64
    ) = cuGraphInstantiateWithParams / cuGraphInstantiateWithParams_ptsz;
    Context fn cudaGraphLaunch / cudaGraphLaunch_ptsz (exec: u64, stream: u64)
        = cuGraphLaunch / cuGraphLaunch_ptsz;
    Context fn cudaGraphUpload / cudaGraphUpload_ptsz (exec: u64, stream: u64)
        = cuGraphUpload / cuGraphUpload_ptsz;
    Driver fn cudaGraphExecDestroy(exec: u64) = cuGraphExecDestroy;
    Driver fn cudaGraphExecGetFlags(exec: u64, flags: u64) = cuGraphExecGetFlags;
    Context fn cudaGraphExecUpdate(exec: u64, graph: u64, result: u64) = cuGraphExecUpdate_v2;
    Context fn cudaGraphExecUpdate_in_11(exec: u64, graph: u64, failed: u64, result: u64) = cuGraphExecUpdate;
    Context fn cudaGraphExecChildGraphNodeSetParams(exec: u64, node: u64, child: u64)
        = cuGraphExecChildGraphNodeSetParams;
    Context fn cudaGraphExecHostNodeSetParams(exec: u64, node: u64, params: u64)
        = cuGraphExecHostNodeSetParams;
    Context fn cudaGraphExecEventRecordNodeSetEvent(exec: u64, node: u64, event: u64)
        = cuGraphExecEventRecordNodeSetEvent;
    Context fn cudaGraphExecEventWaitNodeSetEvent(exec: u64, node: u64, event: u64)
        = cuGraphExecEventWaitNodeSetEvent;
    Context fn cudaGraphExecExternalSemaphoresSignalNodeSetParams(exec: u64, node: u64, params: u64)
        = cuGraphExecExternalSemaphoresSignalNodeSetParams;
    Context fn cudaGraphExecExternalSemaphoresWaitNodeSetParams(exec: u64, node: u64, params: u64)
        = cuGraphExecExternalSemaphoresWaitNodeSetParams;

    Driver fn cudaUserObjectCreate(out: u64, pointer: u64, destroy: u64, count: u32, flags: u32)
        = cuUserObjectCreate;
    Driver fn cudaUserObjectRetain(object: u64, count: u32) = cuUserObjectRetain;
    Driver fn cudaUserObjectRelease(object: u64, count: u32) = cuUserObjectRelease;
    Driver fn cudaGraphRetainUserObject(graph: u64, object: u64, count: u32, flags: u32)
        = cuGraphRetainUserObject;
    Driver fn cudaGraphReleaseUserObject(graph: u64, object: u64, count: u32) = cuGraphReleaseUserObject;
    Driver fn cudaDeviceGraphMemTrim(device: i32) = cuDeviceGraphMemTrim;
    Driver fn cudaDeviceGetGraphMemAttribute(device: i32, number: u32, value: u64)
        = cuDeviceGetGraphMemAttribute;
    Driver fn cudaDeviceSetGraphMemAttribute(device: i32, number: u32, value: u64)
        = cuDeviceSetGraphMemAttribute;
}

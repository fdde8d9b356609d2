/* The parameters of fills that drivers of HIP 6 and of HIP 7 take; the header accepts both. */
#include <hip/hip_runtime_api.h>
int main(void) {
    hipGraph_t g = 0;
    hipGraphNode_t n = 0;
    hipCtx_t c = 0;
    hipGraphExec_t e = 0;
    static hipMemsetParams mp;
    const hipMemsetParams *fixed = &mp;
    static HIP_MEMSET_NODE_PARAMS old;
    hipDrvGraphAddMemsetNode(&n, g, NULL, 0, &mp, c);
    hipDrvGraphAddMemsetNode(&n, g, NULL, 0, fixed, c);
    hipDrvGraphAddMemsetNode(&n, g, NULL, 0, &old, c);
    hipDrvGraphAddMemsetNode(&n, g, NULL, 0, NULL, c);
    hipDrvGraphExecMemsetNodeSetParams(e, n, fixed, c);
    hipDrvGraphExecMemsetNodeSetParams(e, n, &old, c);
    return 0;
}

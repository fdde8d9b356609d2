/* cuGetProcAddress: statuses; with a file of names, the complete table of symbols by name and version. */
#include "probe.h"

static void ask(const char *name, const char *symbol, int version, cuuint64_t flags)
{
    void *f = (void *)1;
    CUdriverProcAddressQueryResult q = 99;
    T(name, cuGetProcAddress, symbol, &f, version, flags, &q);
    V(N("%s.v", name), "%s query=%d", f == (void *)1 ? "untouched" : f ? "found" : "null", (int)q);
}

void group_procaddr(void)
{
    void *f = NULL;
    CUdriverProcAddressQueryResult q = 99;
    R(cuInit, 0);
    ask("init", "cuInit", 13000, 0);
    ask("alloc.2000", "cuMemAlloc", 2000, 0);
    ask("alloc.3010", "cuMemAlloc", 3010, 0);
    ask("alloc.3020", "cuMemAlloc", 3020, 0);
    ask("alloc.12000", "cuMemAlloc", 12000, 0);
    ask("alloc.1999", "cuMemAlloc", 1999, 0);
    ask("alloc.0", "cuMemAlloc", 0, 0);
    ask("alloc.neg", "cuMemAlloc", -1, 0);
    ask("alloc.future", "cuMemAlloc", 99000, 0);
    ask("suffixed", "cuMemAlloc_v2", 12000, 0);
    ask("suffixed.ptsz", "cuStreamQuery_ptsz", 12000, 0);
    ask("missing", "cuNoSuchFunction", 12000, 0);
    ask("notcu", "malloc", 12000, 0);
    ask("empty", "", 12000, 0);
    ask("newer", "cuLaunchKernelEx", 11000, 0);
    ask("newer.right", "cuLaunchKernelEx", 11060, 0);
    ask("flags3", "cuMemcpyHtoD", 12000, 3);
    ask("flags4", "cuMemcpyHtoD", 12000, 4);
    ask("flags.legacy", "cuMemcpyHtoD", 12000, CU_GET_PROC_ADDRESS_LEGACY_STREAM);
    ask("flags.perthread", "cuMemcpyHtoD", 12000, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM);
    ask("self", "cuGetProcAddress", 12000, 0);
    ask("self.11030", "cuGetProcAddress", 11030, 0);
    ask("case", "cumemalloc", 12000, 0);
    T("nullname", cuGetProcAddress, NULL, &f, 12000, 0, &q);
    T("nullout", cuGetProcAddress, "cuInit", NULL, 12000, 0, &q);
    T("nullquery", cuGetProcAddress, "cuInit", &f, 12000, 0, NULL);
    T("nullquery.missing", cuGetProcAddress, "cuNoSuchFunction", &f, 12000, 0, NULL);
    CUresult (*v1)(const char *, void **, int, cuuint64_t) = (CUresult(*)(const char *, void **, int, cuuint64_t))S("cuGetProcAddress");
    if (v1) {
        begin("v1");
        report(v1("cuInit", &f, 12000, 0));
        f = (void *)1;
        begin("v1.missing");
        report(v1("cuNoSuchFunction", &f, 12000, 0));
        V("v1.missing.v", "%s", f == (void *)1 ? "untouched" : f ? "found" : "null");
        begin("v1.newer");
        report(v1("cuLaunchKernelEx", &f, 11000, 0));
    }
}

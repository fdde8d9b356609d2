/* The log of errors, core dumps' settings, notifications, the profiler. */
#include "words.h"
#include <stdbool.h>
#include <unistd.h>

static int logged, logged_level;
static char logged_text[512];

static void CUDA_CB on_log(void *data, CUlogLevel level, char *message, size_t length)
{
    logged += (int)(intptr_t)data;
    logged_level = (int)level;
    snprintf(logged_text, sizeof logged_text, "%.*s", (int)length, message);
}

static void clean(char *text)
{
    for (; *text; text++)
        if (*text == '\n')
            *text = '|';
}

void group_logs(void)
{
    static char buffer[32768];
    CUlogsCallbackHandle h = NULL, h2 = NULL;
    CUlogIterator at = 77, start = 0;
    size_t size = sizeof buffer;
    CUdeviceptr p = 0;
    setup();
    for (unsigned flags = 0; flags <= 2; flags++)
        T(N("current.%u", flags), cuLogsCurrent, &at, flags);
    T("current.null", cuLogsCurrent, NULL, 0);
    R(cuLogsCurrent, &start, 0);
    T("dump.none", cuLogsDumpToMemory, &start, buffer, &size, 0);
    V("dump.none.v", "%zu", size);
    T("register", cuLogsRegisterCallback, on_log, (void *)1, &h);
    V("register.v", "%d", h != NULL);
    T("register.second", cuLogsRegisterCallback, on_log, (void *)100, &h2);
    V("register.second.v", "%d", h != h2);
    T("register.null", cuLogsRegisterCallback, NULL, NULL, &h2);
    T("register.nullout", cuLogsRegisterCallback, on_log, NULL, NULL);
    /* Errors of some kinds, each with what the callbacks saw. */
    for (int i = 0; i < 12; i++) {
        CUmodule m = NULL;
        CUfunction f = NULL;
        CUstream s = NULL;
        logged = 0;
        logged_level = -1;
        logged_text[0] = 0;
        switch (i) {
        case 0: R(cuMemAlloc, &p, 0); break;
        case 1: R(cuMemAlloc, NULL, 16); break;
        case 2: R(cuMemFree, 0x1230); break;
        case 3: R(cuModuleLoadData, &m, "junk"); break;
        case 4: R(cuModuleLoadData, &m, ptx_bad_syntax); break;
        case 5: R(cuStreamCreate, &s, 99); break;
        case 6: R(cuMemAlloc, &p, (size_t)1 << 60); break;
        case 7: R(cuModuleGetFunction, &f, NULL, "x"); break;
        case 8: R(cuDeviceGetAttribute, NULL, 1, 0); break;
        case 9: R(cuLaunchKernel, NULL, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL); break;
        case 10: R(cuStreamQuery, NULL); break;
        default: R(cuCtxSetLimit, 99, 1); break;
        }
        V(N("error.%d", i), "calls=%d level=%d", logged, logged_level);
        clean(logged_text);
        M(N("error.%d.text", i), "%s", logged_text);
    }
    T("current.after", cuLogsCurrent, &at, 0);
    V("current.after.v", "%d", at != start);
    CUlogIterator from = start;
    size = sizeof buffer;
    T("dump", cuLogsDumpToMemory, &from, buffer, &size, 0);
    V("dump.v", "moved=%d end=%d", from != start, from == at);
    M("dump.size", "%zu %zu", size, strnlen(buffer, sizeof buffer));
    clean(buffer);
    M("dump.text", "%s", buffer);
    size = sizeof buffer;
    T("dump.again", cuLogsDumpToMemory, &from, buffer, &size, 0);
    V("dump.again.v", "%zu", size);
    size = sizeof buffer;
    T("dump.nulliterator", cuLogsDumpToMemory, NULL, buffer, &size, 0);
    for (size_t i = 0; i <= 40; i += 8) {
        from = start;
        size = i;
        T(N("dump.size.%zu", i), cuLogsDumpToMemory, &from, buffer, &size, 0);
    }
    from = start;
    size = 128;
    T("dump.short", cuLogsDumpToMemory, &from, buffer, &size, 0);
    M("dump.short.v", "%zu moved=%d", size, from != start);
    size = sizeof buffer;
    T("dump.flags", cuLogsDumpToMemory, &from, buffer, &size, 1);
    T("dump.nullbuffer", cuLogsDumpToMemory, &from, NULL, &size, 0);
    T("dump.nullsize", cuLogsDumpToMemory, &from, buffer, NULL, 0);
    from = 0x7fffffff;
    size = sizeof buffer;
    T("dump.future", cuLogsDumpToMemory, &from, buffer, &size, 0);
    char path[] = "/tmp/anywarp-probe-log-XXXXXX";
    int fd = mkstemp(path);
    from = start;
    T("file", cuLogsDumpToFile, &from, path, 0);
    V("file.v", "size=%d end=%d", lseek(fd, 0, SEEK_END) > 0, from == at);
    T("file.null", cuLogsDumpToFile, NULL, path, 0);
    T("file.nullpath", cuLogsDumpToFile, &from, NULL, 0);
    T("file.nofolder", cuLogsDumpToFile, &from, "/nonexistent/folder/log", 0);
    T("file.empty", cuLogsDumpToFile, &from, "", 0);
    T("file.flags", cuLogsDumpToFile, &from, path, 1);
    unlink(path);
    T("unregister", cuLogsUnregisterCallback, h);
    logged = 0;
    R(cuMemAlloc, NULL, 16);
    V("unregister.v", "%d", logged);
    T("unregister.null", cuLogsUnregisterCallback, NULL);
}

/* A dead handle of the log. */
void group_logsdead(void)
{
    CUlogsCallbackHandle h = NULL;
    T("cold.register", cuLogsRegisterCallback, on_log, (void *)1, &h);
    CUlogIterator at = 0;
    T("cold.current", cuLogsCurrent, &at, 0);
    logged = 0;
    CUdeviceptr p = 0;
    T("cold.alloc", cuMemAlloc, &p, 16);
    V("cold.calls", "%d", logged);
    T("cold.unregister", cuLogsUnregisterCallback, h);
    setup();
    T("register", cuLogsRegisterCallback, on_log, (void *)1, &h);
    T("unregister", cuLogsUnregisterCallback, h);
    T("unregister.again", cuLogsUnregisterCallback, h);
    T("unregister.garbage", cuLogsUnregisterCallback, (CUlogsCallbackHandle)0x1234);
}

/* Settings of core dumps; nothing is dumped. */
static void settings(const char *scope, int global)
{
    for (int a = 0; a <= 8; a++) {
        char text[1024];
        unsigned char raw[8] = {0};
        size_t size = sizeof text;
        memset(text, 0, sizeof text);
        int strings = a == CU_COREDUMP_FILE || a == CU_COREDUMP_PIPE;
        CUresult status = global ? T(N("%s.get.%d", scope, a), cuCoredumpGetAttributeGlobal, a, text, &size)
                                 : T(N("%s.get.%d", scope, a), cuCoredumpGetAttribute, a, text, &size);
        memcpy(raw, text, 4);
        if (!status && strings)
            M(N("%s.get.%d.v", scope, a), "size=%zu %s", size, text);
        else if (!status)
            V(N("%s.get.%d.v", scope, a), "size=%zu %u,%u,%u,%u", size, raw[0], raw[1], raw[2], raw[3]);
        size = 0;
        status = global ? T(N("%s.getsize.%d", scope, a), cuCoredumpGetAttributeGlobal, a, text, &size)
                        : T(N("%s.getsize.%d", scope, a), cuCoredumpGetAttribute, a, text, &size);
        (strings ? M : V)(N("%s.getsize.%d.v", scope, a), "%zu", size);
        size = sizeof text;
        global ? T(N("%s.getnull.%d", scope, a), cuCoredumpGetAttributeGlobal, a, NULL, &size)
               : T(N("%s.getnull.%d", scope, a), cuCoredumpGetAttribute, a, NULL, &size);
        (strings ? M : V)(N("%s.getnull.%d.v", scope, a), "%zu", size);
        global ? T(N("%s.getnullsize.%d", scope, a), cuCoredumpGetAttributeGlobal, a, text, NULL)
               : T(N("%s.getnullsize.%d", scope, a), cuCoredumpGetAttribute, a, text, NULL);
    }
    for (int a = 0; a <= 8; a++)
        for (size_t size = 0; size <= 9; size++) {
            char value[16] = {0};
            if (a == CU_COREDUMP_FILE || a == CU_COREDUMP_PIPE)
                memcpy(value, "/tmp/ab%h", 9);
            size_t given = size;
            global ? T(N("%s.set.%d.%zu", scope, a, size), cuCoredumpSetAttributeGlobal, a, value, &given)
                   : T(N("%s.set.%d.%zu", scope, a, size), cuCoredumpSetAttribute, a, value, &given);
        }
    for (int a = 1; a <= 7; a++) {
        char value[16] = {0};
        size_t size = 1;
        global ? T(N("%s.setnull.%d", scope, a), cuCoredumpSetAttributeGlobal, a, NULL, &size)
               : T(N("%s.setnull.%d", scope, a), cuCoredumpSetAttribute, a, NULL, &size);
        global ? T(N("%s.setnullsize.%d", scope, a), cuCoredumpSetAttributeGlobal, a, value, NULL)
               : T(N("%s.setnullsize.%d", scope, a), cuCoredumpSetAttribute, a, value, NULL);
    }
    /* What is set is what is read: the flag, and the generation's flags. */
    for (unsigned v = 0; v <= 64; v = v ? v * 2 : 1) {
        unsigned back = 0;
        size_t size = 4;
        global ? T(N("%s.generation.%u", scope, v), cuCoredumpSetAttributeGlobal, 7, &v, &size)
               : T(N("%s.generation.%u", scope, v), cuCoredumpSetAttribute, 7, &v, &size);
        size = 4;
        global ? R(cuCoredumpGetAttributeGlobal, 7, &back, &size)
               : R(cuCoredumpGetAttribute, 7, &back, &size);
        V(N("%s.generation.%u.v", scope, v), "%u", back);
    }
    char name[64] = {0};
    size_t size = 12;
    global ? T(N("%s.file", scope), cuCoredumpSetAttributeGlobal, CU_COREDUMP_FILE, "/tmp/a.%p.%h", &size)
           : T(N("%s.file", scope), cuCoredumpSetAttribute, CU_COREDUMP_FILE, "/tmp/a.%p.%h", &size);
    size = sizeof name;
    global ? R(cuCoredumpGetAttributeGlobal, CU_COREDUMP_FILE, name, &size)
           : R(cuCoredumpGetAttribute, CU_COREDUMP_FILE, name, &size);
    M(N("%s.file.v", scope), "%zu %s", size, name);
}

void group_coredump(void)
{
    bool v = 0;
    size_t size = 1;
    T("cold.get", cuCoredumpGetAttribute, 1, &v, &size);
    T("cold.getglobal", cuCoredumpGetAttributeGlobal, 1, &v, &size);
    T("cold.set", cuCoredumpSetAttribute, 1, &v, &size);
    T("cold.setglobal", cuCoredumpSetAttributeGlobal, 1, &v, &size);
    R(cuInit, 0);
    T("nocontext.get", cuCoredumpGetAttribute, 1, &v, &size);
    T("nocontext.getglobal", cuCoredumpGetAttributeGlobal, 1, &v, &size);
    T("nocontext.set", cuCoredumpSetAttribute, 1, &v, &size);
    T("nocontext.setglobal", cuCoredumpSetAttributeGlobal, 1, &v, &size);
    setup();
    settings("context", 0);
    settings("global", 1);
    T("end.sync", cuCtxSynchronize);
}

static void on_notice(CUasyncNotificationInfo *info, void *data, CUasyncCallbackHandle handle)
{
    (void)info;
    (void)handle;
    ++*(int *)data;
}

/* Notifications, the profiler, graphs by the older name. */
void group_notify(void)
{
    CUasyncCallbackHandle a = NULL, b = NULL;
    int calls = 0;
    setup();
    T("register", cuDeviceRegisterAsyncNotification, 0, on_notice, &calls, &a);
    V("register.v", "%d", a != NULL);
    T("register.again", cuDeviceRegisterAsyncNotification, 0, on_notice, &calls, &b);
    V("register.again.v", "%d", a != b);
    T("register.nullfn", cuDeviceRegisterAsyncNotification, 0, NULL, &calls, &b);
    T("register.nullout", cuDeviceRegisterAsyncNotification, 0, on_notice, &calls, NULL);
    T("register.baddevice", cuDeviceRegisterAsyncNotification, 99, on_notice, &calls, &b);
    T("unregister.baddevice", cuDeviceUnregisterAsyncNotification, 99, a);
    T("unregister", cuDeviceUnregisterAsyncNotification, 0, a);
    T("unregister.null", cuDeviceUnregisterAsyncNotification, 0, NULL);
    T("unregister.again", cuDeviceUnregisterAsyncNotification, 0, a);
    V("calls", "%d", calls);
    W("profiler.null", "cuProfilerInitialize", 0, 0, 0);
    W("profiler", "cuProfilerInitialize", A("/nonexistent/config"), A("/nonexistent/out"), 0);
    W("profiler.mode", "cuProfilerInitialize", A("/nonexistent/config"), A("/nonexistent/out"), 9);
    T("profiler.start", cuProfilerStart);
    T("profiler.stop", cuProfilerStop);
    CUgraph g = NULL;
    CUgraphExec exec = NULL;
    R(cuGraphCreate, &g, 0);
    for (unsigned flags = 0; flags <= 16; flags++)
        W(N("instantiate.%u", flags), "cuGraphInstantiateWithFlags", A(&exec), A(g), flags);
    W("instantiate.null", "cuGraphInstantiateWithFlags", A(&exec), 0, 0);
    W("instantiate.nullout", "cuGraphInstantiateWithFlags", 0, A(g), 0);
    for (int flags = 0; flags <= 4; flags++)
        W(N("nvscisync.%d", flags), "cuDeviceGetNvSciSyncAttributes", 0, 0, flags);
    W("nvscisync.baddevice", "cuDeviceGetNvSciSyncAttributes", 0, 99, 1);
    CUatomicOperation all[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    CUatomicOperation bad = 13;
    unsigned got[16];
    memset(got, 0, sizeof got);
    T("p2patomic.self", cuDeviceGetP2PAtomicCapabilities, got, all, 13, 0, 0);
    V("p2patomic.self.v", "%u %u %u", got[0], got[9], got[12]);
    T("p2patomic.other", cuDeviceGetP2PAtomicCapabilities, got, all, 13, 0, 1);
    T("p2patomic.bad", cuDeviceGetP2PAtomicCapabilities, got, all, 13, 99, 0);
    T("p2patomic.op", cuDeviceGetP2PAtomicCapabilities, got, &bad, 1, 0, 0);
    T("p2patomic.null", cuDeviceGetP2PAtomicCapabilities, NULL, all, 13, 0, 0);
    T("p2patomic.nullops", cuDeviceGetP2PAtomicCapabilities, got, NULL, 13, 0, 0);
    T("p2patomic.zero", cuDeviceGetP2PAtomicCapabilities, got, all, 0, 0, 0);
}

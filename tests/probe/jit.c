/* JIT options and the linker. */
#include "probe.h"
#include <unistd.h>

#define VALUE(x) ((void *)(uintptr_t)(x))

static CUresult load_with(CUmodule *m, const char *text, unsigned count, CUjit_option *options, void **values)
{
    return R(cuModuleLoadDataEx, m, text, count, options, values);
}

void group_jit(void)
{
    CUmodule m = NULL;
    static char info[8192], error[8192];
    setup();
    memset(info, 'x', sizeof info);
    memset(error, 'x', sizeof error);
    {
        CUjit_option o[] = {CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, CU_JIT_ERROR_LOG_BUFFER,
                            CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, CU_JIT_WALL_TIME, CU_JIT_LOG_VERBOSE};
        void *v[] = {info, VALUE(sizeof info), error, VALUE(sizeof error), 0, VALUE(1)};
        T("badsyntax", cuModuleLoadDataEx, &m, ptx_bad_syntax, 6, o, v);
        V("badsyntax.line5", "%d", strstr(error, "line 5") != NULL);
        V("badsyntax.ended", "%d", memchr(error, 0, sizeof error) != NULL);
        V("badsyntax.info", "first=%d", info[0] == 'x' ? 'x' : info[0]);
        V("badsyntax.errorsize.isstrlen", "%d", (uintptr_t)v[3] == strlen(error));
        V("badsyntax.errorsize.isstrlen1", "%d", (uintptr_t)v[3] == strlen(error) + 1);
        V("badsyntax.infosize", "%u", (unsigned)(uintptr_t)v[1]);
        for (char *c = error; *c; c++)
            if (*c == '\n')
                *c = '|';
        M("badsyntax.text", "%.220s", error);
    }
    {
        CUjit_option o[] = {CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, CU_JIT_ERROR_LOG_BUFFER,
                            CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, CU_JIT_WALL_TIME, CU_JIT_LOG_VERBOSE};
        void *v[] = {info, VALUE(sizeof info), error, VALUE(sizeof error), 0, VALUE(1)};
        memset(info, 'x', sizeof info);
        memset(error, 'x', sizeof error);
        T("good", cuModuleLoadDataEx, &m, ptx_params, 6, o, v);
        V("good.error", "first=%d size=%u", error[0], (unsigned)(uintptr_t)v[3]);
        V("good.info.named", "%d", strstr(info, "mixed") != NULL);
        V("good.infosize.isstrlen", "%d %d", (uintptr_t)v[1] == strlen(info), (uintptr_t)v[1] == strlen(info) + 1);
        float ms;
        memcpy(&ms, &v[4], 4);
        V("good.walltime.nonnegative", "%d", ms >= 0.0f && ms < 10000.0f);
        for (char *c = info; *c; c++)
            if (*c == '\n')
                *c = '|';
        M("good.info", "%.400s", info);
    }
    {
        CUjit_option o[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
        void *v[] = {error, VALUE(16)};
        memset(error, 'x', sizeof error);
        T("shortlog", cuModuleLoadDataEx, &m, ptx_bad_syntax, 2, o, v);
        V("shortlog.size", "%u", (unsigned)(uintptr_t)v[1]);
        V("shortlog.ends", "zero15=%d untouched16=%d", error[15] == 0, error[16] == 'x');
        memset(error, 'x', sizeof error);
        void *v1[] = {error, VALUE(1)};
        T("shortlog.1", cuModuleLoadDataEx, &m, ptx_bad_syntax, 2, o, v1);
        V("shortlog.1.v", "first=%d size=%u", error[0], (unsigned)(uintptr_t)v1[1]);
        memset(error, 'x', sizeof error);
        void *v0[] = {error, VALUE(0)};
        T("shortlog.0", cuModuleLoadDataEx, &m, ptx_bad_syntax, 2, o, v0);
        V("shortlog.0.v", "first=%d size=%u", error[0], (unsigned)(uintptr_t)v0[1]);
        void *vn[] = {NULL, VALUE(100)};
        T("nulllog", cuModuleLoadDataEx, &m, ptx_bad_syntax, 2, o, vn);
        void *vs[] = {error, VALUE(100)};
        CUjit_option swapped[] = {CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, CU_JIT_ERROR_LOG_BUFFER};
        void *sv[] = {VALUE(100), error};
        memset(error, 'x', sizeof error);
        T("sizefirst", cuModuleLoadDataEx, &m, ptx_bad_syntax, 2, swapped, sv);
        V("sizefirst.v", "%d", error[0] != 'x');
        memset(error, 'x', sizeof error);
        T("nosize", cuModuleLoadDataEx, &m, ptx_bad_syntax, 1, o, vs);
        V("nosize.v", "%d", error[0] != 'x');
        T("nobuffer", cuModuleLoadDataEx, &m, ptx_bad_syntax, 1, swapped, sv);
    }
    T("nullopts", cuModuleLoadDataEx, &m, ptx_main, 1, NULL, NULL);
    CUjit_option one[] = {CU_JIT_OPTIMIZATION_LEVEL};
    void *zero[] = {0};
    T("nullvalues", cuModuleLoadDataEx, &m, ptx_main, 1, one, NULL);
    T("nullopts.0", cuModuleLoadDataEx, &m, ptx_main, 0, NULL, NULL);
    T("null.image", cuModuleLoadDataEx, &m, NULL, 0, NULL, NULL);
    T("null.out", cuModuleLoadDataEx, NULL, ptx_main, 0, NULL, NULL);
    (void)zero;
    /* Every option, valid and invalid. */
    static const struct { int option; unsigned long long value; } tries[] = {
        {0, 16}, {0, 32}, {0, 0}, {0, 255}, {0, 100000}, {1, 32}, {1, 256}, {1, 1024}, {1, 2048}, {1, 0},
        {7, 0}, {7, 1}, {7, 2}, {7, 3}, {7, 4}, {7, 5}, {7, 100}, {8, 0}, {8, 1},
        {9, 52}, {9, 75}, {9, 80}, {9, 86}, {9, 90}, {9, 100}, {9, 10}, {9, 0}, {9, 12345},
        {10, 0}, {10, 1}, {10, 2}, {10, 9}, {11, 0}, {11, 1}, {11, 2}, {12, 0}, {12, 1}, {12, 5}, {13, 0}, {13, 1}, {13, 7},
        {14, 0}, {14, 1}, {14, 2}, {14, 9}, {15, 0}, {15, 1}, {16, 0}, {16, 1}, {19, 0}, {20, 0}, {20, 1}, {21, 0}, {21, 1},
        {22, 0}, {22, 1}, {23, 0}, {23, 1}, {24, 0}, {24, 1}, {26, 0}, {28, 0}, {29, 0}, {29, 1}, {30, 0}, {30, 1}, {31, 1},
        {31, 4}, {31, 100}, {32, 128}, {32, 1024}, {32, 4096}, {33, 0}, {33, 1}, {34, 0}, {34, 1}, {34, 4},
        {35, 0}, {36, 0}, {99, 0}, {-1, 0}};
    for (size_t i = 0; i < COUNT(tries); i++) {
        CUjit_option o[] = {tries[i].option};
        void *v[] = {VALUE(tries[i].value)};
        m = NULL;
        CUresult status = T(N("option.%d.%llu", tries[i].option, tries[i].value), cuModuleLoadDataEx, &m, ptx_main, 1, o, v);
        if (!status) {
            int threads = 0;
            R(cuFuncGetAttribute, &threads, 0, function(m, "scale"));
            if (tries[i].option == 0)
                M(N("option.%d.%llu.maxthreads", tries[i].option, tries[i].value), "%d", threads);
            else
                V(N("option.%d.%llu.maxthreads", tries[i].option, tries[i].value), "%d", threads);
            R(cuModuleUnload, m);
        }
    }
    CUjit_option twice[] = {CU_JIT_OPTIMIZATION_LEVEL, CU_JIT_OPTIMIZATION_LEVEL};
    void *tv[] = {VALUE(1), VALUE(4)};
    T("option.twice", cuModuleLoadDataEx, &m, ptx_main, 2, twice, tv);
    CUjit_option both[] = {CU_JIT_TARGET, CU_JIT_TARGET_FROM_CUCONTEXT};
    void *bv[] = {VALUE(90), VALUE(1)};
    T("option.both.targets", cuModuleLoadDataEx, &m, ptx_main, 2, both, bv);
    CUjit_option threads[] = {CU_JIT_THREADS_PER_BLOCK};
    void *thv[] = {VALUE(256)};
    if (!load_with(&m, ptx_main, 1, threads, thv))
        M("option.threads.out", "%u", (unsigned)(uintptr_t)thv[0]);
    CUjit_option wall[] = {CU_JIT_WALL_TIME};
    void *wv[] = {VALUE(12345)};
    T("option.walltime.onbad", cuModuleLoadDataEx, &m, ptx_bad_syntax, 1, wall, wv);
    /* Logs for an image that is not PTX. */
    CUjit_option eo[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *ev[] = {error, VALUE(sizeof error)};
    memset(error, 'x', sizeof error);
    T("garbage", cuModuleLoadDataEx, &m, "no image at all, but long enough", 2, eo, ev);
    V("garbage.log", "first=%d size=%u", error[0], (unsigned)(uintptr_t)ev[1]);
    static const struct { const char *name, *text; } errors[] = {
        {"undeclared", ".version 7.0\n.target sm_52\n.address_size 64\n.visible .entry k() {\n mov.u32 %r1, 0;\n ret; }\n"},
        {"unresolved", ".version 7.0\n.target sm_52\n.address_size 64\n.extern .func nope();\n.visible .entry k() {\n call nope;\n ret; }\n"},
        {"badtype", ".version 7.0\n.target sm_52\n.address_size 64\n.visible .entry k() {\n .reg .b32 %r<3>;\n add.b32 %r0, %r1, %r2;\n ret; }\n"},
        {"badversion", ".version 99.0\n.target sm_52\n.address_size 64\n.visible .entry k() { ret; }\n"},
        {"badtarget", ".version 7.0\n.target sm_999\n.address_size 64\n.visible .entry k() { ret; }\n"},
        {"hugeshared", ".version 7.0\n.target sm_52\n.address_size 64\n.visible .entry k() { .shared .b8 s[1000000]; .reg .b32 %r; mov.u32 %r, s; st.shared.u32 [%r], %r; ret; }\n"},
        {"duplicate", ".version 7.0\n.target sm_52\n.address_size 64\n.visible .entry k() { ret; }\n.visible .entry k() { ret; }\n"},
        {"label", ".version 7.0\n.target sm_52\n.address_size 64\n.visible .entry k() {\n bra NOWHERE;\n ret; }\n"}};
    for (size_t i = 0; i < COUNT(errors); i++) {
        void *lv[] = {error, VALUE(sizeof error)};
        memset(error, 0, sizeof error);
        T(N("log.%s", errors[i].name), cuModuleLoadDataEx, &m, errors[i].text, 2, eo, lv);
        const char *line = strstr(error, "line ");
        V(N("log.%s.line", errors[i].name), "%d", line ? atoi(line + 5) : 0);
        for (char *c = error; *c; c++)
            if (*c == '\n')
                *c = '|';
        M(N("log.%s.text", errors[i].name), "%.300s", error);
    }
}

void group_link(void)
{
    CUlinkState s = NULL, s2 = NULL;
    CUmodule m = NULL;
    void *cubin = (void *)1;
    size_t size = 99;
    static char log[8192], info[8192];
    setup();
    const size_t la = strlen(ptx_link_a) + 1, lb = strlen(ptx_link_b) + 1;
    T("create", cuLinkCreate, 0, NULL, NULL, &s);
    T("create.nullout", cuLinkCreate, 0, NULL, NULL, NULL);
    T("create.nullopts", cuLinkCreate, 1, NULL, NULL, &s2);
    T("add.a", cuLinkAddData, s, CU_JIT_INPUT_PTX, (void *)ptx_link_a, la, "a.ptx", 0, NULL, NULL);
    T("add.b", cuLinkAddData, s, CU_JIT_INPUT_PTX, (void *)ptx_link_b, lb, "b.ptx", 0, NULL, NULL);
    T("complete", cuLinkComplete, s, &cubin, &size);
    V("complete.v", "%d %d", cubin != NULL && cubin != (void *)1, size > 0);
    V("complete.elf", "%d", cubin && !memcmp(cubin, "\177ELF", 4));
    T("load", cuModuleLoadData, &m, cubin);
    CUdeviceptr out = 0;
    unsigned v = 0;
    R(cuMemAlloc, &out, 4);
    void *args[] = {&out};
    T("launch", cuLaunchKernel, function(m, "linked"), 1, 1, 1, 1, 1, 1, 0, NULL, args, NULL);
    R(cuMemcpyDtoH, &v, out, 4);
    V("launch.v", "%u", v);
    T("global", cuModuleGetGlobal, &out, &size, m, "shared_value");
    T("complete.again", cuLinkComplete, s, &cubin, &size);
    T("add.after.complete", cuLinkAddData, s, CU_JIT_INPUT_PTX, (void *)ptx_link_b, lb, "b.ptx", 0, NULL, NULL);
    T("destroy", cuLinkDestroy, s);
    T("destroy.null", cuLinkDestroy, NULL);
    T("add.null.state", cuLinkAddData, NULL, CU_JIT_INPUT_PTX, (void *)ptx_link_a, la, "a", 0, NULL, NULL);
    T("complete.null.state", cuLinkComplete, NULL, &cubin, &size);
    T("load.after.destroy.fn", cuModuleGetFunction, (CUfunction *)&s2, m, "linked");

    CUjit_option o[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, CU_JIT_INFO_LOG_BUFFER,
                        CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES};
    void *ov[] = {log, VALUE(sizeof log), info, VALUE(sizeof info)};
    T("unresolved.create", cuLinkCreate, 4, o, ov, &s);
    T("unresolved.add", cuLinkAddData, s, CU_JIT_INPUT_PTX, (void *)ptx_link_a, la, "a.ptx", 0, NULL, NULL);
    cubin = (void *)1;
    T("unresolved.complete", cuLinkComplete, s, &cubin, &size);
    V("unresolved.names", "twice=%d shared_value=%d", strstr(log, "twice") != NULL, strstr(log, "shared_value") != NULL);
    V("unresolved.sizeout", "%d", (uintptr_t)ov[1] == strlen(log));
    for (char *c = log; *c; c++)
        if (*c == '\n')
            *c = '|';
    M("unresolved.log", "%.400s", log);
    T("unresolved.destroy", cuLinkDestroy, s);

    memset(log, 0, sizeof log);
    void *dv[] = {log, VALUE(sizeof log), info, VALUE(sizeof info)};
    T("duplicate.create", cuLinkCreate, 4, o, dv, &s);
    T("duplicate.add1", cuLinkAddData, s, CU_JIT_INPUT_PTX, (void *)ptx_link_b, lb, "b1.ptx", 0, NULL, NULL);
    T("duplicate.add2", cuLinkAddData, s, CU_JIT_INPUT_PTX, (void *)ptx_link_b, lb, "b2.ptx", 0, NULL, NULL);
    T("duplicate.complete", cuLinkComplete, s, &cubin, &size);
    for (char *c = log; *c; c++)
        if (*c == '\n')
            *c = '|';
    M("duplicate.log", "%.400s", log);
    T("duplicate.destroy", cuLinkDestroy, s);

    memset(log, 0, sizeof log);
    void *bv[] = {log, VALUE(sizeof log), info, VALUE(sizeof info)};
    T("bad.create", cuLinkCreate, 4, o, bv, &s);
    T("bad.ptx", cuLinkAddData, s, CU_JIT_INPUT_PTX, (void *)ptx_bad_syntax, strlen(ptx_bad_syntax) + 1, "bad.ptx", 0, NULL, NULL);
    V("bad.ptx.line5", "%d", strstr(log, "line 5") != NULL);
    V("bad.ptx.named", "%d", strstr(log, "bad.ptx") != NULL);
    for (char *c = log; *c; c++)
        if (*c == '\n')
            *c = '|';
    M("bad.ptx.log", "%.300s", log);
    T("bad.null.data", cuLinkAddData, s, CU_JIT_INPUT_PTX, NULL, 10, "x", 0, NULL, NULL);
    T("bad.zero.size", cuLinkAddData, s, CU_JIT_INPUT_PTX, (void *)ptx_link_b, 0, "x", 0, NULL, NULL);
    T("bad.type", cuLinkAddData, s, 99, (void *)ptx_link_b, lb, "x", 0, NULL, NULL);
    T("bad.type.cubin", cuLinkAddData, s, CU_JIT_INPUT_CUBIN, (void *)ptx_link_b, lb, "x", 0, NULL, NULL);
    T("bad.type.object", cuLinkAddData, s, CU_JIT_INPUT_OBJECT, (void *)ptx_link_b, lb, "x", 0, NULL, NULL);
    T("bad.type.library", cuLinkAddData, s, CU_JIT_INPUT_LIBRARY, (void *)ptx_link_b, lb, "x", 0, NULL, NULL);
    T("bad.type.fatbin", cuLinkAddData, s, CU_JIT_INPUT_FATBINARY, (void *)ptx_link_b, lb, "x", 0, NULL, NULL);
    T("bad.type.nvvm", cuLinkAddData, s, CU_JIT_INPUT_NVVM, (void *)ptx_link_b, lb, "x", 0, NULL, NULL);
    T("bad.file", cuLinkAddFile, s, CU_JIT_INPUT_PTX, "no/such/file.ptx", 0, NULL, NULL);
    T("bad.file.null", cuLinkAddFile, s, CU_JIT_INPUT_PTX, NULL, 0, NULL, NULL);
    T("bad.complete.nulls", cuLinkComplete, s, NULL, NULL);
    T("bad.destroy", cuLinkDestroy, s);

    T("noname.create", cuLinkCreate, 0, NULL, NULL, &s);
    T("noname.add", cuLinkAddData, s, CU_JIT_INPUT_PTX, (void *)ptx_link_b, lb, NULL, 0, NULL, NULL);
    T("noname.nozero", cuLinkAddData, s, CU_JIT_INPUT_PTX, (void *)ptx_link_a, la - 1, NULL, 0, NULL, NULL);
    T("noname.complete.nullsize", cuLinkComplete, s, &cubin, NULL);
    T("noname.load", cuModuleLoadData, &m, cubin);
    T("noname.destroy", cuLinkDestroy, s);
    T("empty.create", cuLinkCreate, 0, NULL, NULL, &s);
    cubin = (void *)1;
    T("empty.complete", cuLinkComplete, s, &cubin, &size);
    T("empty.destroy", cuLinkDestroy, s);
    char path[] = "/tmp/probeXXXXXX";
    int fd = mkstemp(path);
    if (fd >= 0 && write(fd, ptx_link_b, lb - 1) > 0) {
        T("file.create", cuLinkCreate, 0, NULL, NULL, &s);
        T("file.add", cuLinkAddFile, s, CU_JIT_INPUT_PTX, path, 0, NULL, NULL);
        T("file.add.data", cuLinkAddData, s, CU_JIT_INPUT_PTX, (void *)ptx_link_a, la, "a", 0, NULL, NULL);
        T("file.complete", cuLinkComplete, s, &cubin, &size);
        T("file.destroy", cuLinkDestroy, s);
    }
    close(fd);
    unlink(path);
    CUjit_option opt[] = {CU_JIT_OPTIMIZATION_LEVEL, CU_JIT_TARGET_FROM_CUCONTEXT, CU_JIT_LOG_VERBOSE};
    void *optv[] = {VALUE(2), 0, VALUE(1)};
    T("options.create", cuLinkCreate, 3, opt, optv, &s);
    CUjit_option reg[] = {CU_JIT_MAX_REGISTERS};
    void *regv[] = {VALUE(32)};
    T("options.add", cuLinkAddData, s, CU_JIT_INPUT_PTX, (void *)ptx_main, strlen(ptx_main) + 1, "m", 1, reg, regv);
    T("options.complete", cuLinkComplete, s, &cubin, &size);
    T("options.destroy", cuLinkDestroy, s);
    CUjit_option badopt[] = {(CUjit_option)99};
    T("badoption.create", cuLinkCreate, 1, badopt, optv, &s);
}

/* Modules, functions, globals, libraries. */
#include "probe.h"
#include <unistd.h>

#define HEAD(version, target) ".version " version "\n.target " target "\n.address_size 64\n"

void group_module(void)
{
    CUmodule m = NULL, m2 = NULL;
    CUfunction f = NULL, list[32];
    CUdeviceptr p = 0;
    size_t z = 0;
    unsigned count = 0;
    setup();
    T("load.missingfile", cuModuleLoad, &m, "no/such/file.ptx");
    T("load.directory", cuModuleLoad, &m, "/");
    T("load.nullname", cuModuleLoad, &m, NULL);
    T("load.emptyname", cuModuleLoad, &m, "");
    T("load.nullout", cuModuleLoad, NULL, "no/such/file.ptx");
    char path[] = "/tmp/probeXXXXXX";
    int fd = mkstemp(path);
    if (fd >= 0 && write(fd, ptx_main, strlen(ptx_main)) > 0) {
        T("load.file", cuModuleLoad, &m, path);
        T("load.file.nullout", cuModuleLoad, NULL, path);
        T("load.file.unload", cuModuleUnload, m);
        if (ftruncate(fd, 0) == 0)
            T("load.emptyfile", cuModuleLoad, &m, path);
        if (pwrite(fd, "hello", 5, 0) == 5)
            T("load.garbagefile", cuModuleLoad, &m, path);
        if (pwrite(fd, ptx_bad_syntax, strlen(ptx_bad_syntax), 0) > 0)
            T("load.badfile", cuModuleLoad, &m, path);
    }
    close(fd);
    unlink(path);
    T("data.null", cuModuleLoadData, &m, NULL);
    T("data.nullout", cuModuleLoadData, NULL, ptx_main);
    T("fatbinary.null", cuModuleLoadFatBinary, &m, NULL);
    T("fatbinary.garbage", cuModuleLoadFatBinary, &m, "garbage garbage garbage garbage garbage garbage");
    T("fatbinary.ptx", cuModuleLoadFatBinary, &m, ptx_main);
    T("data", cuModuleLoadData, &m, ptx_main);
    T("data.twice", cuModuleLoadData, &m2, ptx_main);
    V("twice.distinct", "%d", m != m2);
    T("getfn", cuModuleGetFunction, &f, m, "scale");
    CUfunction f2 = NULL;
    T("getfn.again", cuModuleGetFunction, &f2, m, "scale");
    V("getfn.again.same", "%d", f == f2);
    T("getfn.missing", cuModuleGetFunction, &f, m, "no_such");
    T("getfn.empty", cuModuleGetFunction, &f, m, "");
    T("getfn.null", cuModuleGetFunction, &f, m, NULL);
    T("getfn.nullmod", cuModuleGetFunction, &f, NULL, "scale");
    T("getfn.nullmod.nullname", cuModuleGetFunction, &f, NULL, NULL);
    T("getfn.nullout", cuModuleGetFunction, NULL, m, "scale");
    T("getfn.isvar", cuModuleGetFunction, &f, m, "g_counter");
    T("getglobal", cuModuleGetGlobal, &p, &z, m, "g_counter");
    V("getglobal.size", "%zu", z);
    V("getglobal.aligned4", "%d", p % 4 == 0 && p != 0);
    T("getglobal.const", cuModuleGetGlobal, &p, &z, m, "c_tab");
    V("getglobal.const.size", "%zu", z);
    T("getglobal.bytes", cuModuleGetGlobal, &p, &z, m, "g_bytes");
    V("getglobal.bytes.size", "%zu", z);
    T("getglobal.private", cuModuleGetGlobal, &p, &z, m, "g_private");
    T("getglobal.managed", cuModuleGetGlobal, &p, &z, m, "g_managed");
    T("getglobal.extshared", cuModuleGetGlobal, &p, &z, m, "dyn");
    T("getglobal.missing", cuModuleGetGlobal, &p, &z, m, "no_such");
    T("getglobal.isfn", cuModuleGetGlobal, &p, &z, m, "scale");
    T("getglobal.empty", cuModuleGetGlobal, &p, &z, m, "");
    T("getglobal.nullname", cuModuleGetGlobal, &p, &z, m, NULL);
    T("getglobal.nullsize", cuModuleGetGlobal, &p, NULL, m, "g_counter");
    T("getglobal.nullptr", cuModuleGetGlobal, NULL, &z, m, "g_counter");
    T("getglobal.bothnull", cuModuleGetGlobal, NULL, NULL, m, "g_counter");
    T("getglobal.nullmod", cuModuleGetGlobal, &p, &z, NULL, "g_counter");
    T("texref.missing", cuModuleGetTexRef, (CUtexref *)&p, m, "no_such");
    T("surfref.missing", cuModuleGetSurfRef, (CUsurfref *)&p, m, "no_such");
    T("texref.isvar", cuModuleGetTexRef, (CUtexref *)&p, m, "g_counter");
    T("fncount", cuModuleGetFunctionCount, &count, m);
    V("fncount.v", "%u", count);
    T("fncount.null", cuModuleGetFunctionCount, NULL, m);
    T("fncount.nullmod", cuModuleGetFunctionCount, &count, NULL);
    memset(list, 0, sizeof list);
    T("enumerate", cuModuleEnumerateFunctions, list, 32, m);
    for (unsigned i = 0, k = 0; i < 32; i++)
        if (list[i]) {
            const char *name = "?";
            R(cuFuncGetName, &name, list[i]);
            M(N("enumerate.%u", k++), "%s", name);
        }
    memset(list, 0, sizeof list);
    T("enumerate.two", cuModuleEnumerateFunctions, list, 2, m);
    V("enumerate.two.v", "%d %d %d", list[0] != NULL, list[1] != NULL, list[2] != NULL);
    T("enumerate.zero", cuModuleEnumerateFunctions, list, 0, m);
    T("enumerate.null", cuModuleEnumerateFunctions, NULL, 2, m);
    T("enumerate.nullmod", cuModuleEnumerateFunctions, list, 2, NULL);
    CUmoduleLoadingMode mode = 0;
    T("loadingmode", cuModuleGetLoadingMode, &mode);
    V("loadingmode.v", "%d", (int)mode);
    T("loadingmode.null", cuModuleGetLoadingMode, NULL);
    T("unload", cuModuleUnload, m2);
    T("unload.again", cuModuleUnload, m2);
    T("unload.null", cuModuleUnload, NULL);
    T("unload.garbage", cuModuleUnload, (CUmodule)0x1234);
    T("getfn.unloaded", cuModuleGetFunction, &f, m2, "scale");
    T("getfn.garbage", cuModuleGetFunction, &f, (CUmodule)0x1234, "scale");
    T("fn.after.unload", cuModuleUnload, m);
    T("fn.after.unload.attr", cuFuncGetAttribute, (int *)&count, 0, f2);
    T("fn.after.unload.launch", cuLaunchKernel, f2, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL);
}

void group_ptxload(void)
{
    static const struct { const char *name, *text; } texts[] = {
        {"garbage", "hello, world: this is no image of any kind"},
        {"empty", ""},
        {"space", " \n"},
        {"comment", "// only a comment\n"},
        {"comment.then.good", "// a comment\n/* another */\n" HEAD("7.0", "sm_52") ".visible .entry k() { ret; }\n"},
        {"spaces.then.good", "\n\n   " HEAD("7.0", "sm_52") ".visible .entry k() { ret; }\n"},
        {"headonly", HEAD("7.0", "sm_52")},
        {"good", HEAD("7.0", "sm_52") ".visible .entry k() { ret; }\n"},
        {"crlf", ".version 7.0\r\n.target sm_52\r\n.address_size 64\r\n.visible .entry k() { ret; }\r\n"},
        {"badsyntax", ptx_bad_syntax},
        {"undeclreg", HEAD("7.0", "sm_52") ".visible .entry k() { mov.u32 %r1, 0; ret; }\n"},
        {"unterminated", HEAD("7.0", "sm_52") ".visible .entry k() { ret;\n"},
        {"unterminated.comment", HEAD("7.0", "sm_52") ".visible .entry k() { ret; }\n/* open"},
        {"truncated", HEAD("7.0", "sm_52") ".visible .ent"},
        {"extra.brace", HEAD("7.0", "sm_52") ".visible .entry k() { ret; } }\n"},
        {"noversion", ".target sm_52\n.address_size 64\n.visible .entry k() { ret; }\n"},
        {"notarget", ".version 7.0\n.visible .entry k() { ret; }\n"},
        {"noaddress", ".version 7.0\n.target sm_52\n.visible .entry k() { ret; }\n"},
        {"address32", ".version 7.0\n.target sm_52\n.address_size 32\n.visible .entry k() { ret; }\n"},
        {"version99", HEAD("99.0", "sm_52") ".visible .entry k() { ret; }\n"},
        {"version9.1", HEAD("9.1", "sm_52") ".visible .entry k() { ret; }\n"},
        {"version9.0", HEAD("9.0", "sm_75") ".visible .entry k() { ret; }\n"},
        {"version1.0", ".version 1.0\n.target sm_10\n.entry k() { ret; }\n"},
        {"version1.4", ".version 1.4\n.target sm_13\n.entry k() { exit; }\n"},
        {"version2.0", ".version 2.0\n.target sm_20\n.entry k() { exit; }\n"},
        {"version3.0", HEAD("3.0", "sm_30") ".visible .entry k() { ret; }\n"},
        {"versionbad", ".version seven\n.target sm_52\n.visible .entry k() { ret; }\n"},
        {"badtarget", HEAD("7.0", "sm_999") ".visible .entry k() { ret; }\n"},
        {"target.word", HEAD("7.0", "gpu") ".visible .entry k() { ret; }\n"},
        {"target.sm_100", HEAD("8.6", "sm_100") ".visible .entry k() { ret; }\n"},
        {"target.newer.version.old", HEAD("6.0", "sm_80") ".visible .entry k() { ret; }\n"},
        {"target.debug", HEAD("7.0", "sm_52, debug") ".visible .entry k() { ret; }\n"},
        {"target.texmode", HEAD("7.0", "sm_52, texmode_independent") ".visible .entry k() { ret; }\n"},
        {"twoversions", ".version 7.0\n" HEAD("7.0", "sm_52") ".visible .entry k() { ret; }\n"},
        {"unresolved", HEAD("7.0", "sm_52") ".extern .func nope();\n.visible .entry k() { call nope; ret; }\n"},
        {"unresolved.var", HEAD("7.0", "sm_52") ".extern .global .u32 nope;\n.visible .entry k() { .reg .b32 %r; ld.global.u32 %r, [nope]; ret; }\n"},
        {"extern.unused", HEAD("7.0", "sm_52") ".extern .func nope();\n.visible .entry k() { ret; }\n"},
        {"undefined.call", HEAD("7.0", "sm_52") ".visible .entry k() { call nope; ret; }\n"},
        {"undefined.label", HEAD("7.0", "sm_52") ".visible .entry k() { bra NOWHERE; ret; }\n"},
        {"undefined.var", HEAD("7.0", "sm_52") ".visible .entry k() { .reg .b32 %r; ld.global.u32 %r, [nope]; ret; }\n"},
        {"typemismatch", HEAD("7.0", "sm_52") ".visible .entry k() { .reg .f32 %f; .reg .b64 %d; add.u32 %d, %f, 1; ret; }\n"},
        {"wrongoperands", HEAD("7.0", "sm_52") ".visible .entry k() { .reg .b32 %r<3>; add.u32 %r0, %r1; ret; }\n"},
        {"badmodifier", HEAD("7.0", "sm_52") ".visible .entry k() { .reg .b32 %r<3>; add.rn.u32 %r0, %r1, %r2; ret; }\n"},
        {"badtype", HEAD("7.0", "sm_52") ".visible .entry k() { .reg .b32 %r<3>; add.b32 %r0, %r1, %r2; ret; }\n"},
        {"noround", HEAD("7.0", "sm_52") ".visible .entry k() { .reg .f32 %f<3>; .reg .b32 %r; cvt.f32.s32 %f0, %r; ret; }\n"},
        {"imm.toolarge", HEAD("7.0", "sm_52") ".visible .entry k() { .reg .b32 %r; mov.u32 %r, 0x123456789; ret; }\n"},
        {"shift.imm.neg", HEAD("7.0", "sm_52") ".visible .entry k() { .reg .b32 %r<2>; shl.b32 %r0, %r1, -1; ret; }\n"},
        {"duplicate.entry", HEAD("7.0", "sm_52") ".visible .entry k() { ret; }\n.visible .entry k() { ret; }\n"},
        {"duplicate.var", HEAD("7.0", "sm_52") ".global .u32 a;\n.global .u32 a;\n.visible .entry k() { ret; }\n"},
        {"duplicate.reg", HEAD("7.0", "sm_52") ".visible .entry k() { .reg .b32 %a; .reg .b32 %a; ret; }\n"},
        {"duplicate.label", HEAD("7.0", "sm_52") ".visible .entry k() { L: ret; L: ret; }\n"},
        {"noentry", HEAD("7.0", "sm_52") ".visible .func f() { ret; }\n"},
        {"onlyglobal", HEAD("7.0", "sm_52") ".visible .global .u32 a = 3;\n"},
        {"newer.instruction", HEAD("7.0", "sm_52") ".visible .entry k() { .reg .b32 %r<3>; redux.sync.add.u32 %r0, %r1, 0xffffffff; ret; }\n"},
        {"newer.for.version", HEAD("6.0", "sm_80") ".visible .entry k() { .reg .b32 %r<3>; redux.sync.add.u32 %r0, %r1, 0xffffffff; ret; }\n"},
        {"hugeshared", HEAD("7.0", "sm_52") ".visible .entry k() { .shared .b8 s[1000000]; .reg .b32 %r; mov.u32 %r, s; st.shared.u32 [%r], %r; ret; }\n"},
        {"shared.49153", HEAD("7.0", "sm_52") ".visible .entry k() { .shared .b8 s[49153]; .reg .b32 %r; mov.u32 %r, s; st.volatile.shared.u32 [%r], %r; ret; }\n"},
        {"shared.unused", HEAD("7.0", "sm_52") ".visible .entry k() { .shared .b8 s[100000]; ret; }\n"},
        {"hugeconst", HEAD("7.0", "sm_52") ".const .b8 c[70000];\n.visible .entry k() { .reg .b32 %r; ld.const.u32 %r, [c]; ret; }\n"},
        {"hugelocal", HEAD("7.0", "sm_52") ".visible .entry k(.param .u64 o) { .local .b8 s[600000]; .reg .b64 %d<3>; .reg .b32 %r; ld.param.u64 %d1, [o]; mov.u64 %d0, s; add.u64 %d0, %d0, %d1; st.local.u32 [%d0], 1; ld.local.u32 %r, [%d1]; st.u32 [%d1], %r; ret; }\n"},
        {"hugeparam", HEAD("7.0", "sm_52") ".visible .entry k(.param .b8 a[5000]) { ret; }\n"},
        {"param.4352", HEAD("8.1", "sm_70") ".visible .entry k(.param .b8 a[4352]) { ret; }\n"},
        {"param.32764", HEAD("8.1", "sm_70") ".visible .entry k(.param .b8 a[32764]) { ret; }\n"},
        {"param.32768", HEAD("8.1", "sm_70") ".visible .entry k(.param .b8 a[32768]) { ret; }\n"},
        {"maxntid.2048", HEAD("7.0", "sm_52") ".visible .entry k() .maxntid 2048, 1, 1 { ret; }\n"},
        {"maxntid.0", HEAD("7.0", "sm_52") ".visible .entry k() .maxntid 0, 1, 1 { ret; }\n"},
        {"reqntid.2048", HEAD("7.0", "sm_52") ".visible .entry k() .reqntid 2048 { ret; }\n"},
        {"both.ntid", HEAD("7.0", "sm_52") ".visible .entry k() .maxntid 32 .reqntid 32 { ret; }\n"},
        {"maxnreg", HEAD("7.0", "sm_52") ".visible .entry k() .maxnreg 32 { ret; }\n"},
        {"minnctapersm.alone", HEAD("7.0", "sm_52") ".visible .entry k() .minnctapersm 4 { ret; }\n"},
        {"badalign", HEAD("7.0", "sm_52") ".global .align 3 .b8 a[8];\n.visible .entry k() { ret; }\n"},
        {"init.toolong", HEAD("7.0", "sm_52") ".global .u32 a[2] = {1, 2, 3};\n.visible .entry k() { ret; }\n"},
        {"init.shared", HEAD("7.0", "sm_52") ".shared .u32 a = 1;\n.visible .entry k() { ret; }\n"},
        {"regname.percent", HEAD("7.0", "sm_52") ".visible .entry k() { .reg .b32 %r<2>; mov.u32 %r2, 0; ret; }\n"},
        {"special.write", HEAD("7.0", "sm_52") ".visible .entry k() { mov.u32 %tid.x, 0; ret; }\n"},
        {"pragma.unknown", HEAD("7.0", "sm_52") ".visible .entry k() { .pragma \"whatever\"; ret; }\n"},
        {"directive.unknown", HEAD("7.0", "sm_52") ".nonsense\n.visible .entry k() { ret; }\n"},
        {"linking.weak", HEAD("7.0", "sm_52") ".weak .entry k() { ret; }\n"},
        {"entry.static", HEAD("7.0", "sm_52") ".entry k() { ret; }\n"},
        {"noret", HEAD("7.0", "sm_52") ".visible .entry k() { }\n"},
        {"nonascii", HEAD("7.0", "sm_52") "// \xc3\xa9\n.visible .entry k() { ret; }\n"},
        {"nonascii.code", HEAD("7.0", "sm_52") ".visible .entry k\xc3\xa9() { ret; }\n"},
        {"tex", HEAD("7.0", "sm_52") ".visible .global .texref t;\n.visible .entry k() { ret; }\n"},
        {"elfgarbage", "\177ELF\002\001\001\0garbage follows here and goes on for some while to be long enough for a header"},
        {"elf.short", "\177ELF"},
    };
    setup();
    for (size_t i = 0; i < COUNT(texts); i++) {
        CUmodule m = NULL;
        CUresult status = T(texts[i].name, cuModuleLoadData, &m, texts[i].text);
        if (!status) {
            unsigned count = 99;
            R(cuModuleGetFunctionCount, &count, m);
            V(N("%s.functions", texts[i].name), "%u", count);
            R(cuModuleUnload, m);
        }
    }
    static const unsigned char wrapper[32] = {0xb1, 0x43, 0x62, 0x46, 1, 0, 0, 0};
    CUmodule m;
    T("fatbinwrapper.null", cuModuleLoadData, &m, wrapper);
    static unsigned char elf[256] = {0x7f, 'E', 'L', 'F', 2, 1, 1, 0x33, 7, 0, 0, 0, 0, 0, 0, 0, 2, 0, 190, 0, 1};
    T("elf.emptycubin", cuModuleLoadData, &m, elf);
    elf[18] = 62;
    T("elf.x86", cuModuleLoadData, &m, elf);
}

void group_function(void)
{
    static const char *const names[] = {"empty", "scale", "smem", "smem40k", "dynsmem", "bounded", "required", "local4k"};
    int v;
    CUcontext context = setup();
    (void)context;
    CUmodule m = load(ptx_main), owner = NULL, params = load(ptx_params);
    CUfunction f = NULL;
    for (size_t i = 0; i < COUNT(names); i++) {
        f = function(m, names[i]);
        for (int a = 0; a <= 16; a++) {
            v = -12345;
            CUresult status = T(N("%s.attr.%d", names[i], a), cuFuncGetAttribute, &v, a, f);
            if (status)
                continue;
            if (a == 4 || a == 2 || a == 6)
                M(N("%s.attr.%d.v", names[i], a), "%d", v);
            else
                V(N("%s.attr.%d.v", names[i], a), "%d", v);
        }
    }
    f = function(m, "smem");
    T("attr.99", cuFuncGetAttribute, &v, 99, f);
    T("attr.minus1", cuFuncGetAttribute, &v, -1, f);
    T("attr.null", cuFuncGetAttribute, NULL, 0, f);
    T("attr.nullfn", cuFuncGetAttribute, &v, 0, NULL);
    T("attr.garbagefn", cuFuncGetAttribute, &v, 0, (CUfunction)0x1234);
    for (int a = 0; a <= 16; a++)
        for (int k = 0; k < 6; k++) {
            static const int values[] = {-2, -1, 0, 1, 50, 101};
            T(N("set.%d.%d", a, values[k]), cuFuncSetAttribute, f, a, values[k]);
        }
    T("set.nullfn", cuFuncSetAttribute, NULL, 8, 1024);
    T("set.dynshared.48k", cuFuncSetAttribute, f, 8, 49152);
    T("set.dynshared.45056", cuFuncSetAttribute, f, 8, 45056);
    T("set.dynshared.64k", cuFuncSetAttribute, f, 8, 65536);
    v = 0;
    R(cuFuncGetAttribute, &v, 8, f);
    V("set.dynshared.64k.v", "%d", v);
    int optin = 0;
    R(cuDeviceGetAttribute, &optin, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 0);
    T("set.dynshared.optin", cuFuncSetAttribute, f, 8, optin);
    T("set.dynshared.optin.less.static", cuFuncSetAttribute, f, 8, optin - 4096);
    T("set.dynshared.optin.less.static.plus1", cuFuncSetAttribute, f, 8, optin - 4095);
    T("set.dynshared.huge", cuFuncSetAttribute, f, 8, 1 << 30);
    T("cacheconfig", cuFuncSetCacheConfig, f, CU_FUNC_CACHE_PREFER_L1);
    T("cacheconfig.bad", cuFuncSetCacheConfig, f, 9);
    T("cacheconfig.null", cuFuncSetCacheConfig, NULL, 0);
    T("sharedconfig", cuFuncSetSharedMemConfig, f, 1);
    T("sharedconfig.bad", cuFuncSetSharedMemConfig, f, 9);
    T("getmodule", cuFuncGetModule, &owner, f);
    V("getmodule.same", "%d", owner == m);
    T("getmodule.null", cuFuncGetModule, NULL, f);
    T("getmodule.nullfn", cuFuncGetModule, &owner, NULL);
    const char *name = NULL;
    T("getname", cuFuncGetName, &name, f);
    V("getname.v", "%s", name ? name : "(null)");
    T("getname.null", cuFuncGetName, NULL, f);
    T("getname.nullfn", cuFuncGetName, &name, NULL);
    CUfunctionLoadingState state = 9;
    T("isloaded", cuFuncIsLoaded, &state, f);
    V("isloaded.v", "%d", (int)state);
    T("isloaded.null", cuFuncIsLoaded, NULL, f);
    T("load", cuFuncLoad, f);
    T("load.null", cuFuncLoad, NULL);
    R(cuFuncIsLoaded, &state, f);
    V("load.state", "%d", (int)state);
    static const char *const shapes[] = {"mixed", "scalars", "odd", "big", "none"};
    for (size_t i = 0; i < COUNT(shapes); i++) {
        f = function(params, shapes[i]);
        for (size_t k = 0; k < 9; k++) {
            size_t offset = 77, size = 77;
            CUresult status = T(N("%s.param.%zu", shapes[i], k), cuFuncGetParamInfo, f, k, &offset, &size);
            V(N("%s.param.%zu.v", shapes[i], k), "offset=%zu size=%zu", offset, size);
            if (status)
                break;
        }
    }
    f = function(params, "mixed");
    size_t z;
    T("param.nullsize", cuFuncGetParamInfo, f, 0, &z, NULL);
    T("param.nulloffset", cuFuncGetParamInfo, f, 0, NULL, &z);
    T("param.nullfn", cuFuncGetParamInfo, NULL, 0, &z, &z);
    T("old.setblock", cuFuncSetBlockShape, f, 32, 1, 1);
    T("old.setblock.0", cuFuncSetBlockShape, f, 0, 1, 1);
    T("old.setblock.huge", cuFuncSetBlockShape, f, 2048, 1, 1);
    T("old.setshared", cuFuncSetSharedSize, f, 1024);
    T("old.setshared.huge", cuFuncSetSharedSize, f, 1 << 30);
    T("old.paramsize", cuParamSetSize, f, 64);
    T("old.paramsize.huge", cuParamSetSize, f, 1 << 20);
    T("old.paramseti", cuParamSeti, f, 0, 7);
    T("old.paramsetf", cuParamSetf, f, 36, 1.0f);
    T("old.paramsetv", cuParamSetv, f, 40, &z, 8);
    T("old.paramseti.out", cuParamSeti, f, 100000, 7);
    T("old.launch.null", cuLaunch, NULL);
    /* The old way of launching, whole. */
    CUdeviceptr p = 0;
    unsigned host[8] = {0};
    R(cuMemAlloc, &p, 256);
    f = function(m, "scale");
    R(cuFuncSetBlockShape, f, 8, 1, 1);
    R(cuParamSetv, f, 0, &p, 8);
    R(cuParamSeti, f, 8, 8);
    R(cuParamSetSize, f, 12);
    T("old.launchgrid", cuLaunchGrid, f, 1, 1);
    R(cuMemcpyDtoH, host, p, sizeof host);
    V("old.launchgrid.v", "%u %u %u", host[0], host[1], host[7]);
    T("old.launch", cuLaunch, f);
    T("old.launchgrid.0", cuLaunchGrid, f, 0, 1);
    T("old.launchgridasync", cuLaunchGridAsync, f, 1, 1, NULL);
    T("sync", cuCtxSynchronize);
}

void group_global(void)
{
    unsigned host[8] = {0};
    CUdeviceptr p, q, out;
    size_t z, z2;
    setup();
    CUmodule a = load(ptx_main), b = load(ptx_main);
    R(cuMemAlloc, &out, 64);
    R(cuModuleGetGlobal, &p, &z, a, "g_counter");
    R(cuModuleGetGlobal, &q, &z2, b, "g_counter");
    V("distinct", "%d", p != q);
    T("read", cuMemcpyDtoH, host, p, 4);
    V("read.v", "%u", host[0]);
    host[0] = 128;
    T("write", cuMemcpyHtoD, p, host, 4);
    void *args[] = {&out};
    T("launch.a", cuLaunchKernel, function(a, "counter"), 7, 1, 1, 1, 1, 1, 0, NULL, args, NULL);
    R(cuMemcpyDtoH, host, out, 16);
    V("launch.a.v", "const=%u private=%u managed=%u", host[1], host[2], host[3]);
    R(cuMemcpyDtoH, host, p, 4);
    V("a.after", "%u", host[0]);
    R(cuMemcpyDtoH, host, q, 4);
    V("b.after", "%u", host[0]);
    R(cuModuleGetGlobal, &p, &z, a, "c_tab");
    host[0] = 9; host[1] = 8; host[2] = 7; host[3] = 6;
    T("const.write", cuMemcpyHtoD, p, host, 16);
    T("launch.a2", cuLaunchKernel, function(a, "counter"), 1, 1, 1, 1, 1, 1, 0, NULL, args, NULL);
    R(cuMemcpyDtoH, host, out, 16);
    V("const.written", "%u", host[1]);
    T("const.memset", cuMemsetD32, p, 5, 4);
    R(cuMemcpyDtoH, host, p, 16);
    V("const.memset.v", "%u %u", host[0], host[3]);
    R(cuModuleGetGlobal, &p, &z, a, "g_floats");
    float fl[3] = {0};
    T("floats", cuMemcpyDtoH, fl, p, 12);
    V("floats.v", "%g %g %g aligned=%d", fl[0], fl[1], fl[2], p % 16 == 0);
    T("past.end", cuMemcpyDtoH, host, p, z + 4);
    CUdeviceptr base;
    T("range", cuMemGetAddressRange, &base, &z, p);
    int type = -1;
    T("pointer.type", cuPointerGetAttribute, &type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, p);
    V("pointer.type.v", "%d", type);
    T("free.global", cuMemFree, p);
    R(cuModuleGetGlobal, &p, &z, a, "g_managed");
    T("managed.type", cuPointerGetAttribute, &type, CU_POINTER_ATTRIBUTE_IS_MANAGED, p);
    V("managed.type.v", "%d", type);
    R(cuCtxSynchronize);
    V("managed.host.read", "%u", *(unsigned *)p);
    R(cuModuleUnload, a);
    T("read.unloaded", cuMemcpyDtoH, host, q, 4);
    V("read.unloaded.v", "%u", host[0]);
}

void group_library(void)
{
    CUlibrary lib = NULL, lib2 = NULL;
    CUkernel k = NULL, list[32];
    CUfunction f = NULL, f2 = NULL;
    CUmodule m = NULL;
    CUdeviceptr p = 0, out = 0;
    size_t z = 0;
    unsigned count = 99;
    int v = -1;
    const char *name = NULL;
    setup();
    T("load.nullcode", cuLibraryLoadData, &lib, NULL, NULL, NULL, 0, NULL, NULL, 0);
    T("load.nullout", cuLibraryLoadData, NULL, ptx_main, NULL, NULL, 0, NULL, NULL, 0);
    T("load.garbage", cuLibraryLoadData, &lib, "garbage, and some more of it", NULL, NULL, 0, NULL, NULL, 0);
    T("load.badsyntax", cuLibraryLoadData, &lib, ptx_bad_syntax, NULL, NULL, 0, NULL, NULL, 0);
    T("lazy.badsyntax.count", cuLibraryGetKernelCount, &count, lib);
    T("lazy.badsyntax.getkernel", cuLibraryGetKernel, &k, lib, "k");
    T("lazy.badsyntax.getmodule", cuLibraryGetModule, &m, lib);
    T("lazy.badsyntax.unload", cuLibraryUnload, lib);
    static const char unresolved[] = HEAD("7.0", "sm_52") ".extern .func nope();\n.visible .entry k() { call nope; ret; }\n";
    T("lazy.unresolved", cuLibraryLoadData, &lib, unresolved, NULL, NULL, 0, NULL, NULL, 0);
    T("lazy.unresolved.getkernel", cuLibraryGetKernel, &k, lib, "k");
    T("lazy.unresolved.unload", cuLibraryUnload, lib);
    T("lazy.garbage", cuLibraryLoadData, &lib, "garbage, and some more of it", NULL, NULL, 0, NULL, NULL, 0);
    T("lazy.garbage.getkernel", cuLibraryGetKernel, &k, lib, "k");
    T("lazy.garbage.count", cuLibraryGetKernelCount, &count, lib);
    T("lazy.garbage.unload", cuLibraryUnload, lib);
    T("load.nullopts", cuLibraryLoadData, &lib, ptx_main, NULL, NULL, 2, NULL, NULL, 0);
    T("load.file.missing", cuLibraryLoadFromFile, &lib, "no/such/file", NULL, NULL, 0, NULL, NULL, 0);
    T("load.file.null", cuLibraryLoadFromFile, &lib, NULL, NULL, NULL, 0, NULL, NULL, 0);
    CUlibraryOption badoption = 9;
    void *value = (void *)1;
    T("load.badoption", cuLibraryLoadData, &lib, ptx_main, NULL, NULL, 0, &badoption, &value, 1);
    CUlibraryOption preserved = CU_LIBRARY_BINARY_IS_PRESERVED;
    T("load.preserved", cuLibraryLoadData, &lib, ptx_main, NULL, NULL, 0, &preserved, &value, 1);
    T("load.preserved.unload", cuLibraryUnload, lib);
    T("load", cuLibraryLoadData, &lib, ptx_main, NULL, NULL, 0, NULL, NULL, 0);
    T("load2", cuLibraryLoadData, &lib2, ptx_params, NULL, NULL, 0, NULL, NULL, 0);
    T("count", cuLibraryGetKernelCount, &count, lib);
    V("count.v", "%u", count);
    T("count.null", cuLibraryGetKernelCount, NULL, lib);
    T("count.nulllib", cuLibraryGetKernelCount, &count, NULL);
    T("enumerate", cuLibraryEnumerateKernels, list, 32, lib);
    T("enumerate.one", cuLibraryEnumerateKernels, list, 1, lib);
    T("enumerate.zero", cuLibraryEnumerateKernels, list, 0, lib);
    T("enumerate.null", cuLibraryEnumerateKernels, NULL, 1, lib);
    T("getkernel", cuLibraryGetKernel, &k, lib, "scale");
    T("getkernel.missing", cuLibraryGetKernel, &k, lib, "no_such");
    T("getkernel.nullname", cuLibraryGetKernel, &k, lib, NULL);
    T("getkernel.nulllib", cuLibraryGetKernel, &k, NULL, "scale");
    T("getkernel.nullout", cuLibraryGetKernel, NULL, lib, "scale");
    T("getkernel.again", cuLibraryGetKernel, &k, lib, "scale");
    T("getmodule", cuLibraryGetModule, &m, lib);
    T("getmodule.nulllib", cuLibraryGetModule, &m, NULL);
    T("getmodule.nullout", cuLibraryGetModule, NULL, lib);
    T("module.unload", cuModuleUnload, m);
    T("module.getfn", cuModuleGetFunction, &f2, m, "scale");
    T("kernel.getfunction", cuKernelGetFunction, &f, k);
    V("kernel.getfunction.same", "%d %d", f == f2, (void *)f == (void *)k);
    T("kernel.getfunction.null", cuKernelGetFunction, &f, NULL);
    T("kernel.getfunction.nullout", cuKernelGetFunction, NULL, k);
    CUlibrary back = NULL;
    T("kernel.getlibrary", cuKernelGetLibrary, &back, k);
    V("kernel.getlibrary.same", "%d", back == lib);
    T("kernel.getlibrary.null", cuKernelGetLibrary, NULL, k);
    T("kernel.name", cuKernelGetName, &name, k);
    V("kernel.name.v", "%s", name ? name : "(null)");
    T("kernel.name.null", cuKernelGetName, NULL, k);
    T("kernel.name.nullkernel", cuKernelGetName, &name, NULL);
    T("kernel.param.0", cuKernelGetParamInfo, k, 0, &z, &z);
    T("kernel.param.9", cuKernelGetParamInfo, k, 9, &z, &z);
    for (int a = 0; a <= 10; a++) {
        CUresult status = T(N("kernel.attr.%d", a), cuKernelGetAttribute, &v, a, k, 0);
        if (!status && a != 2 && a != 4 && a != 6)
            V(N("kernel.attr.%d.v", a), "%d", v);
    }
    T("kernel.attr.baddev", cuKernelGetAttribute, &v, 0, k, 99);
    T("kernel.attr.null", cuKernelGetAttribute, NULL, 0, k, 0);
    T("kernel.attr.nullkernel", cuKernelGetAttribute, &v, 0, NULL, 0);
    T("kernel.setattr", cuKernelSetAttribute, 8, 1024, k, 0);
    T("kernel.setattr.huge", cuKernelSetAttribute, 8, 1 << 30, k, 0);
    T("kernel.setattr.readonly", cuKernelSetAttribute, 0, 64, k, 0);
    T("kernel.setcache", cuKernelSetCacheConfig, k, 1, 0);
    T("kernel.setcache.bad", cuKernelSetCacheConfig, k, 9, 0);
    T("global", cuLibraryGetGlobal, &p, &z, lib, "g_counter");
    V("global.size", "%zu", z);
    T("global.missing", cuLibraryGetGlobal, &p, &z, lib, "no_such");
    T("global.nullname", cuLibraryGetGlobal, &p, &z, lib, NULL);
    T("global.bothnull", cuLibraryGetGlobal, NULL, NULL, lib, "g_counter");
    T("managed", cuLibraryGetManaged, &p, &z, lib, "g_managed");
    V("managed.size", "%zu", z);
    T("managed.notmanaged", cuLibraryGetManaged, &p, &z, lib, "g_counter");
    T("unified.missing", cuLibraryGetUnifiedFunction, &value, lib, "no_such");
    unsigned n = 8, host[8] = {0};
    R(cuMemAlloc, &out, 64);
    void *args[] = {&out, &n};
    T("launch.kernel", cuLaunchKernel, (CUfunction)k, 1, 1, 1, 8, 1, 1, 0, NULL, args, NULL);
    R(cuMemcpyDtoH, host, out, sizeof host);
    V("launch.kernel.v", "%u %u", host[1], host[7]);
    T("func.attr.of.kernel", cuFuncGetAttribute, &v, 0, (CUfunction)k);
    T("func.name.of.kernel", cuFuncGetName, &name, (CUfunction)k);
    T("unload", cuLibraryUnload, lib);
    T("unload.null", cuLibraryUnload, NULL);
    T("unload.again", cuLibraryUnload, lib);
    T("getkernel.unloaded", cuLibraryGetKernel, &k, lib, "scale");
    T("unload2", cuLibraryUnload, lib2);
}

/* A probe of a CUDA driver library: valid and invalid calls in groups, one line per answer.
 *
 * The library is opened by path, so that the same binary can test NVIDIA's driver and ours. Lines:
 *     group.probe: CUDA_SUCCESS     the status of the call
 *     group.probe = value           a value that every correct driver returns
 *     group.probe ~ value           a value of this machine (its name, sizes, clocks): recorded, not compared
 *     group: signal N               the group was killed by a signal although single probes were skipped
 * A probe in which the process dies or hangs is answered `signal N`, and the group runs again without it. */
#ifndef ANYWARP_PROBE_H
#define ANYWARP_PROBE_H

#include <cuda.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Declared by cudaProfiler.h, which not every toolkit folder has. */
CUresult CUDAAPI cuProfilerStart(void);
CUresult CUDAAPI cuProfilerStop(void);

/* One pointer per function in api.h, named p_<the header's unversioned name>. */
#define F(name) extern __typeof__(name) *p_##name;
#include "api.h"
#undef F

/* Calls a function, reports its status under a name, and returns it. */
#define T(name, fn, ...) (begin(name) ? report(p_##fn(__VA_ARGS__)) : skipped())
/* Calls a function without reporting. */
#define R(fn, ...) p_##fn(__VA_ARGS__)

/* Begins a probe; returns 0 if it is to be skipped. Copies the name. */
int begin(const char *name);
CUresult report(CUresult status);
CUresult skipped(void);
/* A formatted name, valid until four further calls. */
const char *N(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Reports a value that every correct driver returns. */
void V(const char *name, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Reports a value of this machine. */
void M(const char *name, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Answers a probe with the signal that killed a child of the group. */
void died(const char *name, int number);
/* A symbol of the library by its exact name, for versions that the header no longer maps to. */
void *S(const char *symbol);
const char *error_name(CUresult status);
/* Initialises the driver, retains the primary context of device 0 and makes it current. */
CUcontext setup(void);
/* Loads one of our PTX texts; ends the group on failure. */
CUmodule load(const char *ptx);
CUfunction function(CUmodule module, const char *name);
/* Redirects a descriptor (1: standard output, 2: errors) to a file until captured() reads it back (with
 * newlines as \n). */
void capture(int descriptor);
const char *captured(void);

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* PTX texts (ptx.c). */
extern const char ptx_main[], ptx_faults[], ptx_printf[], ptx_link_a[], ptx_link_b[], ptx_bad_syntax[],
    ptx_params[],
    ptx_cluster[], ptx_clusters[], ptx_texture[], ptx_graph[], ptx_corners[];

/* Groups (one process each). */
#define GROUPS(G) \
    G(cold) G(init) G(errors) G(device) G(attr) G(ctx) G(ctxstack) G(ctxdead) G(ctxthread) G(pctx) \
    G(limit) G(module) G(ptxload) \
    G(jit) G(link) G(function) G(global) G(memory) G(memset) G(memsetwrap) G(copy) G(copy2d) G(copy3d) \
    G(hostmem) G(managed) \
    G(pointer) G(array) G(stream) G(streamdef) G(hostfn) G(memop) G(event) G(launch) G(launchex) \
    G(cluster) G(coop) G(occupancy) \
    G(printf) G(library) G(pool) G(vmm) G(ipc) G(capture) G(graph) G(dead) G(procaddr) G(trap) G(oob) \
    G(misaligned) \
    G(assertion) G(sharedoob) G(nullstore) G(recursion) G(reset) G(recover_primary) \
    G(recover_release) G(recover_created) G(sticky) G(misc) \
    G(fork) G(forkinit) G(atexit) G(visible) G(ipc_shared) G(crossctx) \
    G(texobject) G(texdesc) G(surfobject) G(texref) G(texrefget) G(texrefrun) G(surfref) G(mipmap) \
    G(texformats) G(surftrap) G(surfmisaligned) G(texbadhandle) \
    G(clusterattr) G(clusterlaunch) G(clusterocc) G(launchattr) \
    G(blocks) G(blockcopy) G(blockview) G(planar) G(sampler) \
    G(gkernel) G(gcopy) G(gmemset) G(gother) G(gbatch) G(gnode) G(glist) G(gedge) G(gclone) G(gdot) \
    G(gobject) G(gchild) G(gdead) \
    G(ginstantiate) G(glaunch) G(gexecset) G(genable) G(gexecdead) G(gupdate) G(gupdateparams) \
    G(gmemory) G(gautofree) \
    G(gmemcapture) G(gcond) G(gcondbody) G(gcondrun) \
    G(capglobal) G(capthread) G(caprelaxed) G(capglobalfar) G(capthreadfar) G(caprelaxedfar) G(capcodes) \
    G(capends) G(capinfo) \
    G(caporder) G(captograph) G(capmode) G(capevents) G(capdestroy) \
    G(randnodes) G(randcapture) G(randupdate) \
    G(greensplit) G(greendesc) G(green) G(greenrun) G(extmem) G(extmap) G(extsem) G(extuse) \
    G(logs) G(logsdead) G(coredump) G(notify) G(checkwrong) G(checkown) G(checkother) \
    G(sharecreate) G(share) G(sharefork) G(sharepool) \
    G(poolprops) G(poolof) G(poolmanaged) G(advise) G(rangeattr) G(prefetchbatch) \
    G(copybatch) G(copybatch3d) G(decompress) G(copyrest) \
    G(sparse) G(sparsemip) G(sparsemap) G(multicast) G(planes) \
    G(im2col) G(im2colwide) G(tensoraddress) G(graphics) G(gl) G(egl) G(vdpau) \
    G(copyrows) G(memopflags) G(asyncfar) G(sharedwrap) \
    G(peervmm) G(peerpool) G(peeralloc) \
    G(planarnew) G(planarmip) G(planarmap) G(planardefer) G(planarlayer) G(packedrow) G(planarcopy) \
    G(planartex) G(planarmipmap) G(planardead) G(planarfreed) \
    G(planareven) G(planarread) G(planarodd) G(packedof)
#define G(name) void group_##name(void);
GROUPS(G)
#undef G

#endif

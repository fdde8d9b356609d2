/* record LIBRARY DEVICE DATE [CASE]: runs each case on a CUDA driver library and writes the recording to
 * standard output. README.md describes the formats. With CASE, runs only cases whose names begin with it.
 * record --ptx: prints the kernels after lines `// NAME`. */
#include "record.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BLOCK = 128 };

/* A call that must succeed: otherwise its status is the case's result. */
#define CALL(fn, ...) \
    do { \
        CUresult r_ = FN(fn, __VA_ARGS__); \
        if (r_) { \
            fprintf(stderr, "record: %s: %s: %d\n", current->name, STRING(fn), (int)r_); \
            return r_; \
        } \
    } while (0)

static const struct texcase *current;

/* The kernel of a case: thread i loads its words and stores the instruction's results. */
static char *kernel(const struct texcase *c)
{
    char *text;
    size_t size;
    FILE *o = open_memstream(&text, &size);
    fprintf(o, ".version 8.6\n.target sm_86%s\n.address_size 64\n%s", c->samplers ? ", texmode_independent" : "", c->samplers ? c->samplers : "");
    if (c->reference && !c->samplers)
        fprintf(o, ".global .%s t;\n", c->surface ? "surfref" : "texref");
    fprintf(o, ".visible .entry k(.param .u64 handle, .param .u64 in, .param .u64 out, .param .u32 n)\n{\n");
    fprintf(o, "    .reg .b64 %%h, %%v<4>, %%q<8>; .reg .b32 %%c<%d>, %%r<8>, %%i, %%n, %%u<4>; .reg .b16 %%s<8>; .reg .pred %%p<4>;\n", WORDS);
    fprintf(o, "    mov.u32 %%u0, %%ctaid.x; mov.u32 %%u1, %%ntid.x; mov.u32 %%u2, %%tid.x; mad.lo.u32 %%i, %%u0, %%u1, %%u2;\n");
    fprintf(o, "    ld.param.u32 %%n, [n]; setp.ge.u32 %%p0, %%i, %%n; @%%p0 ret;\n");
    fprintf(o, "    ld.param.u64 %%h, [handle];\n");
    fprintf(o, "    ld.param.u64 %%v0, [in]; cvta.to.global.u64 %%v0, %%v0; mad.wide.u32 %%v0, %%i, %d, %%v0;\n", WORDS * 4);
    for (int k = 0; k < WORDS; k++)
        fprintf(o, "    ld.global.b32 %%c%d, [%%v0+%d];\n", k, k * 4);
    for (int k = 0; k < c->results; k++)
        fprintf(o, "    mov.b32 %%r%d, 0;\n", k);
    fprintf(o, "    %s\n", c->op);
    fprintf(o, "    ld.param.u64 %%v1, [out]; cvta.to.global.u64 %%v1, %%v1; mad.wide.u32 %%v1, %%i, %d, %%v1;\n", c->results * 4);
    for (int k = 0; k < c->results; k++)
        fprintf(o, "    st.global.b32 [%%v1+%d], %%r%d;\n", k * 4, k);
    fprintf(o, "    ret;\n}\n");
    fclose(o);
    return text;
}

static size_t at_least_one(size_t n)
{
    return n ? n : 1;
}

/* The objects of a case, and its result. */
struct run {
    CUarray array;
    CUmipmappedArray mipmap;
    CUdeviceptr memory;
    unsigned long long handle;
    size_t bytes;
    unsigned char *result;
    CUresult status;
    const char *stage;
};

/* Shared between the parent, which does not use CUDA, and the children; a fault kills one child. */
enum { ARENA = 64 << 20 };
static unsigned char *arena;
static size_t *arena_used;
static struct run *runs;
static int *next_case;

static CUresult copy(const struct texcase *c, CUarray array, size_t w, size_t h, size_t d, unsigned char *host, int back)
{
    size_t row = units(c, w) * element_bytes(c);
    CUDA_MEMCPY3D m;
    h = units(c, h);
    memset(&m, 0, sizeof m);
    m.srcMemoryType = back ? CU_MEMORYTYPE_ARRAY : CU_MEMORYTYPE_HOST;
    m.dstMemoryType = back ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_ARRAY;
    if (back) {
        m.srcArray = array;
        m.dstHost = host;
        m.dstPitch = row;
        m.dstHeight = h;
    } else {
        m.dstArray = array;
        m.srcHost = host;
        m.srcPitch = row;
        m.srcHeight = h;
    }
    m.WidthInBytes = row;
    m.Height = h;
    m.Depth = d;
    return FN(cuMemcpy3D, &m);
}

/* Creates the texels. Returns 0, or the first status other than success. */
static CUresult make_texels(const struct texcase *c, struct run *run, CUDA_RESOURCE_DESC *resource)
{
    unsigned element = element_bytes(c), of_view = c->view ? block_side(c) : 1;
    size_t w = c->width, h = at_least_one(c->height), d = at_least_one(c->depth);
    unsigned char *host = malloc(w * h * d * element);
    CUresult status;
    memset(resource, 0, sizeof *resource);
    if (c->place == ARRAY || c->place == MIPMAP) {
        CUDA_ARRAY3D_DESCRIPTOR a = {.Width = c->width / of_view, .Height = c->height / of_view, .Depth = c->depth, .Format = c->format, .NumChannels = c->channels,
                                     .Flags = c->array_flags | (c->surface ? CUDA_ARRAY3D_SURFACE_LDST : 0)};
        if (c->place == ARRAY) {
            if ((status = FN(cuArray3DCreate, &run->array, &a)))
                return status;
            resource->resType = CU_RESOURCE_TYPE_ARRAY;
            resource->res.array.hArray = run->array;
        } else {
            if ((status = FN(cuMipmappedArrayCreate, &run->mipmap, &a, c->levels)))
                return status;
            resource->resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
            resource->res.mipmap.hMipmappedArray = run->mipmap;
        }
        for (unsigned level = 0; level < (c->place == ARRAY ? 1 : c->levels); level++) {
            CUarray array = run->array;
            int stays = (c->array_flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP)) != 0;
            size_t lw = at_least_one(w >> level), lh = at_least_one(h >> level), ld = stays ? d : at_least_one(d >> level);
            if (c->place == MIPMAP)
                CALL(cuMipmappedArrayGetLevel, &array, run->mipmap, level);
            fill_texels(c, level, units(c, lw) * units(c, lh) * ld, units(c, lw), host);
            if ((status = copy(c, array, lw, lh, ld, host, 0)))
                return status;
        }
    } else {
        size_t pitch = w * element;
        if (c->place == PITCH)
            CALL(cuMemAllocPitch, &run->memory, &pitch, w * element, h, 16);
        else
            CALL(cuMemAlloc, &run->memory, w * element);
        fill_texels(c, 0, w * h, w, host);
        for (size_t y = 0; y < h; y++)
            CALL(cuMemcpyHtoD, run->memory + y * pitch, host + y * w * element, w * element);
        if (c->place == PITCH) {
            resource->resType = CU_RESOURCE_TYPE_PITCH2D;
            resource->res.pitch2D.devPtr = run->memory;
            resource->res.pitch2D.format = c->format;
            resource->res.pitch2D.numChannels = c->channels;
            resource->res.pitch2D.width = w;
            resource->res.pitch2D.height = h;
            resource->res.pitch2D.pitchInBytes = pitch;
        } else {
            resource->resType = CU_RESOURCE_TYPE_LINEAR;
            resource->res.linear.devPtr = run->memory;
            resource->res.linear.format = c->format;
            resource->res.linear.numChannels = c->channels;
            resource->res.linear.sizeInBytes = w * element;
        }
    }
    free(host);
    return CUDA_SUCCESS;
}

/* Binds the module's reference to the case's array, which is then read like the case's object. */
static CUresult bind(const struct texcase *c, struct run *run, CUmodule module)
{
    CUtexref t;
    if (c->surface) {
        CUsurfref s;
        CALL(cuModuleGetSurfRef, &s, module, "t");
        CALL(cuSurfRefSetArray, s, run->array, 0);
        return CUDA_SUCCESS;
    }
    CALL(cuModuleGetTexRef, &t, module, "t");
    CALL(cuTexRefSetArray, t, run->array, CU_TRSA_OVERRIDE_FORMAT);
    CALL(cuTexRefSetFlags, t, c->texture.flags);
    CALL(cuTexRefSetFilterMode, t, c->texture.filterMode);
    for (int k = 0; k < 2; k++)
        CALL(cuTexRefSetAddressMode, t, k, c->texture.addressMode[k]);
    return CUDA_SUCCESS;
}

static CUresult make_object(const struct texcase *c, struct run *run, const CUDA_RESOURCE_DESC *resource)
{
    CUDA_RESOURCE_VIEW_DESC view;
    if (c->surface)
        return FN(cuSurfObjectCreate, &run->handle, resource);
    memset(&view, 0, sizeof view);
    view.format = c->view;
    view.width = c->width;
    view.height = c->height;
    view.depth = c->depth;
    view.lastMipmapLevel = c->place == MIPMAP ? c->levels - 1 : 0;
    view.lastLayer = c->array_flags & CUDA_ARRAY3D_LAYERED ? (unsigned)c->depth - 1 : 0;
    if (c->array_flags & CUDA_ARRAY3D_LAYERED)
        view.depth = 0;
    return FN(cuTexObjectCreate, &run->handle, resource, &c->texture, c->view ? &view : NULL);
}

/* The module of a case's kernel; cases with the same instruction share it. */
static CUresult load(const struct texcase *c, CUmodule *module)
{
    static struct { const struct texcase *of; CUmodule module; } known[4096];
    static int count;
    for (int i = 0; i < count; i++)
        if (known[i].of->results == c->results && known[i].of->samplers == c->samplers && known[i].of->reference == c->reference && !strcmp(known[i].of->op, c->op)) {
            *module = known[i].module;
            return CUDA_SUCCESS;
        }
    char *text = kernel(c);
    CUresult status = FN(cuModuleLoadData, module, text);
    free(text);
    if (!status && count < (int)(sizeof known / sizeof *known)) {
        known[count].of = c;
        known[count++].module = *module;
    }
    return status;
}

/* Runs a case and stores its result in run->result. Returns a status, and in *stage the call that it came
 * from. */
static CUresult run_case(const struct texcase *c, struct run *run, const char **stage)
{
    static uint32_t words[MAX_COUNT * WORDS];
    CUDA_RESOURCE_DESC resource;
    CUmodule module;
    CUfunction function;
    CUdeviceptr in, out;
    CUresult status;
    *stage = "module";
    if ((status = load(c, &module)))
        return status;
    *stage = "resource";
    if (!(status = make_texels(c, run, &resource))) {
        *stage = "object";
        status = make_object(c, run, &resource);
        if (!status && c->reference)
            status = bind(c, run, module);
    }
    if (!status) {
        *stage = "run";
        size_t size = (size_t)c->count * (size_t)c->results * 4;
        size_t texels = c->surface == 2 ? c->width * at_least_one(c->height) * at_least_one(c->depth) * channel_bytes(c->format) * c->channels : 0;
        unsigned n = (unsigned)c->count;
        run->result = arena + *arena_used;
        *arena_used += size + texels;
        for (int i = 0; i < c->count; i++)
            coordinates(c, i, words + i * WORDS);
        CALL(cuModuleGetFunction, &function, module, "k");
        CALL(cuMemAlloc, &in, sizeof words);
        CALL(cuMemAlloc, &out, size + 4);
        CALL(cuMemcpyHtoD, in, words, (size_t)c->count * WORDS * 4);
        CALL(cuMemsetD8, out, 0, size + 4);
        void *args[] = {&run->handle, &in, &out, &n};
        if ((status = launch(function, (n + BLOCK - 1) / BLOCK, BLOCK, args)) || (status = FN(cuCtxSynchronize)))
            return status;
        CALL(cuMemcpyDtoH, run->result, out, size);
        if (texels && (status = copy(c, run->array, c->width, at_least_one(c->height), at_least_one(c->depth), run->result + size, 1)))
            return status;
        run->bytes = size + texels;
        CALL(cuMemFree, in);
        CALL(cuMemFree, out);
        if (c->surface)
            CALL(cuSurfObjectDestroy, run->handle);
        else
            CALL(cuTexObjectDestroy, run->handle);
    }
    if (run->array)
        CALL(cuArrayDestroy, run->array);
    if (run->mipmap)
        CALL(cuMipmappedArrayDestroy, run->mipmap);
    if (run->memory)
        CALL(cuMemFree, run->memory);
    return status;
}

/* Runs cases from *next_case on, until one faults or all are done. */
static CUresult run_cases(const char *path, const char *only)
{
    open_library(path);
    begin_device();
    while (*next_case < case_count) {
        struct run *run = &runs[*next_case];
        current = &cases[(*next_case)++];
        if (strncmp(current->name, only, strlen(only)) || !wanted(current->name)) {
            run->stage = "";
            continue;
        }
        run->stage = "died";
        run->status = run_case(current, run, &run->stage);
        if (run->status && !strcmp(run->stage, "run"))
            return run->status;
    }
    return CUDA_SUCCESS;
}

int main(int argc, char **argv)
{
    if (argc == 2 && !strcmp(argv[1], "--ptx")) {
        make_cases();
        for (int i = 0; i < case_count; i++) {
            char *text = kernel(&cases[i]);
            printf("// %s\n%s", cases[i].name, text);
            free(text);
        }
        return 0;
    }
    if (argc != 4 && argc != 5)
        die("usage: record LIBRARY DEVICE DATE [CASE], or record --ptx");
    make_cases();
    arena = shared_memory(ARENA);
    arena_used = shared_memory(sizeof *arena_used);
    runs = shared_memory(sizeof *runs * (size_t)case_count);
    next_case = shared_memory(sizeof *next_case);
    while (*next_case < case_count) {
        int before = *next_case;
        pid_t child = fork();
        if (child < 0)
            die("no process");
        if (child == 0)
            _exit(run_cases(argv[1], argc == 5 ? argv[4] : "") != CUDA_SUCCESS);
        waitpid(child, NULL, 0);
        if (*next_case == before)
            die("the driver does not begin");
    }
    printf("anywarp-texture 1\n%s\n%s\n", argv[2], argv[3]);
    for (int i = 0; i < case_count; i++)
        if (!runs[i].stage || !*runs[i].stage)
            continue;
        else if (runs[i].status || !runs[i].bytes)
            printf("%s %s %d\n", cases[i].name, runs[i].stage, (int)runs[i].status);
        else
            printf("%s ok %d %d %zu\n", cases[i].name, cases[i].results, cases[i].count, runs[i].bytes);
    printf("end\n");
    for (int i = 0; i < case_count; i++)
        if (runs[i].bytes && !runs[i].status)
            fwrite(runs[i].result, 1, runs[i].bytes, stdout);
    return 0;
}

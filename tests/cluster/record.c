/* record LIBRARY CASES DEVICE DATE [CASE]: runs each case on a CUDA driver library and writes the recording to standard output. README.md
 * has the formats. With CASE only the cases whose names begin so; with `--ptx CASES` the kernels are printed. */
#include <cuda.h>
#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST = 512, WORDS = 40 };

static void die(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    exit(1);
}

/* A kernel, and a launch of it. */
struct kernel {
    char head[256], directives[256], target[32], version[16];
    unsigned words;
    char *body;
};
struct launch {
    char name[64];
    const struct kernel *kernel;
    unsigned grid[3], block[3], cluster[3], shared;
    int has_cluster, large;
};
static struct kernel kernels[MOST];
static struct launch launches[MOST];
static int kernel_count, launch_count;

static void sides(const char *text, unsigned side[3])
{
    side[0] = side[1] = side[2] = 1;
    if (sscanf(text, "%ux%ux%u", &side[0], &side[1], &side[2]) < 1)
        die("record: `%s` is no size", text);
}

static void read_cases(const char *path)
{
    FILE *file = fopen(path, "r");
    if (!file)
        die("record: cannot read %s", path);
    struct kernel *k = NULL;
    size_t room = 0;
    char line[1024], *text = NULL;
    FILE *body = NULL;
    while (fgets(line, sizeof line, file)) {
        char *rest = NULL, *word;
        if (line[0] == '#' || line[0] == '\n')
            continue;
        if (!strncmp(line, "kernel", 6)) {
            if (body)
                fclose(body), k->body = text;
            k = &kernels[kernel_count++];
            memset(k, 0, sizeof *k);
            strcpy(k->target, "sm_90");
            strcpy(k->version, "8.0");
            k->words = 1;
            body = open_memstream(&text, &room);
            strtok_r(line, " \n", &rest);
            while ((word = strtok_r(NULL, " \n", &rest))) {
                if (sscanf(word, "words=%u", &k->words) == 1 || sscanf(word, "target=%31s", k->target) == 1 ||
                    sscanf(word, "version=%15s", k->version) == 1)
                    continue;
                if (word[0] != '.')
                    die("record: kernel: `%s`", word);
                /* A directive with its numbers ends the line. */
                snprintf(k->directives, sizeof k->directives, "%s %s", word, rest);
                break;
            }
            if (k->words > WORDS || kernel_count == MOST)
                die("record: too much");
        } else if (!strncmp(line, "run ", 4)) {
            struct launch *l = &launches[launch_count++];
            memset(l, 0, sizeof *l);
            l->kernel = k;
            sides("1", l->grid), sides("32", l->block);
            strtok_r(line, " \n", &rest);
            snprintf(l->name, sizeof l->name, "%s", strtok_r(NULL, " \n", &rest));
            while ((word = strtok_r(NULL, " \n", &rest))) {
                if (!strncmp(word, "grid=", 5))
                    sides(word + 5, l->grid);
                else if (!strncmp(word, "block=", 6))
                    sides(word + 6, l->block);
                else if (!strncmp(word, "cluster=", 8))
                    sides(word + 8, l->cluster), l->has_cluster = 1;
                else if (!strcmp(word, "large"))
                    l->large = 1;
                else if (sscanf(word, "shared=%u", &l->shared) != 1)
                    die("record: run: `%s`", word);
            }
        } else if (line[0] == ' ') {
            fputs(line, body);
        } else if (k) {
            strncat(k->head, line, sizeof k->head - strlen(k->head) - 1);
        }
    }
    if (body)
        fclose(body), k->body = text;
    fclose(file);
}

/* Thread %i of the grid runs the body and stores %o0, %o1, ... */
static char *text_of(const struct kernel *k)
{
    char *text;
    size_t size;
    FILE *o = open_memstream(&text, &size);
    fprintf(o, ".version %s\n.target %s\n.address_size 64\n%s", k->version, k->target, k->head);
    fprintf(o, ".visible .entry k(.param .u64 out) %s\n{\n", k->directives);
    fprintf(o, "    .reg .b64 %%d<24>, %%out, %%at; .reg .b32 %%r<40>, %%o<%d>, %%i, %%t, %%b, %%u<4>; .reg .b16 %%h<8>; .reg .pred %%p<12>;\n", WORDS);
    fprintf(o, "    mov.u32 %%u0, %%tid.z; mov.u32 %%u1, %%ntid.y; mov.u32 %%u2, %%tid.y; mad.lo.u32 %%u0, %%u0, %%u1, %%u2;\n");
    fprintf(o, "    mov.u32 %%u1, %%ntid.x; mov.u32 %%u2, %%tid.x; mad.lo.u32 %%t, %%u0, %%u1, %%u2;\n");
    fprintf(o, "    mov.u32 %%u0, %%ctaid.z; mov.u32 %%u1, %%nctaid.y; mov.u32 %%u2, %%ctaid.y; mad.lo.u32 %%u0, %%u0, %%u1, %%u2;\n");
    fprintf(o, "    mov.u32 %%u1, %%nctaid.x; mov.u32 %%u2, %%ctaid.x; mad.lo.u32 %%b, %%u0, %%u1, %%u2;\n");
    fprintf(o, "    mov.u32 %%u0, %%ntid.x; mov.u32 %%u1, %%ntid.y; mul.lo.u32 %%u0, %%u0, %%u1; mov.u32 %%u1, %%ntid.z; mul.lo.u32 %%u0, %%u0, %%u1;\n");
    fprintf(o, "    mad.lo.u32 %%i, %%b, %%u0, %%t;\n");
    fprintf(o, "    ld.param.u64 %%out, [out]; mad.wide.u32 %%at, %%i, %u, %%out;\n", k->words * 4);
    for (unsigned w = 0; w < k->words; w++)
        fprintf(o, "    mov.b32 %%o%u, 0;\n", w);
    fprintf(o, "%s", k->body);
    for (unsigned w = 0; w < k->words; w++)
        fprintf(o, "    st.global.b32 [%%at+%u], %%o%u;\n", w * 4, w);
    fprintf(o, "    ret;\n}\n");
    fclose(o);
    return text;
}

static void *library;
static const struct launch *current;

static void *symbol(const char *name)
{
    void *s = dlsym(library, name);
    if (!s)
        die("record: the library has no %s", name);
    return s;
}
#define FN(fn, type, ...) ((CUresult(*) type)symbol(fn))(__VA_ARGS__)
/* A call that must succeed: else the case's answer is where, and the status. */
#define CALL(where, fn, type, ...) \
    do { \
        CUresult r_ = FN(fn, type, __VA_ARGS__); \
        if (r_) { \
            printf("%s %s %d\n", current->name, where, (int)r_); \
            return r_; \
        } \
    } while (0)

static size_t product(const unsigned side[3])
{
    return (size_t)side[0] * side[1] * side[2];
}

static CUresult run(const struct launch *l)
{
    CUmodule module;
    CUfunction f;
    CUdeviceptr out;
    size_t words = product(l->grid) * product(l->block) * l->kernel->words;
    /* What grids are counted in may be clusters. */
    if (strstr(l->kernel->directives, "blocksareclusters"))
        words *= 16;
    char *text = text_of(l->kernel);
    char log[4096] = "";
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log, (void *)(size_t)sizeof log};
    CUresult loaded = FN("cuModuleLoadDataEx", (CUmodule *, const void *, unsigned, CUjit_option *, void **), &module, text, 2, options, values);
    if (loaded) {
        fprintf(stderr, "record: %s: %s\n", l->name, log);
        printf("%s module %d\n", l->name, (int)loaded);
        return loaded;
    }
    CALL("function", "cuModuleGetFunction", (CUfunction *, CUmodule, const char *), &f, module, "k");
    if (l->large)
        CALL("large", "cuFuncSetAttribute", (CUfunction, CUfunction_attribute, int), f, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1);
    CALL("memory", "cuMemAlloc_v2", (CUdeviceptr *, size_t), &out, words * 4);
    CALL("memory", "cuMemsetD8_v2", (CUdeviceptr, unsigned char, size_t), out, 0, words * 4);
    void *args[] = {&out};
    CUlaunchAttribute at;
    memset(&at, 0, sizeof at);
    at.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    at.value.clusterDim.x = l->cluster[0], at.value.clusterDim.y = l->cluster[1], at.value.clusterDim.z = l->cluster[2];
    CUlaunchConfig c = {.gridDimX = l->grid[0], .gridDimY = l->grid[1], .gridDimZ = l->grid[2], .blockDimX = l->block[0],
                        .blockDimY = l->block[1], .blockDimZ = l->block[2], .sharedMemBytes = l->shared,
                        .attrs = &at, .numAttrs = l->has_cluster};
    CALL("launch", "cuLaunchKernelEx", (const CUlaunchConfig *, CUfunction, void **, void **), &c, f, args, NULL);
    CALL("run", "cuCtxSynchronize", (void), );
    unsigned *host = malloc(words * 4);
    CALL("copy", "cuMemcpyDtoH_v2", (void *, CUdeviceptr, size_t), host, out, words * 4);
    printf("%s ok", l->name);
    /* Equal words in a row are written once, with their number. */
    for (size_t i = 0; i < words;) {
        size_t n = 1;
        while (i + n < words && host[i + n] == host[i])
            n++;
        printf(n == 1 ? " %x" : " %x*%zu", host[i], n);
        i += n;
    }
    printf("\n");
    FN("cuMemFree_v2", (CUdeviceptr), out);
    FN("cuModuleUnload", (CUmodule), module);
    free(host), free(text);
    return CUDA_SUCCESS;
}

int main(int argc, char **argv)
{
    if (argc == 3 && !strcmp(argv[1], "--ptx")) {
        read_cases(argv[2]);
        for (int k = 0; k < kernel_count; k++)
            printf("%s\n", text_of(&kernels[k]));
        return 0;
    }
    if (argc < 5)
        die("record LIBRARY CASES DEVICE DATE [CASE]");
    read_cases(argv[2]);
    printf("anywarp-cluster 1\n%s\n%s\n", argv[3], argv[4]);
    fflush(stdout);
    /* A fault ends the child that it happens in; the next one goes on behind it. */
    volatile int *next = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    while (*next < launch_count) {
        pid_t child = fork();
        if (child == 0) {
            CUdevice device;
            CUcontext context;
            library = dlopen(argv[1], RTLD_NOW);
            if (!library)
                die("record: %s", dlerror());
            if (FN("cuInit", (unsigned), 0) || FN("cuDeviceGet", (CUdevice *, int), &device, 0) ||
                FN("cuDevicePrimaryCtxRetain", (CUcontext *, CUdevice), &context, device) || FN("cuCtxSetCurrent", (CUcontext), context))
                die("record: no device");
            while (*next < launch_count) {
                current = &launches[(*next)++];
                if (argc > 5 && strncmp(current->name, argv[5], strlen(argv[5])))
                    continue;
                alarm(60);
                CUresult status = run(current);
                fflush(stdout);
                if (status)
                    _exit(0);
            }
            _exit(0);
        }
        int status;
        waitpid(child, &status, 0);
        if (WIFEXITED(status) && WEXITSTATUS(status))
            return 1;
        if (WIFSIGNALED(status)) {
            printf("%s signal %d\n", launches[*next - 1].name, WTERMSIG(status));
            fflush(stdout);
        }
    }
    printf("end\n");
    return 0;
}

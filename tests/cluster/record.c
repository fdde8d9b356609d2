/* record LIBRARY CASES DEVICE DATE [CASE]: runs each case on a CUDA driver library and writes the
 * recording to standard output. README.md describes the formats. With CASE, runs only cases whose names
 * begin with it. With `--ptx CASES`, prints the kernels after lines `// NAME`. */
#include "driver.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST = 512, WORDS = 40 };

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
        die("`%s` is no size", text);
}

static void read_cases(const char *path)
{
    struct kernel *k = NULL;
    size_t size, room = 0;
    char *text = NULL, *lines = read_file(path, &size);
    FILE *body = NULL;
    for (char *line; (line = strsep(&lines, "\n"));) {
        char *rest = NULL, *word;
        if (line[0] == '#' || !line[0])
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
            strtok_r(line, " ", &rest);
            while ((word = strtok_r(NULL, " ", &rest))) {
                if (sscanf(word, "words=%u", &k->words) == 1 || sscanf(word, "target=%31s", k->target) == 1 ||
                    sscanf(word, "version=%15s", k->version) == 1)
                    continue;
                if (word[0] != '.')
                    die("kernel: `%s`", word);
                /* A directive and its numbers fill the rest of the line. */
                snprintf(k->directives, sizeof k->directives, "%s %s", word, rest);
                break;
            }
            if (k->words > WORDS || kernel_count == MOST)
                die("too much");
        } else if (!strncmp(line, "run ", 4)) {
            struct launch *l = &launches[launch_count++];
            memset(l, 0, sizeof *l);
            l->kernel = k;
            sides("1", l->grid), sides("32", l->block);
            strtok_r(line, " ", &rest);
            snprintf(l->name, sizeof l->name, "%s", strtok_r(NULL, " ", &rest));
            while ((word = strtok_r(NULL, " ", &rest))) {
                if (!strncmp(word, "grid=", 5))
                    sides(word + 5, l->grid);
                else if (!strncmp(word, "block=", 6))
                    sides(word + 6, l->block);
                else if (!strncmp(word, "cluster=", 8))
                    sides(word + 8, l->cluster), l->has_cluster = 1;
                else if (!strcmp(word, "large"))
                    l->large = 1;
                else if (sscanf(word, "shared=%u", &l->shared) != 1)
                    die("run: `%s`", word);
            }
        } else if (line[0] == ' ') {
            fprintf(body, "%s\n", line);
        } else if (k) {
            size_t held = strlen(k->head);
            snprintf(k->head + held, sizeof k->head - held, "%s\n", line);
        }
    }
    if (body)
        fclose(body), k->body = text;
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

static const struct launch *current;

/* A call that must succeed: otherwise the case's result is `where` and the status. */
#define CALL(where, fn, ...) \
    do { \
        CUresult r_ = FN(fn, __VA_ARGS__); \
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
    /* The grid may be counted in clusters. */
    if (strstr(l->kernel->directives, "blocksareclusters"))
        words *= 16;
    char *text = text_of(l->kernel);
    CUresult loaded = load_ptx(&module, text);
    if (loaded) {
        printf("%s module %d\n", l->name, (int)loaded);
        return loaded;
    }
    CALL("function", cuModuleGetFunction, &f, module, "k");
    if (l->large)
        CALL("large", cuFuncSetAttribute, f, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1);
    CALL("memory", cuMemAlloc, &out, words * 4);
    CALL("memory", cuMemsetD8, out, 0, words * 4);
    void *args[] = {&out};
    CUlaunchAttribute at;
    memset(&at, 0, sizeof at);
    at.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    at.value.clusterDim.x = l->cluster[0], at.value.clusterDim.y = l->cluster[1], at.value.clusterDim.z = l->cluster[2];
    CUlaunchConfig c = {.gridDimX = l->grid[0], .gridDimY = l->grid[1], .gridDimZ = l->grid[2], .blockDimX = l->block[0],
                        .blockDimY = l->block[1], .blockDimZ = l->block[2], .sharedMemBytes = l->shared,
                        .attrs = &at, .numAttrs = l->has_cluster};
    CALL("launch", cuLaunchKernelEx, &c, f, args, NULL);
    CALL("run", cuCtxSynchronize);
    unsigned *host = malloc(words * 4);
    CALL("copy", cuMemcpyDtoH, host, out, words * 4);
    printf("%s ok", l->name);
    /* Runs of equal words are written once, with their number. */
    for (size_t i = 0; i < words;) {
        size_t n = 1;
        while (i + n < words && host[i + n] == host[i])
            n++;
        printf(n == 1 ? " %x" : " %x*%zu", host[i], n);
        i += n;
    }
    printf("\n");
    FN(cuMemFree, out);
    FN(cuModuleUnload, module);
    free(host), free(text);
    return CUDA_SUCCESS;
}

int main(int argc, char **argv)
{
    if (argc == 3 && !strcmp(argv[1], "--ptx")) {
        read_cases(argv[2]);
        for (int l = 0; l < launch_count; l++)
            printf("// %s\n%s", launches[l].name, text_of(launches[l].kernel));
        return 0;
    }
    if (argc < 5)
        die("usage: record LIBRARY CASES DEVICE DATE [CASE]");
    read_cases(argv[2]);
    printf("anywarp-cluster 1\n%s\n%s\n", argv[3], argv[4]);
    fflush(stdout);
    /* A fault kills the child process; the next child continues behind it. */
    volatile int *next = shared_memory(sizeof *next);
    while (*next < launch_count) {
        pid_t child = fork();
        if (child == 0) {
            open_library(argv[1]);
            begin_device();
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

/* The probe's runner: one process per group, a library given by path. */
#define _GNU_SOURCE
#include "driver.h"
#include "probe.h"
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/wait.h>
#include <unistd.h>

enum { GROUP_SECONDS = 30, MAX_SKIPS = 64 };

#define F(name) __typeof__(name) *p_##name;
#include "api.h"
#undef F

static const char *group_name;
static FILE *out;

/* Shared with the child: the current probe, and those to skip. */
static struct shared {
    int at;
    int skips;
    struct { int index, signal; } skip[MAX_SKIPS];
} *shared;

static char current[256];

const char *N(const char *format, ...)
{
    static char buffers[4][256];
    static int next;
    char *buffer = buffers[next++ & 3];
    va_list args;
    va_start(args, format);
    vsnprintf(buffer, sizeof buffers[0], format, args);
    va_end(args);
    return buffer;
}

int begin(const char *name)
{
    snprintf(current, sizeof current, "%s", name);
    shared->at++;
    for (int i = 0; i < shared->skips; i++)
        if (shared->skip[i].index == shared->at) {
            fprintf(out, "%s.%s: signal %d\n", group_name, current, shared->skip[i].signal);
            fflush(out);
            return 0;
        }
    return 1;
}

CUresult report(CUresult status)
{
    fprintf(out, "%s.%s: %s\n", group_name, current, error_name(status));
    fflush(out);
    return status;
}

CUresult skipped(void)
{
    return CUDA_ERROR_UNKNOWN;
}

static void value(const char *name, const char *sign, const char *format, va_list args)
{
    fprintf(out, "%s.%s %s ", group_name, name, sign);
    vfprintf(out, format, args);
    fputc('\n', out);
    fflush(out);
}

void V(const char *name, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    value(name, "=", format, args);
    va_end(args);
}

void M(const char *name, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    value(name, "~", format, args);
    va_end(args);
}

void died(const char *name, int number)
{
    fprintf(out, "%s.%s: signal %d\n", group_name, name, number);
    fflush(out);
}

void *S(const char *symbol)
{
    return find(symbol);
}

CUcontext setup(void)
{
    CUcontext context = NULL;
    CUresult status = R(cuInit, 0);
    if (!status)
        status = R(cuDevicePrimaryCtxRetain, &context, 0);
    if (!status)
        status = R(cuCtxSetCurrent, context);
    if (status) {
        fprintf(out, "%s: no context: %s\n", group_name, error_name(status));
        fflush(out);
        _exit(0);
    }
    return context;
}

CUmodule load(const char *ptx)
{
    CUmodule module = NULL;
    CUresult status = R(cuModuleLoadData, &module, ptx);
    if (status) {
        fprintf(out, "%s: no module: %s\n", group_name, error_name(status));
        fflush(out);
        _exit(0);
    }
    return module;
}

CUfunction function(CUmodule module, const char *name)
{
    CUfunction f = NULL;
    CUresult status = R(cuModuleGetFunction, &f, module, name);
    if (status) {
        fprintf(out, "%s: no function %s: %s\n", group_name, name, error_name(status));
        fflush(out);
        _exit(0);
    }
    return f;
}

static int captured_descriptor, saved = -1;
static FILE *captured_file;

void capture(int descriptor)
{
    fflush(NULL);
    captured_descriptor = descriptor;
    captured_file = tmpfile();
    saved = dup(descriptor);
    dup2(fileno(captured_file), descriptor);
}

const char *captured(void)
{
    static char raw[65536], text[131072];
    fflush(NULL);
    dup2(saved, captured_descriptor);
    close(saved);
    rewind(captured_file);
    size_t n = fread(raw, 1, sizeof raw - 1, captured_file), k = 0;
    fclose(captured_file);
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)raw[i];
        if (c == '\n') {
            text[k++] = '\\';
            text[k++] = 'n';
        } else if (c < 32 || c >= 127 || c == '\\') {
            if (k + 5 < sizeof text)
                k += (size_t)sprintf(text + k, "\\x%02x", c);
        } else
            text[k++] = (char)c;
    }
    text[k] = 0;
    return text;
}

static CUresult missing(void)
{
    return (CUresult)100000;
}

static void find_functions(void)
{
#define F(name) \
    p_##name = (__typeof__(name) *)find(STRING(name)); \
    if (!p_##name) \
        p_##name = (__typeof__(name) *)(void *)missing;
#include "api.h"
#undef F
}

struct group { const char *name; void (*run)(void); };
static const struct group groups[] = {
#define G(name) { #name, group_##name },
    GROUPS(G)
#undef G
};

/* Runs a group in a child and returns its lines in *text. Returns the signal that killed it, or 0; -1 if
 * the exit status was not 0. */
static int run_once(const char *library, const struct group *g, char **text, size_t *size)
{
    int ends[2];
    if (pipe(ends))
        die("no pipe");
    fflush(NULL);
    pid_t child = fork();
    if (child < 0)
        die("no process");
    if (child == 0) {
        close(ends[0]);
        out = fdopen(ends[1], "w");
        group_name = g->name;
        shared->at = 0;
        alarm(GROUP_SECONDS);
        open_library(library);
        find_functions();
        g->run();
        fflush(out);
        _exit(0);
    }
    close(ends[1]);
    FILE *sink = open_memstream(text, size);
    char buffer[4096];
    ssize_t n;
    while ((n = read(ends[0], buffer, sizeof buffer)) > 0 || (n < 0 && errno == EINTR))
        if (n > 0)
            fwrite(buffer, 1, (size_t)n, sink);
    fclose(sink);
    close(ends[0]);
    int status;
    waitpid(child, &status, 0);
    if (WIFSIGNALED(status))
        return WTERMSIG(status);
    return WEXITSTATUS(status) ? -1 : 0;
}

static int run_group(const char *library, const struct group *g)
{
    char *text;
    size_t size;
    int ended;
    shared->skips = 0;
    while ((ended = run_once(library, g, &text, &size)) > 0 && shared->skips < MAX_SKIPS && shared->at > 0) {
        int again = 0;
        for (int i = 0; i < shared->skips; i++)
            again |= shared->skip[i].index == shared->at;
        if (again)
            break;
        shared->skip[shared->skips].index = shared->at;
        shared->skip[shared->skips++].signal = ended;
        free(text);
    }
    fwrite(text, 1, size, stdout);
    if (ended > 0)
        printf("%s: signal %d\n", g->name, ended);
    else if (ended < 0)
        fprintf(stderr, "probe: the group %s ended early\n", g->name);
    fflush(stdout);
    free(text);
    return ended < 0;
}

int main(int argc, char **argv)
{
    const char *library = "libcuda.so.1", *only = NULL;
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--list")) {
            for (size_t g = 0; g < COUNT(groups); g++)
                puts(groups[g].name);
            return 0;
        } else if (!strcmp(argv[i], "--group") && i + 1 < argc)
            only = argv[++i];
        else if (argv[i][0] == '-')
            die("usage: probe [LIBRARY] [--group NAME | --list]");
        else
            library = argv[i];
    }
    shared = shared_memory(sizeof *shared);
    /* A cached module has no compiler log. */
    setenv("CUDA_CACHE_DISABLE", "1", 1);
    int found = 0, failed = 0;
    for (size_t g = 0; g < COUNT(groups); g++)
        if (!only || !strcmp(only, groups[g].name)) {
            found = 1;
            failed |= run_group(library, &groups[g]);
        }
    if (!found)
        die("no group named %s (see --list)", only);
    return failed;
}

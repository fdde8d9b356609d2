/* Calls by words, and parts of a group in a process of their own; documented in words.h. */
#include "words.h"
#include "driver.h"
#include <sys/wait.h>
#include <unistd.h>

CUresult words(const char *symbol, const uint64_t *w)
{
    typedef CUresult call(uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t,
    uint64_t,
        uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t);
    call *f = (call *)S(symbol);
    if (!f)
        return (CUresult)100000;
    return f(w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7], w[8], w[9], w[10], w[11], w[12], w[13], w[14],
        w[15]);
}

CUmemLocation at_location(int type, int id)
{
    CUmemLocation at;
    memset(&at, 0, sizeof at);
    at.type = type;
    at.id = id;
    return at;
}

static char *last;

const char *step(const char *name)
{
    if (last)
        snprintf(last, 128, "%s", name);
    return name;
}

void in_process(void (*part)(void *), void *data, unsigned seconds)
{
    if (!last)
        last = shared_memory(128);
    snprintf(last, 128, "child");
    pid_t child = fork();
    if (child == 0) {
        alarm(seconds);
        part(data);
        _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (WIFSIGNALED(status))
        died(last, WTERMSIG(status));
}

unsigned long long hash_of(const void *bytes, size_t size)
{
    unsigned long long hash = 0xcbf29ce484222325u;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ ((const unsigned char *)bytes)[i]) * 0x100000001b3u;
    return hash;
}

/* Checkpoints: of the own process, of a child, and of processes that do not exist. What is asked of the own
 * process happens in a child, which may hang or die. */
#include "words.h"
#include <errno.h>
#include <signal.h>
#include <sys/select.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define C(name, fn, ...) (begin(step(name)) ? report(p_##fn(__VA_ARGS__)) : skipped())

static void state(const char *given, int pid)
{
    char name[64];
    CUprocessState s = 99;
    int thread = 0;
    snprintf(name, sizeof name, "%s", given);
    C(N("%s.state", name), cuCheckpointProcessGetState, pid, &s);
    V(N("%s.state.v", name), "%d", (int)s);
    C(N("%s.thread", name), cuCheckpointProcessGetRestoreThreadId, pid, &thread);
    V(N("%s.thread.v", name), "own=%d positive=%d", thread == pid, thread > 0);
}

static void wrong(void *data)
{
    int initialised = data != NULL, thread = 0;
    const char *w = initialised ? "inited" : "cold";
    const struct { const char *name; int pid; } pids[] = {
        {"zero", 0}, {"negative", -1}, {"absent", 0x3ffffff}, {"huge", 0x7fffffff}, {"parent", getppid()}};
    CUcheckpointLockArgs lock = {.timeoutMs = 100};
    CUprocessState s = 99;
    if (initialised)
        R(cuInit, 0);
    for (size_t i = 0; i < COUNT(pids); i++) {
        int p = pids[i].pid;
        C(N("%s.%s.state", w, pids[i].name), cuCheckpointProcessGetState, p, &s);
        C(N("%s.%s.thread", w, pids[i].name), cuCheckpointProcessGetRestoreThreadId, p, &thread);
        C(N("%s.%s.lock", w, pids[i].name), cuCheckpointProcessLock, p, &lock);
        C(N("%s.%s.checkpoint", w, pids[i].name), cuCheckpointProcessCheckpoint, p, NULL);
        C(N("%s.%s.restore", w, pids[i].name), cuCheckpointProcessRestore, p, NULL);
        C(N("%s.%s.unlock", w, pids[i].name), cuCheckpointProcessUnlock, p, NULL);
    }
    C(N("%s.state.null", w), cuCheckpointProcessGetState, getpid(), NULL);
    C(N("%s.thread.null", w), cuCheckpointProcessGetRestoreThreadId, getpid(), NULL);
}

void group_checkwrong(void)
{
    in_process(wrong, NULL, 10);
    in_process(wrong, "", 10);
}

/* The own process, with and without a context. */
static void own(void *data)
{
    const char *w = data;
    int pid = getpid();
    CUdeviceptr p = 0;
    unsigned value = 0;
    CUcheckpointLockArgs lock = {.timeoutMs = 1000};
    if (!strcmp(w, "inited"))
        R(cuInit, 0);
    if (!strcmp(w, "context")) {
        setup();
        R(cuMemAlloc, &p, 64);
        R(cuMemsetD32, p, 7, 16);
        R(cuCtxSynchronize);
    }
    state(N("%s.before", w), pid);
    C(N("%s.early.checkpoint", w), cuCheckpointProcessCheckpoint, pid, NULL);
    C(N("%s.early.restore", w), cuCheckpointProcessRestore, pid, NULL);
    C(N("%s.early.unlock", w), cuCheckpointProcessUnlock, pid, NULL);
    C(N("%s.lock", w), cuCheckpointProcessLock, pid, &lock);
    state(N("%s.locked", w), pid);
    C(N("%s.lock.again", w), cuCheckpointProcessLock, pid, &lock);
    C(N("%s.locked.restore", w), cuCheckpointProcessRestore, pid, NULL);
    C(N("%s.checkpoint", w), cuCheckpointProcessCheckpoint, pid, NULL);
    state(N("%s.checkpointed", w), pid);
    C(N("%s.checkpoint.again", w), cuCheckpointProcessCheckpoint, pid, NULL);
    C(N("%s.checkpointed.unlock", w), cuCheckpointProcessUnlock, pid, NULL);
    C(N("%s.checkpointed.lock", w), cuCheckpointProcessLock, pid, &lock);
    C(N("%s.restore", w), cuCheckpointProcessRestore, pid, NULL);
    state(N("%s.restored", w), pid);
    C(N("%s.unlock", w), cuCheckpointProcessUnlock, pid, NULL);
    state(N("%s.unlocked", w), pid);
    C(N("%s.unlock.again", w), cuCheckpointProcessUnlock, pid, NULL);
    if (p) {
        C(N("%s.read", w), cuMemcpyDtoH, &value, p, 4);
        V(N("%s.read.v", w), "%u", value);
    }
}

void group_checkown(void)
{
    in_process(own, "cold", 8);
    in_process(own, "inited", 8);
    in_process(own, "context", 8);
}

/* A process with a context, which reads its memory whenever it is told to. */
struct other { int pid, to[2], from[2]; };

static struct other start(void)
{
    struct other o;
    if (pipe(o.to) || pipe(o.from))
        _exit(1);
    o.pid = fork();
    if (o.pid == 0) {
        CUdeviceptr p = 0;
        char c;
        alarm(20);
        close(o.to[1]);
        close(o.from[0]);
        prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
        setup();
        R(cuMemAlloc, &p, 64);
        R(cuMemsetD32, p, 7, 16);
        R(cuCtxSynchronize);
        unsigned answer[2] = {0, 7};
        do {
            if (write(o.from[1], answer, sizeof answer) != (ssize_t)sizeof answer ||
                read(o.to[0], &c, 1) != 1)
                _exit(0);
            answer[1] = 0;
            answer[0] = (unsigned)R(cuMemcpyDtoH, &answer[1], p, 4);
        } while (1);
    }
    close(o.to[0]);
    close(o.from[1]);
    return o;
}

/* The status and the word that the other process read; -1 if it does not answer within a moment. */
static void heard(const char *name, struct other *o, int tell)
{
    unsigned answer[2] = {99, 0};
    struct timeval moment = {.tv_usec = 500000};
    fd_set set;
    if (tell && write(o->to[1], "x", 1) != 1)
        return;
    FD_ZERO(&set);
    FD_SET(o->from[0], &set);
    if (select(o->from[0] + 1, &set, NULL, NULL, tell ? &moment : NULL) == 1 &&
        read(o->from[0], answer, sizeof answer) == (ssize_t)sizeof answer)
        V(name, "%u %u", answer[0], answer[1]);
    else
        V(name, "no answer");
}

static void end(struct other *o)
{
    kill(o->pid, SIGKILL);
    waitpid(o->pid, NULL, 0);
}

static void other_in(void *data)
{
    CUcheckpointLockArgs lock = {.timeoutMs = 1000}, odd = {.timeoutMs = 1000, .reserved0 = 1};
    CUcheckpointCheckpointArgs check;
    CUcheckpointRestoreArgs restore;
    CUcheckpointUnlockArgs unlock;
    (void)data;
    signal(SIGPIPE, SIG_IGN);
    memset(&check, 0, sizeof check);
    memset(&restore, 0, sizeof restore);
    memset(&unlock, 0, sizeof unlock);
    struct other o = start();
    heard("ready", &o, 0);
    R(cuInit, 0);
    state("before", o.pid);
    C("early.checkpoint", cuCheckpointProcessCheckpoint, o.pid, &check);
    C("early.restore", cuCheckpointProcessRestore, o.pid, &restore);
    C("early.unlock", cuCheckpointProcessUnlock, o.pid, &unlock);
    C("lock.reserved", cuCheckpointProcessLock, o.pid, &odd);
    state("afterodd", o.pid);
    C("lock", cuCheckpointProcessLock, o.pid, &lock);
    state("locked", o.pid);
    C("lock.again", cuCheckpointProcessLock, o.pid, &lock);
    C("unlock", cuCheckpointProcessUnlock, o.pid, &unlock);
    state("unlocked", o.pid);
    heard("unlocked.heard", &o, 1);
    C("relock.null", cuCheckpointProcessLock, o.pid, NULL);
    check.reserved[0] = 1;
    C("checkpoint.reserved", cuCheckpointProcessCheckpoint, o.pid, &check);
    check.reserved[0] = 0;
    C("locked.restore", cuCheckpointProcessRestore, o.pid, &restore);
    C("checkpoint", cuCheckpointProcessCheckpoint, o.pid, &check);
    state("checkpointed", o.pid);
    C("checkpoint.again", cuCheckpointProcessCheckpoint, o.pid, &check);
    C("checkpointed.unlock", cuCheckpointProcessUnlock, o.pid, &unlock);
    C("checkpointed.lock", cuCheckpointProcessLock, o.pid, &lock);
    CUcheckpointGpuPair pair;
    memset(&pair, 0, sizeof pair);
    restore.gpuPairs = &pair;
    restore.gpuPairsCount = 1;
    C("restore.badpair", cuCheckpointProcessRestore, o.pid, &restore);
    restore.gpuPairs = NULL;
    C("restore.nullpairs", cuCheckpointProcessRestore, o.pid, &restore);
    restore.gpuPairsCount = 0;
    C("restore", cuCheckpointProcessRestore, o.pid, &restore);
    state("restored", o.pid);
    C("restore.again", cuCheckpointProcessRestore, o.pid, &restore);
    C("end.unlock", cuCheckpointProcessUnlock, o.pid, &unlock);
    state("end", o.pid);
    C("unlock.again", cuCheckpointProcessUnlock, o.pid, &unlock);
    heard("end.heard", &o, 1);
    end(&o);
    state("dead", o.pid);
}

void group_checkother(void)
{
    in_process(other_in, NULL, 20);
}

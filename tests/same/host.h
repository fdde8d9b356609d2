// Kernels on the processor: each thread of a block has a stack of its own, and they run in turn from barrier
// to barrier. `main` reads launches from its input: a line with the kernel's name, the grid, the block, the
// bytes of dynamic shared memory and the arguments, `b` and a size for a buffer whose bytes follow the line,
// `s` and a number for a scalar. It writes the buffers after each launch.
#pragma once
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <ucontext.h>
#include <vector>

#define KERNEL extern "C" void
#define DEVICE static inline
#define APART static __attribute__((noinline))
#define SHARED static
#define CONSTANT static const

struct Thread {
    ucontext_t context;
    u32 x, y;
    bool ended;
};
static struct {
    ucontext_t turn;
    std::vector<Thread> threads;
    Thread *now;
    u32 grid[2], block[2], at[2];
    void (*kernel)(u64, u64, u64, u64, u64, u64);
    u64 arguments[6];
    u32 words[1024];
} host;
alignas(16) static u64 dynamic[8192];

#define TID (host.now->x)
#define TID_Y (host.now->y)
#define NTID (host.block[0])
#define CTAID (host.at[0])
#define CTAID_Y (host.at[1])
#define NCTAID (host.grid[0])
#define BARRIER() swapcontext(&host.now->context, &host.turn)
#define DYNAMIC(type, name) type *name = (type *)dynamic
DEVICE u32 number() { return TID_Y * NTID + TID; }
DEVICE u32 lane() { return number() & 31; }
DEVICE u32 shuffle(u32 v, u32 from) {
    host.words[number()] = v;
    BARRIER();
    u32 got = host.words[(number() & ~31u) + (from & 31)];
    BARRIER();
    return got;
}
DEVICE u32 ballot(bool set) {
    u32 all = 0, count = NTID * host.block[1];
    host.words[number()] = set;
    BARRIER();
    for (u32 i = 0; i < 32 && (number() & ~31u) + i < count; i++)
        all |= host.words[(number() & ~31u) + i] << i;
    BARRIER();
    return all;
}
#define ATOMIC(op, p, v) host_##op(p, v)
#define HOST_ATOMIC(name, result) \
    template <class T, class V> static T host_##name(T *p, V w) { \
        T old = *p, v = (T)w; \
        *p = result; \
        return old; \
    }
HOST_ATOMIC(add, old + v)
HOST_ATOMIC(sub, old - v)
HOST_ATOMIC(and, old & v)
HOST_ATOMIC(or, old | v)
HOST_ATOMIC(xor, old ^ v)
HOST_ATOMIC(min, old < v ? old : v)
HOST_ATOMIC(max, old > v ? old : v)
HOST_ATOMIC(set, v)
#define EXCHANGE(p, v) host_set(p, v)
template <class T, class V> static bool host_replace(T *p, T *old, V v) {
    T was = *p, expected = *old;
    *old = was;
    if (was == expected)
        *p = (T)v;
    return was == expected;
}
#define REPLACE(p, old, v) host_replace(p, old, v)

static void host_thread() {
    const u64 *a = host.arguments;
    host.kernel(a[0], a[1], a[2], a[3], a[4], a[5]);
    host.now->ended = true;
}

static void host_block() {
    for (u32 i = 0; i < host.threads.size(); i++) {
        Thread &t = host.threads[i];
        t.x = i % host.block[0];
        t.y = i / host.block[0];
        t.ended = false;
        t.context.uc_link = &host.turn;
        makecontext(&t.context, host_thread, 0);
    }
    for (bool more = true; more;) {
        more = false;
        for (Thread &t : host.threads)
            if (!t.ended) {
                host.now = &t;
                swapcontext(&host.turn, &t.context);
                more |= !t.ended;
            }
    }
}

int main() {
    char name[64];
    u32 shared, count;
    while (scanf("%63s %u %u %u %u %u %u", name, &host.grid[0], &host.grid[1], &host.block[0], &host.block[1],
                 &shared, &count) == 7) {
        std::vector<std::vector<u8>> buffers;
        for (u32 i = 0; i < count; i++) {
            char kind;
            u64 n;
            if (scanf(" %c %llu", &kind, &n) != 2 || i >= 6)
                return 1;
            host.arguments[i] = n;
            if (kind == 'b') {
                buffers.emplace_back(n);
                host.arguments[i] = (u64)buffers.back().data();
                getchar();
                if (fread(buffers.back().data(), 1, n, stdin) != n)
                    return 1;
            }
        }
        host.kernel = (void (*)(u64, u64, u64, u64, u64, u64))dlsym(RTLD_DEFAULT, name);
        if (!host.kernel || shared > sizeof dynamic || host.block[0] * host.block[1] > 1024)
            return 2;
        host.threads = std::vector<Thread>(host.block[0] * host.block[1]);
        const size_t stack = 256 << 10;
        char *stacks = (char *)malloc(host.threads.size() * stack);
        for (u32 i = 0; i < host.threads.size(); i++) {
            Thread &t = host.threads[i];
            getcontext(&t.context);
            t.context.uc_stack.ss_sp = stacks + i * stack;
            t.context.uc_stack.ss_size = stack;
        }
        for (host.at[1] = 0; host.at[1] < host.grid[1]; host.at[1]++)
            for (host.at[0] = 0; host.at[0] < host.grid[0]; host.at[0]++)
                host_block();
        free(stacks);
        for (const std::vector<u8> &buffer : buffers)
            fwrite(buffer.data(), 1, buffer.size(), stdout);
    }
    return 0;
}

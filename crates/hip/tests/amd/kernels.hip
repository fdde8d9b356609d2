// Kernels without HIP's headers, so that clang alone compiles them. GROUP_SIZE reads the dispatch packet in code
// objects of version 4 and a hidden argument in later ones; GRID_SIZE always reads the packet.
#define GLOBAL extern "C" __attribute__((global))
#define DEVICE __attribute__((device))
#define SHARED __attribute__((shared))
#define CONSTANT __attribute__((constant))
#define GROUP __builtin_amdgcn_workgroup_id_x()
#define ITEM __builtin_amdgcn_workitem_id_x()
#define GROUP_SIZE __builtin_amdgcn_workgroup_size_x()

extern "C" {
CONSTANT int table[4] = {10, 20, 30, 40};
DEVICE int counter = 5;
DEVICE int zeros[100];
DEVICE int *pointer = &counter;
}

GLOBAL void fill(int a, long b, int *out)
{
    int i = GROUP * GROUP_SIZE + ITEM;
    out[i] = a * 1000 + (int)b + i;
}

GLOBAL void shape(unsigned *out)
{
    if (ITEM != 0 || __builtin_amdgcn_workitem_id_y() != 0 || __builtin_amdgcn_workitem_id_z() != 0)
        return;
    if (GROUP != 0 || __builtin_amdgcn_workgroup_id_y() != 1 || __builtin_amdgcn_workgroup_id_z() != 2)
        return;
    out[0] = GROUP_SIZE;
    out[1] = __builtin_amdgcn_workgroup_size_y();
    out[2] = __builtin_amdgcn_workgroup_size_z();
    out[3] = __builtin_amdgcn_grid_size_x();
    out[4] = __builtin_amdgcn_grid_size_y();
    out[5] = __builtin_amdgcn_grid_size_z();
}

GLOBAL void variables(int *out)
{
    out[ITEM] = table[ITEM & 3] + *pointer;
    zeros[ITEM] = ITEM * 2;
    if (ITEM == 0)
        counter = 77;
}

GLOBAL void reverse(int *data, int n)
{
    extern SHARED int memory[];
    memory[ITEM] = data[ITEM];
    __builtin_amdgcn_s_barrier();
    data[ITEM] = memory[n - 1 - ITEM];
}

// What AMD's device library keeps where hidden arguments point to. The offsets are those of version 5.
typedef __attribute__((address_space(4))) const char *hidden;
struct grids {
    unsigned *several;
    unsigned grid, count;
    unsigned long before, threads;
    unsigned meet[2];
    unsigned groups;
};
#define RELAXED __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT

// Groups wait for one another as the library has them do on processors without global wave sync.
GLOBAL void meet(int *out, int *sum)
{
    struct grids *g = *(struct grids *__attribute__((address_space(4))) const *)((hidden)__builtin_amdgcn_implicitarg_ptr() + 88);
    if (!g) {
        out[GROUP] = -7;
        return;
    }
    __hip_atomic_fetch_add(sum, GROUP + 1, RELAXED);
    unsigned seen = __hip_atomic_fetch_add(&g->meet[0], 1, __ATOMIC_ACQ_REL, __HIP_MEMORY_SCOPE_AGENT);
    if ((seen & 0xffff) == g->groups - 1)
        __hip_atomic_fetch_add(&g->meet[0], 0x10000 - g->groups, __ATOMIC_ACQ_REL, __HIP_MEMORY_SCOPE_AGENT);
    else
        while ((__hip_atomic_load(&g->meet[0], __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_AGENT) ^ seen) < 0x10000)
            __builtin_amdgcn_s_sleep(1);
    out[GROUP] = *sum + g->count * 100 + (int)g->threads * 1000 + (g->several ? 0 : 500) + g->grid + (int)g->before;
}

// Memory that launches share, zero at first.
GLOBAL void heap(long *out)
{
    long *words = *(long *__attribute__((address_space(4))) const *)((hidden)__builtin_amdgcn_implicitarg_ptr() + 96);
    out[0] = words[1000]++;
}

// What no program may do.
GLOBAL void privileged(int *out)
{
    out[0] = 1;
    asm volatile("s_rfe_b64 s[4:5]");
}

// A call of the host as device libraries make it, by the only wave: a message of two packets, printed on standard
// error. The buffer's address is a hidden argument.
typedef unsigned long word;
DEVICE static word call_host(volatile word *buffer, word head, word a, word b)
{
    word packet = buffer[3], number = packet & buffer[5];
    volatile word *header = (volatile word *)buffer[0] + number * 3;
    volatile word *slot = (volatile word *)buffer[1] + number * 512;
    buffer[3] = header[0];
    slot[0] = head;
    slot[1] = a;
    slot[2] = b;
    header[0] = buffer[4];
    header[1] = 1;
    header[2] = 2 | 1ul << 32;
    __atomic_store_n((word *)buffer + 4, packet, __ATOMIC_RELEASE);
    __builtin_amdgcn_s_sendmsg(1, 0);
    while (__atomic_load_n((unsigned *)header + 5, __ATOMIC_ACQUIRE) & 1)
        __builtin_amdgcn_s_sleep(1);
    return slot[0];
}

GLOBAL void prints(int value)
{
    volatile word *buffer = *(volatile word **)((char *)__builtin_amdgcn_implicitarg_ptr() + 80);
    word head = call_host(buffer, 1 | 2 << 5, 1, 0x0a642520656e6f); // "one %d\n"
    call_host(buffer, (head & ~0xfful) | 2 | 1 << 5, value, 0);
}

// One wave of each group of a grid of four waits for those of the others, as device libraries do it.
DEVICE static void wait()
{
    __builtin_amdgcn_s_barrier();
    if (ITEM == 0)
        __builtin_amdgcn_ds_gws_barrier(4 - 1, 0);
    __builtin_amdgcn_s_barrier();
}

// Every group sees what all groups wrote before a barrier of the grid.
GLOBAL void grid_sync(int *marks, int *sums)
{
    for (int round = 1; round <= 3; round++) {
        if (ITEM == 0)
            __atomic_store_n(&marks[GROUP], round, __ATOMIC_RELAXED);
        wait();
        int sum = 0;
        for (int i = 0; i < 4; i++)
            sum += __atomic_load_n(&marks[i], __ATOMIC_RELAXED);
        if (ITEM == 0)
            sums[GROUP * 3 + round - 1] = sum;
        wait();
    }
}

// Each group waits until the next one has written, and then writes itself.
GLOBAL void relay(volatile int *done, int groups)
{
    if (ITEM != 0)
        return;
    int before = 0;
    if (GROUP + 1 < groups)
        while ((before = done[GROUP + 1]) == 0)
            ;
    done[GROUP] = before + 1;
}

// One item traps.
GLOBAL void trap_one(int *out, int which)
{
    if (ITEM == which)
        __builtin_trap();
    out[ITEM] = 1;
}

// Writes `count` words behind its own arguments.
GLOBAL void own_arguments(int first, int count, int *out)
{
    volatile int *behind = (volatile int *)__builtin_amdgcn_kernarg_segment_ptr() + 4;
    for (int i = 0; i < count; i++)
        behind[i] = first + i;
    *out = behind[1];
}

// Grids that wait for each other on several devices, of which one never comes.
#define GLOBAL extern "C" __attribute__((global))
#define RELAXED __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM

// The beginning of what a hidden argument points to: the word where grids meet, this one's number and the
// number of all.
struct Grids {
    unsigned *word;
    unsigned number, count;
};

GLOBAL void meet(int last, int *out)
{
    Grids *grids = ((Grids *__attribute__((address_space(4))) *)__builtin_amdgcn_implicitarg_ptr())[11];
    if (grids->number + 1 == grids->count) {
        if (last == 1)
            __builtin_trap();
        if (last == 2)
            *(volatile int *)0x1000 = 1;
        while (last == 3)
            __builtin_amdgcn_s_sleep(1);
    }
    __hip_atomic_fetch_add(grids->word, 1, RELAXED);
    while (__hip_atomic_load(grids->word, RELAXED) != grids->count)
        __builtin_amdgcn_s_sleep(1);
    *out = 1 + grids->number;
}

// Fails as soon as the host allows it.
GLOBAL void fail(int *allowed)
{
    while (!__hip_atomic_load(allowed, RELAXED))
        __builtin_amdgcn_s_sleep(1);
    __builtin_trap();
}

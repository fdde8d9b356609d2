// Kernels that call AMD's device library: memory, output, and barriers of grids. Without HIP's headers, whose
// `malloc`, `assert` and groups use the same functions. MEMORY, OUTPUT or MEETINGS choose a part, since
// other kernels of a module are compiled beside those that are launched.
typedef unsigned long word;
#define GLOBAL extern "C" __attribute__((global))
#define DEVICE __attribute__((device))
#define GROUP ((int)__builtin_amdgcn_workgroup_id_x())
#define ITEM ((int)__builtin_amdgcn_workitem_id_x())
#define ITEMS 64

extern "C" {
DEVICE void *__ockl_dm_alloc(word);
DEVICE void __ockl_dm_dealloc(word);
DEVICE word __ockl_fprintf_stderr_begin();
DEVICE word __ockl_fprintf_append_args(word, unsigned, word, word, word, word, word, word, word, unsigned);
DEVICE word __ockl_fprintf_append_string_n(word, const char *, word, unsigned);
DEVICE void __ockl_grid_sync();
DEVICE int __ockl_grid_is_valid();
DEVICE void __ockl_multi_grid_sync();
DEVICE int __ockl_multi_grid_is_valid();
DEVICE int __ockl_multi_grid_num_grids();
DEVICE int __ockl_multi_grid_grid_rank();
DEVICE int __ockl_multi_grid_size();
DEVICE int __ockl_multi_grid_thread_rank();
DEVICE int printf(const char *, ...);
}
#define RELAXED __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM

#ifdef MEMORY

// Each item takes memory of a size of its own, and another launch looks at it and gives it back.
GLOBAL void take(word **all)
{
    int i = GROUP * ITEMS + ITEM;
    int words = 2 + i % 5 * 40 + i % 64 / 63 * 1000;
    word *own = (word *)__ockl_dm_alloc(words * sizeof(word));
    if (own)
        for (int at = 0; at < words; at++)
            own[at] = i;
    all[i] = own;
}

GLOBAL void give_back(word **all, int *right)
{
    int i = GROUP * ITEMS + ITEM;
    int words = 2 + i % 5 * 40 + i % 64 / 63 * 1000;
    word *own = all[i];
    bool same = own;
    for (int at = 0; same && at < words; at++)
        same = own[at] == i;
    right[i] = same;
    __ockl_dm_dealloc((word)own);
}

#endif
#ifdef OUTPUT

GLOBAL void print(int value, const char *text)
{
    if (ITEM % 2 == 0)
        printf("item %d of %d: %s %.2f %c %lx%%\n", ITEM, value, text, value * 0.5, 'a' + ITEM, 1ul << 40);
}

// What `assert` does.
DEVICE static word length(const char *text)
{
    word count = 0;
    while (text[count])
        count++;
    return count + 1;
}
GLOBAL void assert_below(int limit)
{
    if (ITEM < limit)
        return;
    const char *format = "%s:%u: %s: Device-side assertion `%s' failed.\n";
    word message = __ockl_fprintf_stderr_begin();
    message = __ockl_fprintf_append_string_n(message, format, length(format), 0);
    message = __ockl_fprintf_append_string_n(message, "file.hip", 9, 0);
    message = __ockl_fprintf_append_args(message, 1, 17, 0, 0, 0, 0, 0, 0, 0);
    message = __ockl_fprintf_append_string_n(message, "assert_below", 13, 0);
    __ockl_fprintf_append_string_n(message, "ITEM < limit", 13, 1);
    __builtin_trap();
}

#endif
// LLVM has no instruction for these barriers on gfx12.
#ifdef MEETINGS

// Groups of a grid see what others wrote before a barrier.
GLOBAL void meet(int *marks, int *sums, int groups)
{
    for (int round = 1; round <= 3; round++) {
        if (ITEM == 0)
            __hip_atomic_store(&marks[GROUP], round, RELAXED);
        __ockl_grid_sync();
        int sum = 0;
        for (int i = 0; i < groups; i++)
            sum += __hip_atomic_load(&marks[i], RELAXED);
        if (ITEM == 0)
            sums[GROUP * 3 + round - 1] = sum + 1000 * __ockl_grid_is_valid();
        __ockl_grid_sync();
    }
}

// So do grids on several devices. `mine` are this grid's results.
GLOBAL void meet_all(int *marks, int groups, int *mine)
{
    int first = __ockl_multi_grid_thread_rank() - ITEM;
    for (int round = 1; round <= 3; round++) {
        if (ITEM == 0)
            __hip_atomic_store(&marks[first / ITEMS], round, RELAXED);
        __ockl_multi_grid_sync();
        int sum = 0;
        for (int i = 0; i < groups; i++)
            sum += __hip_atomic_load(&marks[i], RELAXED);
        if (ITEM == 0)
            mine[GROUP * 4 + round] = sum;
        __ockl_multi_grid_sync();
    }
    if (ITEM == 0)
        mine[GROUP * 4] = __ockl_multi_grid_grid_rank() + 10 * __ockl_multi_grid_num_grids()
            + 100 * __ockl_multi_grid_is_valid() + 1000 * __ockl_multi_grid_size();
}

#endif

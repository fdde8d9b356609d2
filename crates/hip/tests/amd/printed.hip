// Kernels whose `printf` is compiled with -mprintf-kind=buffered.
#define GLOBAL extern "C" __attribute__((global))
#define DEVICE __attribute__((device))
#define ITEM ((int)__builtin_amdgcn_workitem_id_x())
#define IN_BUFFER __attribute__((address_space(1)))

extern "C" DEVICE int printf(const char *, ...);

// The compiler calls it for room in the buffer, whose address is a hidden argument, after as many others as
// BUFFER says. It is the device library's otherwise.
extern "C" DEVICE char IN_BUFFER *__printf_alloc(unsigned bytes)
{
    typedef unsigned IN_BUFFER *words;
    words head = ((words __attribute__((address_space(4))) *)__builtin_amdgcn_implicitarg_ptr())[BUFFER];
    unsigned old = __hip_atomic_load(head, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
    while (old + bytes + 8 <= head[1])
        if (__hip_atomic_compare_exchange_strong(head, &old, old + bytes, __ATOMIC_RELAXED, __ATOMIC_RELAXED,
                                                 __HIP_MEMORY_SCOPE_AGENT))
            return (char IN_BUFFER *)head + 8 + old;
    return 0;
}

GLOBAL void print(int value, const char *text, const char *format)
{
    if (ITEM == 0)
        printf("first: %d\n", value);
    if (ITEM == 2) {
        printf("%s, %s: %.2f %c %lx %p %hhd %5s|%%\n", text, "a constant", value * 0.5f, 'a' + ITEM, 1ul << 40,
               (void *)0x1234, value, "s");
        printf(format, value, 2.5);
    }
    if (ITEM == 0)
        printf("first: %d\n", value);
}

// What was printed before a fault is not lost.
GLOBAL void fail(int value)
{
    printf("before %d\n", value + ITEM);
    __builtin_trap();
}

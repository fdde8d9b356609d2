/*
 * Anywarp's headers for GPU languages: calls of AMD's kernels to the host, for `printf`, `assert`, `malloc` and
 * `free`. The messages are those of AMD's device libraries, whose functions for `printf` clang calls by name.
 *
 * A wave takes a packet from the free stack, fills it, pushes it onto the ready stack and waits for the answer.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef ANYWARP_HOSTCALL_H
#define ANYWARP_HOSTCALL_H

#include <anywarp/target.h>

#if defined(__AMDGCN__) && defined(__HIP_DEVICE_COMPILE__)

namespace anywarp {

typedef unsigned long long call_word;
struct call_header {
    call_word next, lanes;
    unsigned service, flags;
};
struct call_buffer {
    call_header *headers;
    call_word *payloads;
    call_word *doorbell;
    call_word free, ready, mask;
};

/* Takes the uppermost packet of a stack, and puts one onto it. */
ANYWARP_DEVICE call_word pop(call_buffer *buffer) {
    call_word top = __atomic_load_n(&buffer->free, __ATOMIC_ACQUIRE);
    for (;;) {
        if (top == 0) {
            __builtin_amdgcn_s_sleep(1);
            top = __atomic_load_n(&buffer->free, __ATOMIC_ACQUIRE);
            continue;
        }
        call_word next = __atomic_load_n(&buffer->headers[top & buffer->mask].next, __ATOMIC_RELAXED);
        if (__atomic_compare_exchange_n(&buffer->free, &top, next, false, __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE))
            return top;
    }
}
ANYWARP_DEVICE void push(call_buffer *buffer, call_word *stack, call_word packet) {
    call_header *header = &buffer->headers[packet & buffer->mask];
    call_word top = __atomic_load_n(stack, __ATOMIC_RELAXED);
    do {
        __atomic_store_n(&header->next, top, __ATOMIC_RELAXED);
    } while (!__atomic_compare_exchange_n(stack, &top, packet, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED));
}

/* Each active lane sends eight words; the answer is the first one. */
ANYWARP_LONG call_word host(unsigned service, call_word a, call_word b, call_word c, call_word d, call_word e, call_word f,
                            call_word g, call_word h) {
    /* The address stands in the arguments that the compiler adds to the kernel's. */
    call_buffer *buffer = *(call_buffer *const __attribute__((address_space(4))) *)(
        (const char __attribute__((address_space(4))) *)__builtin_amdgcn_implicitarg_ptr() + 80);
    unsigned me = lane();
    bool leads = me == (unsigned)__builtin_amdgcn_readfirstlane((int)me);
    call_word packet = 0;
    if (leads)
        packet = pop(buffer);
    packet = (call_word)(unsigned)__builtin_amdgcn_readfirstlane((int)(packet >> 32)) << 32 |
             (unsigned)__builtin_amdgcn_readfirstlane((int)packet);
    call_word number = packet & buffer->mask;
    call_header *header = &buffer->headers[number];
    call_word *slot = buffer->payloads + number * 512 + me * 8;
    call_word lanes = active();
    slot[0] = a, slot[1] = b, slot[2] = c, slot[3] = d, slot[4] = e, slot[5] = f, slot[6] = g, slot[7] = h;
    if (leads) {
        header->lanes = lanes;
        header->service = service;
        header->flags = 1;
    }
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    if (leads) {
        push(buffer, &buffer->ready, packet);
        /* A signal: its value, and the mailbox of the event that wakes the host's thread. */
        call_word *signal = buffer->doorbell;
        __atomic_fetch_add(&signal[1], 1, __ATOMIC_RELEASE);
        if (call_word *mailbox = (call_word *)signal[2]) {
            unsigned event = (unsigned)signal[3];
            __atomic_store_n(mailbox, (call_word)event, __ATOMIC_RELEASE);
            __builtin_amdgcn_s_sendmsg(1, (unsigned)__builtin_amdgcn_readfirstlane((int)event) & 0xff);
        }
        while (__atomic_load_n(&header->flags, __ATOMIC_ACQUIRE) & 1)
            __builtin_amdgcn_s_sleep(1);
    }
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    call_word answer = *(volatile call_word *)slot;
    if (leads) {
        /* A new tag, so that a stack never seems unchanged. */
        call_word again = packet + buffer->mask + 1;
        push(buffer, &buffer->free, again ? again : buffer->mask + 1);
    }
    return answer;
}

/* A message's first word: begins, ends, the number of words that follow. */
ANYWARP_DEVICE call_word message(call_word head, unsigned count, bool begins, bool ends, const call_word *w) {
    head = (head & ~0xe3ull) | count << 5 | (begins ? 1 : 0) | (ends ? 2 : 0);
    return host(2, head, w[0], w[1], w[2], w[3], w[4], w[5], w[6]);
}
ANYWARP_LONG call_word message_text(call_word head, const char *text, call_word size, bool ends) {
    do {
        call_word w[7] = {}, part = size < 56 ? size : 56;
        for (call_word i = 0; i < part; i++)
            w[i / 8] |= (call_word)(unsigned char)text[i] << i % 8 * 8;
        text += part;
        size -= part;
        head = message(head, part ? (unsigned)((part + 7) / 8) : 1, false, ends && size == 0, w);
    } while (size);
    return head;
}
ANYWARP_DEVICE call_word message_begin(call_word stream) {
    call_word w[7] = {stream};
    return message(0, 1, true, false, w);
}
ANYWARP_DEVICE call_word length(const char *text) {
    call_word n = 0;
    while (text[n])
        n++;
    return n + 1;
}

} // namespace anywarp

extern "C" {
#define ANYWARP_BY_NAME __device__ __attribute__((weak, used, noinline))
ANYWARP_BY_NAME unsigned long long __ockl_printf_begin(unsigned long long) { return anywarp::message_begin(0); }
ANYWARP_BY_NAME unsigned long long __ockl_printf_append_args(unsigned long long head, unsigned count, unsigned long long a,
                                                             unsigned long long b, unsigned long long c,
                                                             unsigned long long d, unsigned long long e,
                                                             unsigned long long f, unsigned long long g, unsigned ends) {
    const unsigned long long words[7] = {a, b, c, d, e, f, g};
    return anywarp::message(head, count, false, ends, words);
}
ANYWARP_BY_NAME unsigned long long __ockl_printf_append_string_n(unsigned long long head, const char *text,
                                                                 unsigned long long size, unsigned ends) {
    return anywarp::message_text(head, text, text ? size : 0, ends);
}
#undef ANYWARP_BY_NAME
__device__ static inline __attribute__((unused)) void *malloc(size_t size) {
    return (void *)anywarp::host(3, 0, size, 0, 0, 0, 0, 0, 0);
}
__device__ static inline __attribute__((unused)) void free(void *at) {
    if (at)
        anywarp::host(3, (unsigned long long)at, 0, 0, 0, 0, 0, 0, 0);
}
__device__ static inline void __assert_fail(const char *what, const char *file, unsigned line, const char *function) {
    static const char __attribute__((address_space(4))) format[] = "%s:%u: %s: Device-side assertion `%s' failed.\n";
    unsigned long long head = anywarp::message_begin(1), number[7] = {line};
    head = anywarp::message_text(head, (const char *)format, sizeof(format), false);
    head = anywarp::message_text(head, file, anywarp::length(file), false);
    head = anywarp::message(head, 1, false, false, number);
    head = anywarp::message_text(head, function, anywarp::length(function), false);
    anywarp::message_text(head, what, anywarp::length(what), true);
    __builtin_trap();
}
}

#endif

#endif

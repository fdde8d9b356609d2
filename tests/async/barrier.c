/* Barriers in memory: a thread makes one operation after another, and records the word that each gives. */
#include "record.h"
#include <stdlib.h>
#include <string.h>

enum op { ARRIVE, ARRIVE_COUNT, DROP, DROP_COUNT, EXPECT, ARRIVE_EXPECT, DROP_EXPECT, COMPLETE, WAIT, PARITY, PENDING, INIT, NO_COMPLETE, OPS };

/* Each operation's instruction: %a the barrier, %n the number, %s the state in hand; the word that it gives goes to %s or %d. */
static const char *const instructions[OPS] = {
    [ARRIVE] = "mbarrier.arrive.shared.b64 %s, [%a]; mov.b64 %d, %s;",
    [ARRIVE_COUNT] = "mbarrier.arrive.shared.b64 %s, [%a], %n; mov.b64 %d, %s;",
    [DROP] = "mbarrier.arrive_drop.shared.b64 %d, [%a];",
    [DROP_COUNT] = "mbarrier.arrive_drop.shared.b64 %d, [%a], %n;",
    [EXPECT] = "mbarrier.expect_tx.relaxed.cta.shared.b64 [%a], %n; mov.b64 %d, 0;",
    [ARRIVE_EXPECT] = "mbarrier.arrive.expect_tx.shared.b64 %s, [%a], %n; mov.b64 %d, %s;",
    [DROP_EXPECT] = "mbarrier.arrive_drop.expect_tx.shared.b64 %d, [%a], %n;",
    [COMPLETE] = "mbarrier.complete_tx.relaxed.cta.shared.b64 [%a], %n; mov.b64 %d, 0;",
    [WAIT] = "mbarrier.test_wait.shared.b64 %q, [%a], %s; selp.b64 %d, 1, 0, %q;",
    [PARITY] = "mbarrier.test_wait.parity.shared.b64 %q, [%a], %n; selp.b64 %d, 1, 0, %q;",
    [PENDING] = "mbarrier.pending_count.b64 %n, %s; cvt.u64.u32 %d, %n;",
    [INIT] = "mbarrier.init.shared.b64 [%a], %n; mov.b64 %d, 0;",
    [NO_COMPLETE] = "mbarrier.arrive.noComplete.shared.b64 %d, [%a], %n;",
};

struct step {
    uint32_t op, n;
};

static char *kernel(void)
{
    char *text;
    size_t size;
    FILE *o = open_memstream(&text, &size);
    fprintf(o, ".version 8.1\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 steps, .param .u64 out, .param .u32 count)\n{\n");
    fprintf(o, ".shared .align 8 .b64 bar;\n.reg .b64 %%s, %%d, %%in, %%out; .reg .b32 %%a, %%n, %%op, %%i, %%count; .reg .pred %%p, %%q;\n");
    fprintf(o, "ld.param.u64 %%in, [steps]; ld.param.u64 %%out, [out]; ld.param.u32 %%count, [count]; mov.u32 %%a, bar; mov.u32 %%i, 0; mov.b64 %%s, 0;\n");
    fprintf(o, "next: ld.global.v2.u32 {%%op, %%n}, [%%in]; mov.b64 %%d, 0;\n");
    for (int op = 0; op < OPS; op++)
        fprintf(o, "setp.ne.u32 %%p, %%op, %d; @%%p bra after%d; %s after%d:\n", op, op, instructions[op], op);
    fprintf(o, "st.global.b64 [%%out], %%d;\n");
    fprintf(o, "add.u64 %%in, %%in, 8; add.u64 %%out, %%out, 8; add.u32 %%i, %%i, 1; setp.lt.u32 %%p, %%i, %%count; @%%p bra next;\nret;\n}\n");
    fclose(o);
    return text;
}

enum { MOST = 64 };

static void trace(const char *name, const struct step *steps, uint32_t count)
{
    static CUmodule module;
    static CUfunction function;
    static CUdeviceptr in, out;
    if (!module) {
        char *text = kernel();
        MUST(cuModuleLoadData, &module, text);
        free(text);
        MUST(cuModuleGetFunction, &function, module, "k");
        MUST(cuMemAlloc, &in, MOST * sizeof *steps);
        MUST(cuMemAlloc, &out, MOST * 8);
    }
    uint64_t results[MOST];
    MUST(cuMemcpyHtoD, in, steps, count * sizeof *steps);
    void *args[] = { &in, &out, &count };
    must(name, launch(function, 1, 1, args));
    CUresult status = FN(cuMemcpyDtoH, results, out, count * 8);
    line(name, status, results, count * 8);
}

void record_barriers(void)
{
#define TRACE(name, ...) \
    do { \
        static const struct step steps_[] = { __VA_ARGS__ }; \
        trace("barrier." name, steps_, sizeof steps_ / sizeof *steps_); \
    } while (0)
    TRACE("one", { INIT, 1 }, { PENDING, 0 }, { ARRIVE, 0 }, { PENDING, 0 }, { WAIT, 0 }, { PARITY, 0 }, { PARITY, 1 }, { ARRIVE, 0 }, { WAIT, 0 }, { PARITY, 0 },
          { PARITY, 1 });
    TRACE("most", { INIT, 0xfffff }, { ARRIVE, 0 }, { ARRIVE_COUNT, 0xffffd }, { PENDING, 0 }, { ARRIVE, 0 }, { ARRIVE_COUNT, 0xfffff });
    TRACE("drop", { INIT, 5 }, { DROP, 0 }, { DROP_COUNT, 2 }, { ARRIVE_COUNT, 2 }, { ARRIVE, 0 }, { DROP, 0 }, { ARRIVE, 0 });
    TRACE("drop_all", { INIT, 2 }, { DROP_COUNT, 2 }, { WAIT, 0 });
    TRACE("bytes", { INIT, 1 }, { EXPECT, 100 }, { COMPLETE, 40 }, { ARRIVE, 0 }, { WAIT, 0 }, { EXPECT, 5 }, { COMPLETE, 64 }, { COMPLETE, 1 }, { WAIT, 0 });
    TRACE("most_bytes", { INIT, 1 }, { EXPECT, 0xfffff }, { ARRIVE, 0 }, { COMPLETE, 0xffffe }, { COMPLETE, 1 }, { EXPECT, 0x80000 }, { EXPECT, 0x7ffff });
    TRACE("early_bytes", { INIT, 2 }, { COMPLETE, 16 }, { ARRIVE, 0 }, { COMPLETE, 32 }, { ARRIVE_EXPECT, 48 }, { COMPLETE, 0xfffff }, { EXPECT, 0xfffff });
    TRACE("early_last", { INIT, 1 }, { COMPLETE, 16 }, { ARRIVE, 0 }, { EXPECT, 16 }, { WAIT, 0 });
    TRACE("expect", { INIT, 2 }, { ARRIVE_EXPECT, 8 }, { DROP_EXPECT, 4 }, { COMPLETE, 12 }, { PENDING, 0 }, { ARRIVE_EXPECT, 0 }, { WAIT, 0 });
    TRACE("no_complete", { INIT, 4 }, { NO_COMPLETE, 1 }, { NO_COMPLETE, 2 }, { ARRIVE, 0 });
    TRACE("pending_zero", { INIT, 3 }, { ARRIVE_EXPECT, 7 }, { ARRIVE_COUNT, 2 }, { PENDING, 0 }, { EXPECT, 1 }, { COMPLETE, 8 });
    for (int i = 0; i < 200; i++) {
        struct step steps[MOST];
        char name[32];
        uint64_t n = (uint64_t)i << 16 | 1ull << 60;
        /* Only what PTX defines: no more arrivals than are pending, bytes within their range, and none but those expected at the end. */
        uint32_t expected = 1 + splitmix(n++) % 6, pending = expected;
        int64_t bytes = 0;
        steps[0] = (struct step){ INIT, expected };
        for (int k = 1; k < MOST; k++) {
            struct step s = { splitmix(n++) % NO_COMPLETE, 0 };
            uint32_t arrivals = 0, drops = 0;
            int64_t more = 0;
            switch (s.op) {
            case INIT:
            case PENDING:
                s.op = PENDING;
                break;
            case PARITY:
                s.n = splitmix(n++) & 1;
                break;
            case EXPECT:
                more = s.n = 1 + splitmix(n++) % 5000;
                break;
            case COMPLETE:
                s.n = bytes > 0 ? (pending ? 1 + splitmix(n++) % (uint64_t)bytes : (uint64_t)bytes) : 1 + splitmix(n++) % 50;
                more = -(int64_t)s.n;
                break;
            case ARRIVE_EXPECT:
            case DROP_EXPECT:
                more = s.n = splitmix(n++) % 1000;
                arrivals = 1;
                drops = s.op == DROP_EXPECT;
                break;
            case ARRIVE_COUNT:
            case DROP_COUNT:
                arrivals = s.n = 1 + splitmix(n++) % 3;
                drops = s.op == DROP_COUNT ? s.n : 0;
                break;
            case ARRIVE:
            case DROP:
                arrivals = 1;
                drops = s.op == DROP;
            }
            if (arrivals > pending || drops >= expected || bytes + more < -0xfffff || bytes + more > 0xfffff ||
                (pending == arrivals && bytes + more < 0)) {
                s = (struct step){ WAIT, 0 };
                arrivals = drops = 0;
                more = 0;
            }
            pending -= arrivals;
            expected -= drops;
            bytes += more;
            if (!pending && !bytes)
                pending = expected;
            steps[k] = s;
        }
        snprintf(name, sizeof name, "barrier.random.%d", i);
        trace(name, steps, MOST);
    }
}

/* Barriers in memory: a thread executes a sequence of operations and records the word that each returns. */
#include "record.h"
#include <stdlib.h>
#include <string.h>

enum op { ARRIVE, ARRIVE_COUNT, DROP, DROP_COUNT, EXPECT, ARRIVE_EXPECT, DROP_EXPECT, COMPLETE, WAIT, PARITY, PENDING, INIT, NO_COMPLETE, DROP_NO_COMPLETE, INVAL, OPS };

/* The instruction of each operation: %a is the barrier, %n the number, %s the current state. The returned
 * word goes to %s or %d. */
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
    [DROP_NO_COMPLETE] = "mbarrier.arrive_drop.noComplete.shared.b64 %d, [%a], %n;",
    [INVAL] = "mbarrier.inval.shared.b64 [%a]; mov.b64 %d, 0;",
};

/* Other spellings of the operations: the instruction's name, the operands after the address, and the
 * register that receives the word. The first OPS spellings are those above. */
enum { MOST_SPELLINGS = 400 };
static struct spelling {
    enum op op;
    char text[160];
} spellings[MOST_SPELLINGS];
static int spelling_count;

static void spell(enum op op, const char *name, const char *order, const char *space, const char *more, const char *into, const char *after)
{
    if (spelling_count == MOST_SPELLINGS)
        abort();
    struct spelling *s = &spellings[spelling_count++];
    s->op = op;
    snprintf(s->text, sizeof s->text, "mbarrier.%s%s%s.b64 %s[%s]%s; %s", name, order, space, into, *space ? "%a" : "%g", more, after);
}

static void make_spellings(void)
{
    static const char *const spaces[] = { "", ".shared", ".shared::cta" };
    static const char *const releases[] = { "", ".release.cta", ".release.cluster", ".relaxed.cta", ".relaxed.cluster" };
    static const char *const acquires[] = { "", ".acquire.cta", ".acquire.cluster", ".relaxed.cta", ".relaxed.cluster" };
    static const char state[] = "mov.b64 %d, %s;", nothing[] = "mov.b64 %d, 0;", test[] = "selp.b64 %d, 1, 0, %q;";
    if (spelling_count)
        return;
    for (int op = 0; op < OPS; op++) {
        spellings[spelling_count].op = op;
        strcpy(spellings[spelling_count++].text, instructions[op]);
    }
    for (int k = 0; k < 3; k++) {
        const char *in = spaces[k];
        spell(INIT, "init", "", in, ", %n", "", nothing);
        spell(INVAL, "inval", "", in, "", "", nothing);
        for (int o = 0; o < 5; o++) {
            const char *r = releases[o], *a = acquires[o];
            spell(ARRIVE, "arrive", r, in, "", "%s, ", state);
            spell(ARRIVE_COUNT, "arrive", r, in, ", %n", "%s, ", state);
            spell(DROP, "arrive_drop", r, in, "", "%d, ", "");
            spell(DROP_COUNT, "arrive_drop", r, in, ", %n", "%d, ", "");
            spell(ARRIVE_EXPECT, "arrive.expect_tx", r, in, ", %n", "%s, ", state);
            spell(DROP_EXPECT, "arrive_drop.expect_tx", r, in, ", %n", "%d, ", "");
            if (!k) {
                spell(ARRIVE, "arrive", r, in, "", "_, ", nothing);
                spell(ARRIVE_COUNT, "arrive", r, in, ", %n", "_, ", nothing);
                spell(DROP, "arrive_drop", r, in, "", "_, ", nothing);
                spell(DROP_COUNT, "arrive_drop", r, in, ", %n", "_, ", nothing);
                spell(ARRIVE_EXPECT, "arrive.expect_tx", r, in, ", %n", "_, ", nothing);
                spell(DROP_EXPECT, "arrive_drop.expect_tx", r, in, ", %n", "_, ", nothing);
            }
            if (o < 2) {
                spell(NO_COMPLETE, "arrive.noComplete", r, in, ", %n", "%d, ", "");
                spell(DROP_NO_COMPLETE, "arrive_drop.noComplete", r, in, ", %n", "%d, ", "");
            }
            if (o != 1 && o != 2) {
                spell(EXPECT, "expect_tx", r, in, ", %n", "", nothing);
                spell(COMPLETE, "complete_tx", r, in, ", %n", "", nothing);
            }
            spell(WAIT, "test_wait", a, in, ", %s", "%q, ", test);
            spell(WAIT, "try_wait", a, in, ", %s, 20", "%q, ", test);
            spell(PARITY, "test_wait.parity", a, in, ", %n", "%q, ", test);
            spell(PARITY, "try_wait.parity", a, in, ", %n, 20", "%q, ", test);
            if (o == 1) {
                spell(WAIT, "try_wait", a, in, ", %s", "%q, ", test);
                spell(PARITY, "try_wait.parity", a, in, ", %n", "%q, ", test);
            }
        }
    }
}

/* One of the spellings of an operation. */
static uint32_t spelled(enum op op, uint64_t choice)
{
    uint32_t found[MOST_SPELLINGS], count = 0;
    for (int i = OPS; i < spelling_count; i++)
        if (spellings[i].op == op)
            found[count++] = (uint32_t)i;
    return count ? found[choice % count] : op;
}

struct step {
    uint32_t op, n; /* the spelling's number */
};

/* Branches to the operation's code, among those from `first` up to but excluding `last`: by bisection,
 * since there are hundreds. */
static void branch(FILE *o, const int *ops, int first, int last)
{
    if (last - first == 1) {
        fprintf(o, "bra op%d;\n", ops[first]);
        return;
    }
    int middle = (first + last) / 2;
    fprintf(o, "setp.ge.u32 %%p, %%op, %d; @%%p bra from%d;\n", ops[middle], middle);
    branch(o, ops, first, middle);
    fprintf(o, "from%d:\n", middle);
    branch(o, ops, middle, last);
}

/* A thread executes the operations in the steps; only these spellings, or all. */
static char *kernel(const char *used)
{
    char *text;
    size_t size;
    FILE *o = open_memstream(&text, &size);
    fprintf(o, ".version 8.6\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 steps, .param .u64 out, .param .u32 count)\n{\n");
    fprintf(o, ".shared .align 8 .b64 bar;\n.reg .b64 %%s, %%d, %%g, %%in, %%out; .reg .b32 %%a, %%n, %%op, %%i, %%count; .reg .pred %%p, %%q;\n");
    fprintf(o, "ld.param.u64 %%in, [steps]; ld.param.u64 %%out, [out]; ld.param.u32 %%count, [count]; mov.u32 %%a, bar; mov.u32 %%i, 0; mov.b64 %%s, 0;\n");
    fprintf(o, "cvt.u64.u32 %%g, %%a; cvta.shared.u64 %%g, %%g;\n");
    fprintf(o, "next: ld.global.v2.u32 {%%op, %%n}, [%%in]; mov.b64 %%d, 0;\n");
    int ops[MOST_SPELLINGS], count = 0;
    for (int op = 0; op < spelling_count; op++)
        if (!used || used[op])
            ops[count++] = op;
    branch(o, ops, 0, count);
    for (int i = 0; i < count; i++)
        fprintf(o, "op%d: %s bra done;\n", ops[i], spellings[ops[i]].text);
    fprintf(o, "done: st.global.b64 [%%out], %%d;\n");
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
    if (only_ptx) {
        char used[MOST_SPELLINGS] = { 0 };
        for (uint32_t i = 0; i < count; i++)
            used[steps[i].op] = 1;
        char *text = kernel(used);
        printf("// %s\n%s", name, text);
        free(text);
        return;
    }
    if (!module) {
        char *text = kernel(NULL);
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

/* Random steps, in the first spellings or in all. */
static void random_steps(int i, int spell)
{
    struct step steps[MOST];
    char name[32];
    uint64_t n = (uint64_t)i << 16 | 1ull << 60 | (uint64_t)spell << 40;
    /* Only what PTX defines: no more arrivals than are pending, byte counts in range, and at the end
     * exactly the expected ones. */
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
        int others = pending > 0;
        if (!pending && !bytes)
            pending = expected;
        if (spell) {
            uint64_t choice = splitmix(n++);
            if (s.op == ARRIVE_COUNT && others && (choice & 1))
                s.op = NO_COMPLETE;
            if (s.op == DROP_COUNT && others && (choice & 1))
                s.op = DROP_NO_COMPLETE;
            s.op = spelled(s.op, choice >> 1);
        }
        steps[k] = s;
    }
    /* Invalidates the barrier and initialises another in its place. */
    if (spell) {
        steps[MOST - 4] = (struct step){ spelled(INVAL, n), 0 };
        steps[MOST - 3] = (struct step){ spelled(INIT, n), 2 };
        steps[MOST - 2] = (struct step){ spelled(ARRIVE, n), 0 };
        steps[MOST - 1] = (struct step){ spelled(DROP, n), 0 };
    }
    snprintf(name, sizeof name, "barrier.%s.%d", spell ? "spelling" : "random", i);
    trace(name, steps, MOST);
}

void record_barriers(void)
{
    make_spellings();
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
    for (int i = 0; i < 200; i++)
        random_steps(i, 0);
    for (int i = 0; i < 400; i++)
        random_steps(i, 1);
}

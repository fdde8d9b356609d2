/* record LIBRARY FORMS GROUP DEVICE DATE: runs each form of a group on a CUDA driver library and writes
 * the recording to standard output.
 *
 * record --ptx FORMS GROUP: writes the PTX of the group's kernels instead. README.md describes the
 * formats. */
#include "forms.h"
#include "fragments.h"
#include <stdlib.h>
#include <string.h>

enum { MAX_FORMS = 2048, OPERANDS = 4, BLOCK = 128, TILE = 36864, REGISTERS = 256 };

struct operand {
    char name;
    unsigned count, bits;
    const struct hw_type *type; /* of an input */
};

struct form {
    char *name, *body;
    int ins;
    struct operand in[OPERANDS], out;
};

static struct form forms[MAX_FORMS];

/* NAME:TYPE*COUNT, or bBITS*COUNT for a result. */
static struct operand read_operand(const struct form *f, const char *text, int input)
{
    struct operand o = {0};
    const char *star = strchr(text, '*');
    if (!star)
        die("%s: an operand without a number of registers", f->name);
    o.count = (unsigned)atoi(star + 1);
    if (!input) {
        o.name = 'd';
        o.bits = (unsigned)atoi(text + 1);
        return o;
    }
    o.name = *text;
    o.type = hw_type(text + 2, (size_t)(star - text - 2));
    if (!o.type)
        die("%s: unknown type in %s", f->name, text);
    o.bits = o.type->bits == 64 ? 64 : 32;
    return o;
}

static void read_form(int i, char **column)
{
    struct form *f = &forms[i];
    f->name = column[1];
    f->body = column[4];
    for (char *t; (t = strsep(&column[2], ",")) && *t;)
        f->in[f->ins++] = read_operand(f, t, 1);
    f->out = read_operand(f, column[3], 0);
}

static void write_kernel(FILE *o, int i)
{
    const struct form *f = &forms[i];
    fprintf(o, ".visible .entry %s(.param .u64 in, .param .u64 out)\n{\n", entry_name("t_", f->name));
    fprintf(o, "    .reg .b16 %%h<8>; .reg .b32 %%t<16>; .reg .b64 %%q<8>; .reg .pred %%p<4>;\n");
    fprintf(o, "    .reg .b32 %%i, %%l, %%s, %%w, %%u<3>; .reg .b64 %%v<4>;\n");
    if (strstr(f->body, "%s") || strstr(f->body, "%w"))
        fprintf(o, "    .shared .align 1024 .b8 tile[%d];\n", TILE);
    for (int k = 0; k < f->ins; k++)
        fprintf(o, "    .reg .b%u %%%c<%u>;\n", f->in[k].bits, f->in[k].name, f->in[k].count);
    fprintf(o, "    .reg .b%u %%d<%u>;\n", f->out.bits, f->out.count);
    fprintf(o, "    mov.u32 %%u0, %%ctaid.x; mov.u32 %%u1, %%ntid.x; mov.u32 %%u2, %%tid.x; mad.lo.u32 %%i, %%u0, %%u1, %%u2;\n");
    fprintf(o, "    mov.u32 %%l, %%laneid;\n");
    if (strstr(f->body, "%s") || strstr(f->body, "%w"))
        fprintf(o, "    mov.u32 %%w, tile; mov.u32 %%s, %%w; shr.u32 %%t0, %%u2, 5; mad.lo.u32 %%w, %%t0, %d, %%w;\n", TILE / 4);
    fprintf(o, "    ld.param.u64 %%v0, [in]; cvta.to.global.u64 %%v0, %%v0;\n");
    fprintf(o, "    mad.wide.u32 %%v1, %%i, 8, %%v0; mad.wide.u32 %%v0, %%i, 4, %%v0;\n");
    size_t offset = 0;
    for (int k = 0; k < f->ins; k++)
        for (unsigned r = 0; r < f->in[k].count; r++) {
            fprintf(o, "    ld.global.b%u %%%c%u, [%%v%d+%zu];\n", f->in[k].bits, f->in[k].name, r, f->in[k].bits == 64, offset);
            offset += (size_t)HW_THREADS * f->in[k].bits / 8;
        }
    fprintf(o, "    %s\n", f->body);
    fprintf(o, "    ld.param.u64 %%v2, [out]; cvta.to.global.u64 %%v2, %%v2; mad.wide.u32 %%v2, %%i, %u, %%v2;\n", f->out.bits / 8);
    for (unsigned r = 0; r < f->out.count; r++)
        fprintf(o, "    st.global.b%u [%%v2+%zu], %%d%u;\n", f->out.bits, (size_t)r * HW_THREADS * f->out.bits / 8, r);
    fprintf(o, "    ret;\n}\n");
}

static uint64_t words[REGISTERS * HW_THREADS];
static uint32_t host[2 * REGISTERS * HW_THREADS];

/* Writes the inputs as the kernel reads them: for each register, an array over all threads. Returns the
 * size in bytes. */
static size_t fill(const struct form *f)
{
    char *to = (char *)words;
    for (int k = 0; k < f->ins; k++)
        for (unsigned r = 0; r < f->in[k].count; r++)
            for (unsigned t = 0; t < HW_THREADS; t++) {
                uint64_t v = hw_register(f->in[k].type, (unsigned)k, r, t);
                memcpy(to, &v, f->in[k].bits / 8);
                to += f->in[k].bits / 8;
            }
    return (size_t)(to - (char *)words);
}

/* Writes the first warps completely, then a hash of each warp. */
static void write_results(const struct form *f, unsigned whole)
{
    unsigned per = f->out.bits / 32;
    static uint32_t warp[2 * REGISTERS * 32];
    static uint32_t hashes[HW_WARPS];
    for (unsigned w = 0; w < HW_WARPS; w++) {
        size_t count = (size_t)f->out.count * 32 * per;
        for (unsigned r = 0; r < f->out.count; r++)
            memcpy(warp + r * 32 * per, host + (size_t)(r * HW_THREADS + w * 32) * per, 32 * per * 4);
        hashes[w] = hw_hash(warp, count);
        if (w < whole)
            fwrite(warp, 4, count, stdout);
    }
    fwrite(hashes, 4, HW_WARPS, stdout);
}

static CUdeviceptr in, out;
static unsigned whole = 8;

static void begin(void)
{
    /* HW_WHOLE: number of warps whose results are kept completely. */
    const char *wanted = getenv("HW_WHOLE");
    if (wanted)
        whole = (unsigned)atoi(wanted);
    MUST(cuMemAlloc, &in, sizeof words);
    MUST(cuMemAlloc, &out, sizeof host);
    printf("warps %d whole %u\n", HW_WARPS, whole);
}

static void describe(int i)
{
    printf("%s b%u*%u\n", forms[i].name, forms[i].out.bits, forms[i].out.count);
}

static void run(CUmodule module, int i)
{
    const struct form *f = &forms[i];
    void *args[] = {&in, &out};
    size_t size = (size_t)f->out.count * HW_THREADS * f->out.bits / 8;
    MUST(cuMemcpyHtoD, in, words, fill(f));
    MUST(cuMemsetD8, out, 0, size);
    run_kernel(module, entry_name("t_", f->name), HW_THREADS / BLOCK, BLOCK, args);
    MUST(cuMemcpyDtoH, host, out, size);
    write_results(f, whole);
}

/* Forms removed in PTX 6.5 or sm_70 are a group of their own. */
static const char *head(const char *group)
{
    return strcmp(group, "wmma6") ? ".version 8.7\n.target sm_90a\n.address_size 64\n" : ".version 6.4\n.target sm_70\n.address_size 64\n";
}

int main(int argc, char **argv)
{
    static const struct forms own = {
        .format = "anywarp-hw matrix 1",
        .head = head,
        .columns = 5,
        .most = MAX_FORMS,
        .read = read_form,
        .write_kernel = write_kernel,
        .begin = begin,
        .describe = describe,
        .run = run,
    };
    return record_forms(&own, argc, argv);
}

/* record LIBRARY FORMS GROUP DEVICE DATE: runs each form of a group on a CUDA driver library and writes
 * the recording to standard output.
 *
 * record --ptx FORMS GROUP: writes the PTX of the group's kernels instead. README.md describes the
 * formats. */
#include "forms.h"
#include "inputs.h"
#include <stdlib.h>

enum { MAX_FORMS = 4096, OPERANDS = 4, RESULTS = 3, BLOCK = 128, SLOT = 32 };

/* Groups whose kernels need another version and target than all others. The first of them has no parameter
 * lists. */
static const struct old {
    const char *group, *head;
} old[] = {
    {"ptx1", ".version 1.3\n.target sm_13\n"},
    {"ptx6", ".version 6.3\n.target sm_60\n.address_size 64\n"},
};

struct form {
    char *name, *body, *outside; /* text outside the kernel, or null */
    int first;                   /* belongs to the first of the old groups */
    int ins, outs;
    const struct hw_type *in[OPERANDS];
    int out[RESULTS]; /* bits */
};

static struct form forms[MAX_FORMS];

static void read_form(int i, char **column)
{
    struct form *o = &forms[i];
    o->name = column[1];
    o->first = !strcmp(column[0], old[0].group);
    o->body = column[6];
    char *parts = strstr(column[6], " ## ");
    if (parts) {
        *parts = 0;
        o->outside = column[6];
        o->body = parts + 4;
    }
    for (char *t; (t = strsep(&column[4], ",")) && *t; o->ins++)
        if (!(o->in[o->ins] = hw_type(t)))
            die("%s: unknown type %s", o->name, t);
    for (char *t; (t = strsep(&column[5], ",")) && *t;)
        o->out[o->outs++] = atoi(t + 1);
}

/* The size of an input's register. */
static int in_bits(const struct hw_type *t)
{
    unsigned bits = t->bits * t->packed;
    return bits <= 1 ? 32 : (int)bits;
}

static void write_kernel(FILE *o, int i)
{
    static const char in_name[] = "abce", out_name[] = "dxy";
    const struct form *f = &forms[i];
    if (f->outside)
        fprintf(o, "%s\n", f->outside);
    if (f->first)
        fprintf(o, ".visible .entry %s\n{\n    .param .u64 in; .param .u64 out; .param .u64 mem;\n", entry_name("t_", f->name));
    else
        fprintf(o, ".visible .entry %s(.param .u64 in, .param .u64 out, .param .u64 mem)\n{\n", entry_name("t_", f->name));
    fprintf(o, "    .reg .b16 %%h<8>; .reg .b32 %%t<16>; .reg .b64 %%q<16>; .reg .pred %%p<4>;\n");
    fprintf(o, "    .reg .b32 %%i, %%s, %%u<3>; .reg .b64 %%m, %%l, %%v<3>;\n");
    if (strstr(f->body, "%s"))
        fprintf(o, "    .shared .align 16 .b8 slots[%d];\n", BLOCK * SLOT);
    if (strstr(f->body, "%l]") || strstr(f->body, "%l+") || strstr(f->body, "%l;"))
        fprintf(o, "    .local .align 16 .b8 own[%d];\n", SLOT);
    for (int k = 0; k < f->ins; k++)
        fprintf(o, "    .reg .b%d %%%c;\n", in_bits(f->in[k]), in_name[k]);
    for (int k = 0; k < f->outs; k++)
        fprintf(o, "    .reg .b%d %%%c;\n", f->out[k], out_name[k]);
    const char *global = f->first ? "" : "cvta.to.global.u64 %v0, %v0; ";
    if (f->first) /* special registers have 16 bits */
        fprintf(o, "    .reg .u16 %%w<3>; mov.u16 %%w0, %%ctaid.x; mov.u16 %%w1, %%ntid.x; mov.u16 %%w2, %%tid.x; cvt.u32.u16 %%u2, %%w2; mad.wide.u16 %%i, %%w0, %%w1, %%u2;\n");
    else
        fprintf(o, "    mov.u32 %%u0, %%ctaid.x; mov.u32 %%u1, %%ntid.x; mov.u32 %%u2, %%tid.x; mad.lo.u32 %%i, %%u0, %%u1, %%u2;\n");
    fprintf(o, "    ld.param.u64 %%v0, [in]; %smad.wide.u32 %%v0, %%i, 8, %%v0;\n", global);
    fprintf(o, "    ld.param.u64 %%m, [mem]; mad.wide.u32 %%m, %%i, %d, %%m;\n", SLOT);
    if (strstr(f->body, "%s"))
        fprintf(o, "    mov.u32 %%s, slots; mad.lo.u32 %%s, %%u2, %d, %%s;\n", SLOT);
    if (strstr(f->body, "%l]") || strstr(f->body, "%l+") || strstr(f->body, "%l;"))
        fprintf(o, "    mov.u64 %%l, own;\n");
    for (int k = 0; k < f->ins; k++)
        fprintf(o, "    ld.global.b%d %%%c, [%%v0+%d];\n", in_bits(f->in[k]), in_name[k], k * HW_N * 8);
    fprintf(o, "    %s\n", f->body);
    fprintf(o, "    ld.param.u64 %%v1, [out];%s\n", f->first ? "" : " cvta.to.global.u64 %v1, %v1;");
    int offset = 0;
    for (int k = 0; k < f->outs; k++) {
        fprintf(o, "    mad.wide.u32 %%v2, %%i, %d, %%v1; st.global.b%d [%%v2+%d], %%%c;\n", f->out[k] / 8, f->out[k], offset, out_name[k]);
        offset += HW_N * f->out[k] / 8;
    }
    fprintf(o, "    ret;\n}\n");
}

static CUdeviceptr in, out, mem;

static void begin(void)
{
    MUST(cuMemAlloc, &in, OPERANDS * HW_N * 8);
    MUST(cuMemAlloc, &out, RESULTS * HW_N * 8);
    MUST(cuMemAlloc, &mem, HW_N * SLOT);
    printf("inputs %d\n", HW_N);
}

static void describe(int i)
{
    printf("%s", forms[i].name);
    for (int k = 0; k < forms[i].outs; k++)
        printf(" %d", forms[i].out[k]);
    putchar('\n');
}

static void run(CUmodule module, int i)
{
    static uint64_t host_in[OPERANDS][HW_N], host_out[RESULTS * HW_N];
    const struct form *f = &forms[i];
    void *args[] = {&in, &out, &mem};
    size_t size = 0;
    for (int k = 0; k < f->ins; k++)
        for (int n = 0; n < HW_N; n++)
            host_in[k][n] = hw_input(f->in[0], f->ins > 1 ? f->in[1] : NULL, f->in[k], (unsigned)k, (uint64_t)n);
    for (int k = 0; k < f->outs; k++)
        size += (size_t)HW_N * (size_t)f->out[k] / 8;
    MUST(cuMemcpyHtoD, in, host_in, sizeof host_in);
    MUST(cuMemsetD8, mem, 0, HW_N * SLOT);
    MUST(cuMemsetD8, out, 0, size);
    run_kernel(module, entry_name("t_", f->name), HW_N / BLOCK, BLOCK, args);
    MUST(cuMemcpyDtoH, host_out, out, size);
    fwrite(host_out, 1, size, stdout);
}

static const char *head(const char *group)
{
    for (size_t i = 0; i < sizeof old / sizeof *old; i++)
        if (!strcmp(group, old[i].group))
            return old[i].head;
    return ".version 8.6\n.target sm_90\n.address_size 64\n";
}

int main(int argc, char **argv)
{
    static const struct forms own = {
        .format = "anywarp-hw 1",
        .head = head,
        .columns = 7,
        .most = MAX_FORMS,
        .read = read_form,
        .write_kernel = write_kernel,
        .begin = begin,
        .describe = describe,
        .run = run,
    };
    return record_forms(&own, argc, argv);
}

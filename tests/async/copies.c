/* Bulk copies: the resulting contents of shared and of global memory. */
#include "copies.h"
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static void fill(unsigned char *bytes, size_t size, enum contents contents, int element, uint64_t seed)
{
    for (size_t i = 0; i < size; i += 8) {
        uint64_t w = splitmix(seed << 32 | i / 8);
        if (contents == NUMBERS) {
            w = 0;
            for (size_t k = 0; k < 4; k++)
                w |= (uint64_t)(uint16_t)(i / 2 + k + seed * 0x4000) << (16 * k);
        }
        if (contents == TIES) {
            static const uint64_t ends[] = { 0x1000, 0x0fff, 0x1001, 0x1000 };
            uint64_t exponent = i % 32 == 8 ? 0x7f800000ull : i % 32 == 24 ? 0 : 0x40000000ull;
            w &= 0x807fe000ffffe000;
            w |= ends[i / 8 % 4] << 32 | ends[(i / 8 + 1) % 4] | exponent << 32;
        }
        if (contents == EDGES && w & 3) {
            static const uint64_t ends[] = { 0, 1, 2, 0x7fffffff, 0x80000000, 0xffffffff, 0x80000001, 0x7fffffffffffffff, 0x8000000000000000, 0xffffffffffffffff, 0x8000000000000001,
                0xfffffffe, 0x100000000, 0x7fffffff80000000, 0xffffffff00000000, 0x55555555aaaaaaaa };
            w = ends[w >> 8 & 15] ^ (w & 4 ? ends[w >> 12 & 15] : 0);
        }
        memcpy(bytes + i, &w, 8);
    }
    /* Exponents around that of one; in every fourth value, fully random. */
    static const struct {
        int bytes, at, bits, bias;
    } formats[] = { [6] = { 2, 10, 5, 15 }, [7] = { 4, 23, 8, 127 }, [8] = { 8, 52, 11, 1023 }, [9] = { 2, 7, 8, 127 }, [10] = { 4, 23, 8, 127 } };
    if (contents != FLOATS)
        return;
    for (size_t i = 0; i < size; i += formats[element].bytes) {
        uint64_t w = 0, r = splitmix(seed << 40 | i), mask = (1ull << formats[element].bits) - 1;
        memcpy(&w, bytes + i, formats[element].bytes);
        if (r & 3)
            w = (w & ~(mask << formats[element].at)) | (formats[element].bias - 3 + (r >> 8) % 7) << formats[element].at;
        else if (r & 4)
            w &= ~(mask << formats[element].at); /* subnormal */
        else if (r & 8)
            w |= mask << formats[element].at; /* usually NaN */
        memcpy(bytes + i, &w, formats[element].bytes);
    }
}

static CUdeviceptr buffer, room, out;

static char *kernel(const struct copy *c)
{
    char *text;
    size_t size;
    FILE *o = open_memstream(&text, &size);
    fprintf(o, ".version 8.6\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .align 64 .b8 map[128], .param .u64 pg, .param .u64 pi, .param .u64 po)\n");
    if (c->cluster)
        fprintf(o, ".explicitcluster .reqnctapercluster 2, 1, 1\n");
    fprintf(o, "{\n.shared .align 1024 .b8 room[%d]; .shared .align 8 .b64 bar;\n", ROOM);
    fprintf(o, ".reg .b64 %%m, %%g, %%i, %%o, %%w, %%x<4>; .reg .b32 %%r, %%b, %%t, %%n, %%a, %%c<8>, %%k; .reg .b16 %%h<4>; .reg .pred %%p, %%q;\n");
    fprintf(o, "mov.b64 %%m, map; cvta.param.u64 %%m, %%m; ld.param.u64 %%g, [pg]; ld.param.u64 %%i, [pi]; ld.param.u64 %%o, [po];\n");
    fprintf(o, "mov.u32 %%r, room; mov.u32 %%b, bar; mov.u32 %%t, %%tid.x; setp.ne.u32 %%q, %%t, 0; mul.lo.u32 %%n, %%t, 16;\n");
    fprintf(o, "mov.u32 %%a, %%ctaid.x; mul.wide.u32 %%w, %%a, %d; add.u64 %%o, %%o, %%w;\n", ROOM + 16);
    fprintf(o, "take: cvt.u64.u32 %%w, %%n; add.u64 %%w, %%i, %%w; ld.global.v2.b64 {%%x0, %%x1}, [%%w]; add.u32 %%a, %%r, %%n; st.shared.v2.b64 [%%a], {%%x0, %%x1};\n");
    fprintf(o, "add.u32 %%n, %%n, 2048; setp.lt.u32 %%p, %%n, %d; @%%p bra take;\n", ROOM);
    fprintf(o, "mov.u32 %%k, 1; @%%q bra ready; mbarrier.init.shared.b64 [%%b], 1; mbarrier.arrive.expect_tx.shared.b64 _, [%%b], %u;\nready: fence.proxy.async; bar.sync 0;\n", c->bytes);
    if (c->cluster)
        fprintf(o, "barrier.cluster.arrive; barrier.cluster.wait;\n");
    if (c->warp)
        fprintf(o, "setp.ge.u32 %%p, %%t, 32; @%%p bra done;\n%s\n", c->text);
    else
        fprintf(o, "@%%q bra done;\n%s\n", c->text);
    if (c->bytes)
        fprintf(o, "mov.u32 %%n, 0; wait: mbarrier.test_wait.parity.shared.b64 %%p, [%%b], 0; selp.u32 %%k, 1, 0, %%p; @%%p bra done; add.u32 %%n, %%n, 1; setp.lt.u32 %%p, %%n, 4000; @%%p bra wait;\n");
    else
        fprintf(o, "cp.async.bulk.commit_group; cp.async.bulk.wait_group%s 0;\n", c->read ? ".read" : "");
    fprintf(o, "done: bar.sync 0;\n@!%%q st.global.u32 [%%o], %%k; mul.lo.u32 %%n, %%t, 16;\n");
    fprintf(o, "give: add.u32 %%a, %%r, %%n; ld.shared.v2.b64 {%%x0, %%x1}, [%%a]; cvt.u64.u32 %%w, %%n; add.u64 %%w, %%o, %%w; st.global.v2.b64 [%%w+16], {%%x0, %%x1};\n");
    fprintf(o, "add.u32 %%n, %%n, 2048; setp.lt.u32 %%p, %%n, %d; @%%p bra give;\n", ROOM);
    if (c->cluster)
        fprintf(o, "barrier.cluster.arrive; barrier.cluster.wait;\n");
    fprintf(o, "ret;\n}\n");
    fclose(o);
    return text;
}

static unsigned char bytes_[2 * (ROOM + 16) > BUFFER ? 2 * (ROOM + 16) : BUFFER];

void run_copy(const struct copy *c)
{
    if (only_ptx) {
        char *text = kernel(c);
        printf("// %s\n%s", c->name, text);
        free(text);
        return;
    }
    static int begun, before = -1;
    if (before < 0)
        before = *copies_done;
    if (begun++ < before)
        return;
    *copies_done = begun;
    if (!wanted(c->name))
        return;
    CUmodule module;
    CUfunction function;
    if (!buffer) {
        MUST(cuMemAlloc, &buffer, BUFFER);
        MUST(cuMemAlloc, &room, ROOM);
        MUST(cuMemAlloc, &out, 2 * (ROOM + 16));
    }
    _Alignas(64) unsigned char map[128] = { 0 };
    if (c->has_map) {
        struct map m = c->map;
        m.address = buffer + BASE;
        CUresult status = encode(&m, map);
        if (status) {
            line(c->name, status, NULL, 0);
            return;
        }
    }
    char *text = kernel(c);
    CUresult status = FN(cuModuleLoadData, &module, text);
    if (status) {
        line(c->name, status, NULL, 0);
        if (getenv("ASYNC_SHOW"))
            fprintf(stderr, "%s\n%s\n", c->name, text);
        free(text);
        return;
    }
    free(text);
    MUST(cuModuleGetFunction, &function, module, "k");
    fill(bytes_, BUFFER, c->buffer, c->element, 1);
    MUST(cuMemcpyHtoD, buffer, bytes_, BUFFER);
    fill(bytes_, ROOM, c->room, c->element, 2);
    MUST(cuMemcpyHtoD, room, bytes_, ROOM);
    MUST(cuMemsetD8, out, 0, 2 * (ROOM + 16));
    void *args[] = { map, &buffer, &room, &out };
    must(c->name, launch(function, c->cluster ? 2 : 1, 128, args));
    status = FN(cuMemcpyDtoH, bytes_, out, 2 * (ROOM + 16));
    if (status) {
        line(c->name, status, NULL, 0);
        exit(1);
    }
    /* Whether the barrier's phase was complete, then the shared memory or the buffer. */
    char name[112];
    snprintf(name, sizeof name, "%s%s", c->name, bytes_[0] ? "" : ".open");
    if (c->cluster) {
        line(name, 0, bytes_ + 16 + c->from, c->size);
        snprintf(name, sizeof name, "%s.second", c->name);
        line(name, 0, bytes_ + ROOM + 32 + c->from, c->size);
    } else if (c->writes) {
        MUST(cuMemcpyDtoH, bytes_, buffer, BUFFER);
        line(name, 0, bytes_ + c->from, c->size);
    } else {
        line(name, 0, bytes_ + 16 + c->from, c->size);
    }
    MUST(cuModuleUnload, module);
}

void say(char *to, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (vsnprintf(to + strlen(to), TEXT - strlen(to), format, args) >= (int)(TEXT - strlen(to)))
        die("a case's text is longer than %d", TEXT);
    va_end(args);
}

const int type_sizes[] = { 1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4 };

struct map over(int type, int rank, const int *dims, const int *box)
{
    struct map m = { .encoding = TILED, .type = type, .rank = rank };
    uint64_t stride = (uint64_t)(dims[0] * type_sizes[type] + 15) / 16 * 16;
    for (int d = 0; d < 5; d++) {
        m.dim[d] = d < rank ? dims[d] : 1;
        m.box[d] = d < rank ? box[d] : 1;
        m.step[d] = 1;
        if (d < 4) {
            m.stride[d] = stride;
            stride *= d + 1 < rank ? dims[d + 1] : 1;
        }
    }
    return m;
}

unsigned box_bytes(const struct map *m, int up)
{
    unsigned n = m->interleave ? 16 << (m->interleave - 1) : type_sizes[m->type];
    if (m->encoding != TILED)
        return n * (m->interleave ? 1 : m->channels) * m->pixels;
    for (int d = 0; d < m->rank; d++)
        n *= d == 0 ? m->box[0] : up ? (m->box[d] + m->step[d] - 1) / m->step[d] : m->box[d] / m->step[d];
    return n;
}

void coordinates(char *text, const struct map *m, const int *at)
{
    for (int d = 0; d < m->rank; d++)
        say(text, "mov.s32 %%c%d, %d; ", d, at[d]);
}

void place(char *text, const struct map *m)
{
    say(text, "[%%m, {");
    for (int d = 0; d < m->rank; d++)
        say(text, "%s%%c%d", d ? ", " : "", d);
    say(text, "}]");
}

size_t whole(unsigned bytes)
{
    size_t n = (bytes + 127) / 128 * 128 + 128;
    return n < ROOM ? n : ROOM;
}

static void load(const char *name, const struct map *m, const int *at, const int *offsets, unsigned to, enum contents contents, int up)
{
    struct copy c = { .map = *m, .has_map = 1, .room = NUMBERS, .buffer = contents, .element = m->type, .bytes = box_bytes(m, up) };
    snprintf(c.name, sizeof c.name, "copy.load.%s", name);
    coordinates(c.text, m, at);
    if (to)
        say(c.text, "add.u32 %%a, %%r, %u; ", to);
    if (offsets)
        for (int d = 0; d < m->rank - 2; d++)
            say(c.text, "mov.u16 %%h%d, %d; ", d, offsets[d]);
    say(c.text, "cp.async.bulk.tensor.%dd.shared::cluster.global.%s.mbarrier::complete_tx::bytes [%s], ", m->rank, m->encoding == TILED ? "tile" : "im2col", to ? "%a" : "%r");
    place(c.text, m);
    say(c.text, ", [%%b]");
    if (offsets) {
        say(c.text, ", {");
        for (int d = 0; d < m->rank - 2; d++)
            say(c.text, "%s%%h%d", d ? ", " : "", d);
        say(c.text, "}");
    }
    say(c.text, ";");
    c.from = 0;
    c.size = whole(to + c.bytes);
    run_copy(&c);
}

static void store(const char *name, const struct map *m, const int *at, unsigned from, const char *op, enum contents contents)
{
    struct copy c = { .map = *m, .has_map = 1, .room = contents, .buffer = contents, .element = m->type, .writes = 1, .from = BASE - 64, .size = 4096 };
    snprintf(c.name, sizeof c.name, "copy.%s.%s", op ? op : "store", name);
    coordinates(c.text, m, at);
    if (from)
        say(c.text, "add.u32 %%a, %%r, %u; ", from);
    if (op)
        say(c.text, "cp.reduce.async.bulk.tensor.%dd.global.shared::cta.%s.tile.bulk_group ", m->rank, op);
    else
        say(c.text, "cp.async.bulk.tensor.%dd.global.shared::cta.%s.bulk_group ", m->rank, m->encoding == TILED ? "tile" : "im2col_no_offs");
    place(c.text, m);
    say(c.text, ", [%s];", from ? "%a" : "%r");
    run_copy(&c);
}

void record_tiles(void)
{
    /* The first coordinate must be a multiple of 16 bytes, and a stored box must not begin before the
     * tensor: the last two positions. */
    static const int dims[] = { 40, 6, 5, 3, 2 }, boxes[] = { 16, 3, 2, 2, 1 };
    static const int places[][5] = { { 0 }, { 8, 2, 1, 1, 1 }, { 32, 4, 4, 2, 1 }, { 24, 5, 4, 2, 1 }, { 40 }, { 0, 6 }, { 16, 1 }, { 2147483640, 2147483647 },
        { -8, -1, -1, -1, 0 }, { 0, 0, 0, 0, -1 }, { -16 }, { 0, -2, 1, -1, 0 }, { -2147483640 }, { 8, -1 }, { 3, 1 } };
    enum { PLACES = sizeof places / sizeof *places, STORED = 8 };
    char name[64];
    for (int rank = 1; rank <= 5; rank++)
        for (int i = 0; i < PLACES; i++) {
            struct map m = over(1, rank, dims, boxes);
            snprintf(name, sizeof name, "tile.r%d.%d", rank, i);
            if (rank == 2 || i < PLACES - 1)
                load(name, &m, places[i], NULL, 0, NUMBERS, 0);
            if (i < STORED || (rank == 2 && i >= PLACES - 2))
                store(name, &m, places[i], 0, NULL, NUMBERS);
        }
    for (int type = 0; type < 13; type++)
        for (int nan = 0; nan <= (type >= 6); nan++) {
            int n = 16 / type_sizes[type], d[] = { 3 * n + 1, 5 }, b[] = { 2 * n, 4 }, at[] = { -n, -1 }, inside[] = { 2 * n, 2 };
            struct map m = over(type, 2, d, b);
            m.fill = nan;
            snprintf(name, sizeof name, "type%d.%d", type, nan);
            load(name, &m, at, NULL, 0, RANDOM, 0);
            store(name, &m, inside, 0, NULL, RANDOM);
            if (type == 7 || type >= 10) {
                snprintf(name, sizeof name, "type%d.ties.%d", type, nan);
                load(name, &m, inside, NULL, 0, TIES, 0);
            }
            if (type >= 6 && type <= 10) {
                snprintf(name, sizeof name, "type%d.floats.%d", type, nan);
                load(name, &m, at, NULL, 0, FLOATS, 0);
                store(name, &m, inside, 0, NULL, FLOATS);
            }
        }
    for (int swizzle = 0; swizzle <= 3; swizzle++)
        for (int inner = 16; inner <= (swizzle ? 16 << swizzle : 256); inner *= 2)
            for (unsigned to = 0; to <= 1024; to = to ? to * 2 : 128) {
                int d[] = { inner / 2 + 8, 20 }, b[] = { inner / 2, 12 }, at[] = { 8, 2 };
                struct map m = over(1, 2, d, b);
                m.swizzle = swizzle;
                snprintf(name, sizeof name, "swizzle%d.%d.%u", swizzle, inner, to);
                load(name, &m, at, NULL, to, NUMBERS, 0);
                store(name, &m, at, to, NULL, NUMBERS);
            }
    static const cuuint32_t steps[][4] = { { 1, 2, 1, 1 }, { 1, 3, 2, 1 }, { 2, 1, 1, 1 }, { 1, 8, 1, 1 }, { 1, 1, 2, 3 }, { 4, 2, 2, 1 } };
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        for (int up = 0; up <= 1; up++) {
            int d[] = { 12, 11, 6, 4 }, b[] = { 8, 8, 5, 4 }, at[] = { 4, 0, 1, 0 }, out_[] = { -4, -3, -1, 2 };
            struct map m = over(2, 4, d, b);
            memcpy(m.step, steps[i], sizeof steps[i]);
            if (m.step[0] > 1)
                m.box[2] = 2;
            snprintf(name, sizeof name, "step%zu.%d", i, up);
            load(name, &m, at, NULL, 0, NUMBERS, up);
            snprintf(name, sizeof name, "step%zu.%d.out", i, up);
            load(name, &m, out_, NULL, 0, NUMBERS, up);
            if (!up)
                store(name, &m, at, 0, NULL, NUMBERS);
        }
}

void record_interleaved(void)
{
    char name[64];
    for (int layout = 1; layout <= 2; layout++)
        for (int type = 0; type <= 2; type++)
            for (int rank = 3; rank <= 4; rank++)
                for (int k = 0; k < 4; k++) {
                    static const int boxes[][4] = { { 16, 2, 2, 1 }, { 32, 3, 1, 2 }, { 8, 2, 2, 2 }, { 4, 4, 2, 1 } };
                    static const int places[][4] = { { 0, 0, 0, 0 }, { 1, 1, 1, 0 }, { 8, 0, 1, 1 }, { -1, -1, 0, 0 } };
                    int d[] = { 40, 4, 3, 2 };
                    struct map m = over(type, rank, d, boxes[k]);
                    m.interleave = layout;
                    m.swizzle = layout == 2;
                    m.stride[0] = 128 * layout;
                    m.stride[1] = 640 * layout;
                    m.stride[2] = 2560 * layout;
                    snprintf(name, sizeof name, "interleave%d.type%d.r%d.%d", layout, type, rank, k);
                    load(name, &m, places[k], NULL, 0, NUMBERS, 0);
                }
}

/* Pixels of an interleaved layout: W, H and D, then slices of channels, then images. */
static void interleaved_images(void)
{
    static const int size[] = { 6, 5, 3 };
    static const struct {
        int lower[3], upper[3], at[5], offsets[3];
        cuuint32_t step[5];
        int channels, pixels, fill;
    } cases[] = {
        { { 0 }, { 0 }, { 0 }, { 0 }, { 1, 1, 1, 1, 1 }, 8, 12, 0 },
        { { 0 }, { 0 }, { 2, 1, 1, 1, 0 }, { 0 }, { 1, 1, 1, 1, 1 }, 16, 20, 0 },
        { { 0 }, { 0 }, { 1, 0, 2, 2, 1 }, { 0 }, { 1, 1, 1, 1, 1 }, 3, 9, 0 },
        { { -1, -1, -1 }, { -1, -1, -1 }, { -1, -1, -1, 0, 0 }, { 0 }, { 1, 1, 1, 1, 1 }, 8, 30, 0 },
        { { -1, -1, -1 }, { -1, -1, -1 }, { 1, 0, 1, 1, 1 }, { 2, 0, 2 }, { 1, 1, 1, 1, 1 }, 8, 40, 1 },
        { { -2, -1, 0 }, { 0, -1, 1 }, { 0, 0, 0, 0, 0 }, { 2, 1, 0 }, { 2, 1, 1, 1, 1 }, 8, 24, 0 },
        { { -1, 0, 0 }, { 1, 1, 0 }, { -1, 0, 0, 0, 0 }, { 0, 1, 0 }, { 2, 2, 2, 1, 1 }, 8, 24, 0 },
        { { -1, 0, 0 }, { 0, 0, 0 }, { 0, 0, 0, 2, 0 }, { 1, 1, 1 }, { 1, 1, 1, 2, 1 }, 4, 16, 0 },
        { { 0 }, { 0 }, { 0, 0, 0, 0, 0 }, { 0 }, { 3, 1, 1, 1, 2 }, 8, 24, 0 },
        { { 0 }, { 0 }, { 0, 0, 0, 3, 0 }, { 0 }, { 1, 1, 1, 1, 1 }, 8, 12, 1 },
        { { 0 }, { 0 }, { 0, 0, 0, -1, 0 }, { 0 }, { 1, 1, 1, 1, 1 }, 8, 12, 0 },
        { { 1, 1, 1 }, { 1, 1, 1 }, { 1, 1, 1, 1, 0 }, { 0 }, { 1, 1, 1, 1, 1 }, 64, 16, 0 },
        /* The last one begins behind the bounding box. */
        { { 0 }, { 0 }, { 7, 0, 0, 0, 0 }, { 0 }, { 1, 1, 1, 1, 1 }, 8, 12, 0 },
    };
    static const int types[] = { 6, 0, 2 };
    char name[64];
    for (int layout = 1; layout <= 2; layout++)
        for (int t = 0; t < 3; t++)
            for (int rank = 3; rank <= 5; rank++)
                for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
                    int last = i + 1 == sizeof cases / sizeof *cases, spatial = rank - 2;
                    if (t ? i % 3 || last : last && layout == 2)
                        continue;
                    struct map m = { .encoding = IM2COL, .type = types[t], .rank = rank, .interleave = layout, .swizzle = layout == 2 };
                    int at[5] = { 0 };
                    uint64_t stride = 16 * layout;
                    for (int d = 0; d < 5; d++) {
                        m.dim[d] = d < spatial ? size[d] : d == spatial ? 3 : d == spatial + 1 ? 2 : 1;
                        stride *= m.dim[d];
                        if (d < 4)
                            m.stride[d] = stride;
                        int from = d < spatial ? d : d == spatial ? 3 : 4;
                        m.step[d] = cases[i].step[from];
                        at[d] = cases[i].at[from];
                    }
                    memcpy(m.lower, cases[i].lower, sizeof m.lower);
                    memcpy(m.upper, cases[i].upper, sizeof m.upper);
                    m.channels = cases[i].channels;
                    m.pixels = cases[i].pixels;
                    m.fill = cases[i].fill && types[t] >= 6;
                    snprintf(name, sizeof name, "im2col.interleave%d.type%d.r%d.%zu", layout, types[t], rank, i);
                    load(name, &m, at, cases[i].offsets, 0, NUMBERS, 0);
                    /* A store whose box is not the image is refused; one case shows it. */
                    int whole_image = !m.lower[0] && !m.upper[0] && !m.lower[1] && !m.upper[1];
                    if (t || last || !(whole_image || (i == 3 && layout == 1 && rank == 4)))
                        continue;
                    for (int d = 0; d < rank; d++)
                        at[d] = at[d] < 0 ? 0 : at[d];
                    store(name, &m, at, 0, NULL, NUMBERS);
                }
}

void record_images(void)
{
    static const int dims[] = { 24, 6, 5, 3, 2 };
    static const struct {
        int lower[3], upper[3], at[5], offsets[3];
        cuuint32_t step[5];
        int channels, pixels, swizzle, fill;
    } cases[] = {
        { { 0 }, { 0 }, { 0 }, { 0 }, { 1, 1, 1, 1, 1 }, 8, 12, 0, 0 },
        { { 0 }, { 0 }, { 8, 2, 1, 1, 0 }, { 0 }, { 1, 1, 1, 1, 1 }, 16, 20, 0, 0 },
        { { -1, -1, -1 }, { -1, -1, -1 }, { 0, -1, -1, -1, 0 }, { 0 }, { 1, 1, 1, 1, 1 }, 8, 30, 0, 0 },
        { { -1, -1, -1 }, { -1, -1, -1 }, { 0, -1, -1, -1, 0 }, { 1, 2, 1 }, { 1, 1, 1, 1, 1 }, 8, 30, 0, 0 },
        { { -1, -1, -1 }, { -1, -1, -1 }, { 16, 1, 0, 1, 1 }, { 2, 0, 2 }, { 1, 1, 1, 1, 1 }, 8, 40, 0, 1 },
        { { -2, -1, 0 }, { 0, -1, 1 }, { 0, 0, 0, 0, 0 }, { 2, 1, 0 }, { 1, 2, 1, 1, 1 }, 8, 24, 0, 0 },
        { { -1, 0, 0 }, { 1, 1, 0 }, { 0, -1, 0, 0, 0 }, { 0, 1, 0 }, { 1, 2, 2, 2, 1 }, 8, 24, 0, 0 },
        { { -1, 0, -1 }, { -1, -2, 0 }, { 0, 0, 0, 0, 0 }, { 1, 1, 1 }, { 1, 1, 1, 1, 1 }, 32, 16, 2, 0 },
        { { 1, 1, 1 }, { 1, 1, 1 }, { 0, 1, 1, 1, 1 }, { 0, 0, 0 }, { 1, 1, 1, 1, 1 }, 16, 16, 1, 1 },
        { { 0 }, { 0 }, { -8, 0, 0, 0, 0 }, { 3, 3, 3 }, { 1, 1, 1, 1, 1 }, 8, 16, 0, 0 },
        { { -3, 0, 0 }, { -3, 0, 0 }, { 0, 2, 0, 0, 0 }, { 4, 0, 0 }, { 1, 3, 1, 1, 2 }, 8, 16, 0, 0 },
        { { 0 }, { 0 }, { 0, 0, 0, 0, 5 }, { 0 }, { 1, 1, 1, 1, 1 }, 8, 4, 0, 0 },
        { { 0 }, { 0 }, { 0, 7, 9, 0, 0 }, { 0 }, { 1, 1, 1, 1, 1 }, 8, 12, 0, 0 },
    };
    char name[64];
    for (int rank = 3; rank <= 5; rank++)
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            struct map m = over(6, rank, dims, dims);
            m.encoding = IM2COL;
            memcpy(m.lower, cases[i].lower, sizeof m.lower);
            memcpy(m.upper, cases[i].upper, sizeof m.upper);
            memcpy(m.step, cases[i].step, sizeof m.step);
            m.channels = cases[i].channels;
            m.pixels = cases[i].pixels;
            m.swizzle = cases[i].swizzle;
            m.fill = cases[i].fill;
            int at[5];
            memcpy(at, cases[i].at, sizeof at);
            at[rank - 1] = cases[i].at[4];
            snprintf(name, sizeof name, "im2col.r%d.%zu", rank, i);
            /* The last one begins behind the bounding box. */
            if (rank == 3 || i + 1 < sizeof cases / sizeof *cases)
                load(name, &m, at, cases[i].offsets, 0, NUMBERS, 0);
            else
                continue;
            for (int d = 0; d < rank; d++)
                at[d] = at[d] < 0 ? 0 : at[d];
            store(name, &m, at, 0, NULL, NUMBERS);
        }
    interleaved_images();
}

void record_reductions(void)
{
    static const char *const ops[] = { "add", "min", "max", "inc", "dec", "and", "or", "xor" };
    static const struct {
        const char *type;
        int element;
        const char *ops;
    } global[] = { { "b32", 2, "and or xor" }, { "b64", 4, "and or xor" }, { "u32", 2, "add inc dec min max" }, { "s32", 3, "add min max" }, { "u64", 4, "add min max" },
        { "s64", 5, "min max" }, { "f16", 6, "min max" }, { "bf16", 9, "min max" }, { "noftz.f16", 6, "add" }, { "noftz.bf16", 9, "add" }, { "f32", 7, "add" },
        { "f64", 8, "add" } };
    for (size_t t = 0; t < sizeof global / sizeof *global; t++)
        for (int o = 0; o < 8; o++)
            for (int k = 0; k < 2; k++) {
                if (!strstr(global[t].ops, ops[o]))
                    continue;
                struct copy c = { .element = global[t].element, .writes = 1, .from = 0, .size = 1024 };
                c.room = c.buffer = c.element >= 6 ? FLOATS : RANDOM;
                /* Copies inside a block exist only in launches with clusters; one case shows it. */
                int shared = k && !o && c.element == 2 && !strcmp(global[t].type, "u32");
                if (k && !shared)
                    continue;
                snprintf(c.name, sizeof c.name, "copy.bulk.%s.%s.%s", k ? "shared" : "global", ops[o], global[t].type);
                if (k) {
                    c.bytes = 1024;
                    c.writes = 0;
                    c.size = 2048;
                    say(c.text, "add.u32 %%a, %%r, 1024; cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.%s.%s [%%a], [%%r], 1024, [%%b];", ops[o],
                        global[t].type);
                } else {
                    say(c.text, "cp.reduce.async.bulk.global.shared::cta.bulk_group.%s.%s [%%g], [%%r], 1024;", ops[o], global[t].type);
                }
                run_copy(&c);
            }
    static const int types[] = { 2, 3, 4, 5, 6, 7, 8, 9, 10 };
    for (size_t t = 0; t < sizeof types / sizeof *types; t++)
        for (int o = 0; o < 8; o++) {
            int type = types[t], n = 16 / type_sizes[type], d[] = { 4 * n + 1, 7 }, b[] = { 4 * n, 6 }, at[] = { n, 3 };
            /* The combinations in the manual: no bitwise operations on floats, only unsigned sums, only
             * 32-bit increments. */
            if ((type >= 6 && o >= 3) || ((o == 3 || o == 4) && type != 2) || ((type == 7 || type == 8 || type == 10) && o) || (type == 5 && !o))
                continue;
            struct map m = over(type, 2, d, b);
            char name[64];
            snprintf(name, sizeof name, "type%d", type);
            store(name, &m, at, 0, ops[o], type >= 6 ? FLOATS : RANDOM);
        }
    for (int o = 0; o < 8; o++)
        for (int t = 0; t < 5; t++) {
            static const char *const words[] = { "u32", "s32", "b32", "u64", "s64" };
            static const char *const legal[] = { "add min max inc dec", "add min max", "and or xor", "add", "add" };
            if (!strstr(legal[t], ops[o]))
                continue;
            struct copy c = { .room = RANDOM, .bytes = t < 3 ? 64 : 128, .size = 256, .cluster = 1 };
            snprintf(c.name, sizeof c.name, "copy.red.%s.%s", ops[o], words[t]);
            int w = t < 3 ? 4 : 8;
            const char *reg = t < 3 ? "%c0" : "%x0";
            say(c.text,
                "mov.u32 %%n, %%cluster_ctarank; mapa.shared::cluster.u32 %%a, %%r, %%n; mapa.shared::cluster.u32 %%c1, %%b, %%n; mov.u32 %%n, 0; each: ld.shared::cluster.b%d %s, [%%a+128]; red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.%s.%s [%%a], %s, [%%c1]; "
                "add.u32 %%a, %%a, %d; add.u32 %%n, %%n, 1; setp.lt.u32 %%p, %%n, 16; @%%p bra each;",
                w * 8, reg, ops[o], words[t], reg, w);
            run_copy(&c);
        }
}

void record_plain(void)
{
    struct copy c = { .name = "copy.bulk.load", .bytes = 512, .size = 768, .element = 0 };
    say(c.text, "cp.async.bulk.prefetch.L2.global [%%g+16], 512; cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%%r], [%%g+16], 512, [%%b];");
    run_copy(&c);
    c = (struct copy){ .name = "copy.bulk.across", .bytes = 48, .size = 768 };
    say(c.text, "add.u32 %%a, %%r, 512; cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%%a], [%%r+16], 48, [%%b];");
    run_copy(&c);
    c = (struct copy){ .name = "copy.bulk.store", .writes = 1, .size = 768 };
    say(c.text, "cp.async.bulk.global.shared::cta.bulk_group [%%g+32], [%%r+16], 512;");
    run_copy(&c);
    c = (struct copy){ .name = "copy.st", .bytes = 40, .size = 256 };
    say(c.text, "mov.u32 %%c0, 1; mov.u32 %%c1, 2; mov.u32 %%c2, 3; mov.u32 %%c3, 4; mov.u64 %%x0, 5; mov.u64 %%x1, 6; "
                "st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%%r], {%%c0, %%c1, %%c2, %%c3}, [%%b]; "
                "st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.u64 [%%r+32], {%%x0, %%x1}, [%%b]; "
                "st.async.shared::cluster.mbarrier::complete_tx::bytes.s64 [%%r+64], %%x1, [%%b];");
    run_copy(&c);
    /* To the other block of a cluster, which also has the barrier. */
    static const char peer[] = "mov.u32 %n, %cluster_ctarank; setp.ne.u32 %p, %n, 0; @%p bra only; mapa.shared::cluster.u32 %c0, %r, 1; mapa.shared::cluster.u32 %c1, %b, 1; ";
    c = (struct copy){ .name = "copy.peer.copy", .bytes = 48, .size = 256, .cluster = 1 };
    say(c.text, "%s cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%%c0], [%%r+16], 48, [%%c1]; only:", peer);
    run_copy(&c);
    c = (struct copy){ .name = "copy.peer.own", .bytes = 48, .size = 256, .cluster = 1 };
    say(c.text, "%s mapa.shared::cluster.u32 %%c0, %%r, 0; mapa.shared::cluster.u32 %%c1, %%b, 0; "
                "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%%c0+128], [%%r+16], 48, [%%c1]; only:", peer);
    run_copy(&c);
    c = (struct copy){ .name = "copy.peer.st", .bytes = 16, .size = 256, .cluster = 1 };
    say(c.text, "%s mov.u64 %%x0, 5; mov.u64 %%x1, 6; st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.u64 [%%c0+32], {%%x0, %%x1}, [%%c1]; only:", peer);
    run_copy(&c);
    c = (struct copy){ .name = "copy.peer.red", .bytes = 4, .size = 256, .cluster = 1 };
    say(c.text, "%s mov.u32 %%n, 5; red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%%c0+32], %%n, [%%c1]; only:", peer);
    run_copy(&c);
    static const char *const sums[][2] = { { "and", "b32" }, { "or", "b32" }, { "xor", "b32" }, { "add", "u32" }, { "add", "s32" }, { "add", "u64" }, { "inc", "u32" },
        { "dec", "u32" }, { "min", "u32" }, { "min", "s32" }, { "max", "u32" }, { "max", "s32" } };
    for (size_t i = 0; i < sizeof sums / sizeof *sums; i++) {
        c = (struct copy){ .bytes = 1024, .size = 2048, .cluster = 1, .room = RANDOM };
        snprintf(c.name, sizeof c.name, "copy.peer.%s.%s", sums[i][0], sums[i][1]);
        say(c.text, "%s cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.%s.%s [%%c0+1024], [%%r], 1024, [%%c1]; only:", peer, sums[i][0], sums[i][1]);
        run_copy(&c);
    }
    /* Positions at which a row may begin. */
    for (int t = 0; t < 3; t++)
        for (int k = 0; k < 4; k++) {
            static const int kinds[] = { 0, 7, 5 }, begins[][4] = { { 0, 1, 8, 16 }, { -4, -1, 1, 4 }, { -2, 1, 2, 4 } };
            int at = begins[t][k];
            int n = 16 / type_sizes[kinds[t]], dim[] = { 8 * n, 4 }, box[] = { 2 * n, 2 }, p[] = { at, 1 };
            struct map m = over(kinds[t], 2, dim, box);
            char name[32];
            snprintf(name, sizeof name, "begin.type%d.%d", kinds[t], at);
            load(name, &m, p, NULL, 0, NUMBERS, 0);
        }
    int d[] = { 40, 10 }, b[] = { 16, 4 };
    c = (struct copy){ .name = "copy.multicast.tile", .bytes = 128, .size = 256, .map = over(1, 2, d, b), .has_map = 1, .cluster = 1 };
    say(c.text, "mov.u32 %%c0, 8; mov.u32 %%c1, 2; mov.u16 %%h0, 3; mov.u32 %%n, %%cluster_ctarank; setp.ne.u32 %%p, %%n, 0; @%%p bra only; "
                "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster [%%r], [%%m, {%%c0, %%c1}], [%%b], %%h0; only:");
    run_copy(&c);
    c = (struct copy){ .name = "copy.multicast.bulk", .bytes = 64, .size = 256, .cluster = 1 };
    say(c.text, "mov.u16 %%h0, 3; mov.u32 %%n, %%cluster_ctarank; setp.ne.u32 %%p, %%n, 1; @%%p bra only; add.u32 %%a, %%r, 16; "
                "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%%a], [%%g+48], 64, [%%b], %%h0; only:");
    run_copy(&c);
    /* A map in shared memory, with each field replaced. */
    static const struct {
        const char *name, *text;
    } fields[] = {
        { "address", "mov.b64 %x0, 0x123456789ab0; tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%r], %x0;" },
        { "rank", "mov.b32 %c0, 3; tensormap.replace.tile.rank.shared::cta.b1024.b32 [%r], %c0;" },
        { "box0", "mov.b32 %c0, 100; tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%r], 0, %c0;" },
        { "box4", "mov.b32 %c0, 7; tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%r], 4, %c0;" },
        { "dim0", "mov.b32 %c0, 1000; tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%r], 0, %c0;" },
        { "dim3", "mov.b32 %c0, 1001; tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%r], 3, %c0;" },
        { "stride0", "mov.b64 %x0, 0x1234567890; tensormap.replace.tile.global_stride.shared::cta.b1024.b64 [%r], 0, %x0;" },
        { "stride3", "mov.b64 %x0, 0xffffffff0; tensormap.replace.tile.global_stride.shared::cta.b1024.b64 [%r], 3, %x0;" },
        { "step1", "mov.b32 %c0, 5; tensormap.replace.tile.element_stride.shared::cta.b1024.b32 [%r], 1, %c0;" },
        { "step4", "mov.b32 %c0, 8; tensormap.replace.tile.element_stride.shared::cta.b1024.b32 [%r], 4, %c0;" },
        { "type0", "tensormap.replace.tile.elemtype.shared::cta.b1024.b32 [%r], 0;" },
        { "type6", "tensormap.replace.tile.elemtype.shared::cta.b1024.b32 [%r], 6;" },
        { "type8", "tensormap.replace.tile.elemtype.shared::cta.b1024.b32 [%r], 8;" },
        { "type9", "tensormap.replace.tile.elemtype.shared::cta.b1024.b32 [%r], 9;" },
        { "type10", "tensormap.replace.tile.elemtype.shared::cta.b1024.b32 [%r], 10;" },
        { "type11", "tensormap.replace.tile.elemtype.shared::cta.b1024.b32 [%r], 11;" },
        { "type12", "tensormap.replace.tile.elemtype.shared::cta.b1024.b32 [%r], 12;" },
        { "interleave1", "tensormap.replace.tile.interleave_layout.shared::cta.b1024.b32 [%r], 1;" },
        { "interleave2", "tensormap.replace.tile.interleave_layout.shared::cta.b1024.b32 [%r], 2;" },
        { "swizzle1", "tensormap.replace.tile.swizzle_mode.shared::cta.b1024.b32 [%r], 1;" },
        { "swizzle3", "tensormap.replace.tile.swizzle_mode.shared::cta.b1024.b32 [%r], 3;" },
        { "fill1", "tensormap.replace.tile.fill_mode.shared::cta.b1024.b32 [%r], 1;" },
    };
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        int d5[] = { 40, 10, 4, 4, 4 }, b5[] = { 16, 4, 1, 2, 3 };
        c = (struct copy){ .map = over(1, 5, d5, b5), .has_map = 1, .from = 8, .size = 120 };
        snprintf(c.name, sizeof c.name, "copy.replace.%s", fields[i].name);
        if (!strcmp(fields[i].name, "address"))
            c.from = 0;
        for (int w = 0; w < 16; w++)
            say(c.text, "ld.u64 %%x0, [%%m+%d]; st.shared.u64 [%%r+%d], %%x0; ", 8 * w, 8 * w);
        say(c.text, "%s", fields[i].text);
        run_copy(&c);
    }
}

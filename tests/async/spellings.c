/* Copies in all their spellings: state spaces, hints, optional operands, other blocks; and prefetches,
 * fields of tensor maps, and publishing of maps. */
#include "copies.h"
#include <string.h>

static const char policy[] = "createpolicy.fractional.L2::evict_first.b64 %x3; ";
static const char *const hints[] = { "", ".L2::cache_hint" }, *const passed[] = { "", ", %x3" };
static const char *const into[] = { "shared::cta", "shared::cluster" };

/* The second block of a cluster runs the text, or the first one does and reports the bytes to its own
 * barrier. The text must be followed by the label `only`. */
static const char second[] = "mov.u32 %n, %cluster_ctarank; setp.ne.u32 %p, %n, 1; @%p bra only; ";
static const char other[] = "mov.u32 %n, %cluster_ctarank; setp.ne.u32 %p, %n, 0; @%p bra only; mapa.shared::cluster.u32 %c0, %r, 1; mapa.shared::cluster.u32 %c1, %b, 1; mbarrier.complete_tx.shared::cta.b64 [%b], ";

/* Names a case: the instruction's words without the common ones. */
static void name_copy(struct copy *c, const char *kind, const char *words)
{
    snprintf(c->name, sizeof c->name, "spelling.%s", kind);
    for (const char *w = words; *w; w++)
        if (*w != ':' && strlen(c->name) + 2 < sizeof c->name)
            strncat(c->name, w, 1);
}

static void plain(void)
{
    struct copy c;
    char words[96];
    for (int h = 0; h < 2; h++) {
        for (int d = 0; d < 2; d++)
            for (int prefetched = 0; prefetched < 2; prefetched++) {
                c = (struct copy){ .bytes = 2048, .size = 2304, .room = NUMBERS, .buffer = RANDOM };
                snprintf(words, sizeof words, "%s%s%s", into[d], hints[h], prefetched ? ".prefetched" : "");
                name_copy(&c, "load.", words);
                if (h)
                    say(c.text, "%s", policy);
                if (prefetched)
                    say(c.text, "cp.async.bulk.prefetch.L2.global%s [%%g+64], 1024%s; ", hints[h], passed[h]);
                say(c.text, "cp.async.bulk.%s.global.mbarrier::complete_tx::bytes%s [%%r+16], [%%g+32], 2048, [%%b]%s;", into[d], hints[h], passed[h]);
                run_copy(&c);
            }
        for (int read = 0; read < 2; read++) {
            c = (struct copy){ .writes = 1, .size = 2304, .room = RANDOM, .read = read };
            snprintf(words, sizeof words, "global%s%s", hints[h], read ? ".read" : "");
            name_copy(&c, "store.", words);
            if (h)
                say(c.text, "%s", policy);
            say(c.text, "cp.async.bulk.global.shared::cta.bulk_group%s [%%g+32], [%%r+16], 2048%s; cp.async.bulk.commit_group; cp.async.bulk.wait_group%s 1;", hints[h], passed[h],
                read ? ".read" : "");
            run_copy(&c);
        }
        c = (struct copy){ .bytes = 1024, .size = 1280, .cluster = 1, .buffer = RANDOM };
        name_copy(&c, "multicast", hints[h]);
        say(c.text, "%smov.u16 %%h0, 3; %sadd.u32 %%a, %%r, 16; cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster%s [%%a], [%%g+48], 1024, [%%b], %%h0%s; only:",
            second, h ? policy : "", hints[h], passed[h]);
        run_copy(&c);
    }
    /* Sizes 0 and 16, and a size in a register. */
    for (int k = 0; k < 4; k++) {
        static const unsigned bytes[] = { 0, 16, 32, 4096 };
        c = (struct copy){ .bytes = bytes[k], .size = 4352, .buffer = RANDOM };
        snprintf(words, sizeof words, "%u", bytes[k]);
        name_copy(&c, "size.", words);
        say(c.text, "mov.u32 %%c0, %u; cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%%r], [%%g], %%c0, [%%b];", bytes[k]);
        run_copy(&c);
    }
}

static const char *const all_ops[] = { "add", "min", "max", "inc", "dec", "and", "or", "xor" };

/* Many numbers and the ends of their ranges; with hints. */
static void reductions(void)
{
    static const struct {
        const char *type, *ops;
        int element;
    } global[] = { { "b32", "and or xor", 2 }, { "b64", "and or xor", 4 }, { "u32", "add inc dec min max", 2 }, { "s32", "add min max", 3 }, { "u64", "add min max", 4 },
        { "s64", "min max", 5 }, { "f16", "min max", 6 }, { "bf16", "min max", 9 }, { "noftz.f16", "add", 6 }, { "noftz.bf16", "add", 9 }, { "f32", "add", 7 }, { "f64", "add", 8 } },
      shared[] = { { "b32", "and or xor", 2 }, { "u32", "add inc dec min max", 2 }, { "s32", "add min max", 3 }, { "u64", "add", 4 } };
    struct copy c;
    char words[96];
    for (size_t t = 0; t < sizeof global / sizeof *global; t++)
        for (int o = 0; o < 8; o++)
            for (int h = 0; h < 2; h++) {
                if (!strstr(global[t].ops, all_ops[o]))
                    continue;
                c = (struct copy){ .element = global[t].element, .writes = 1, .size = h ? 1024 : 2048 };
                c.room = c.buffer = c.element >= 6 ? FLOATS : EDGES;
                snprintf(words, sizeof words, "%s.%s%s", all_ops[o], global[t].type, hints[h]);
                name_copy(&c, "reduce.", words);
                say(c.text, "%scp.reduce.async.bulk.global.shared::cta.bulk_group%s.%s.%s [%%g], [%%r], %zu%s;", h ? policy : "", hints[h], all_ops[o], global[t].type, c.size, passed[h]);
                run_copy(&c);
            }
    for (size_t t = 0; t < sizeof shared / sizeof *shared; t++)
        for (int o = 0; o < 8; o++) {
            if (!strstr(shared[t].ops, all_ops[o]))
                continue;
            c = (struct copy){ .element = shared[t].element, .bytes = 2048, .from = 4096, .size = 2048, .cluster = 1, .room = EDGES };
            snprintf(words, sizeof words, "%s.%s", all_ops[o], shared[t].type);
            name_copy(&c, "reduce.peer.", words);
            say(c.text, "%s%u; cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.%s.%s [%%c0+4096], [%%r], 2048, [%%c1]; only:", other, c.bytes, all_ops[o],
                shared[t].type);
            run_copy(&c);
        }
}

static struct map tiles(int type, int rank)
{
    static const int dims[] = { 40, 6, 5, 3, 2 }, boxes[] = { 16, 3, 2, 2, 1 };
    return over(type, rank, dims, boxes);
}

static struct map images(int type, int rank)
{
    static const int dims[] = { 24, 6, 5, 3, 2 };
    struct map m = over(type, rank, dims, dims);
    m.encoding = IM2COL;
    m.channels = 8;
    m.pixels = 20;
    return m;
}

static void tensors(void)
{
    static const int inside[] = { 8, 2, 1, 1, 0 }, edge[] = { 32, 4, 4, 2, 1 }, pixel[] = { 8, 2, 1, 1, 1 };
    static const char *const tile[] = { "", ".tile" };
    struct copy c;
    char words[96];
    for (int rank = 1; rank <= 5; rank++)
        for (int t = 0; t < 2; t++)
            for (int h = 0; h < 2; h++) {
                struct map m = tiles(2, rank);
                unsigned bytes = box_bytes(&m, 0);
                for (int d = 0; d < 2; d++) {
                    c = (struct copy){ .map = m, .has_map = 1, .bytes = bytes, .size = whole(bytes), .element = 2, .buffer = RANDOM };
                    snprintf(words, sizeof words, "%dd.%s%s%s", rank, into[d], tile[t], hints[h]);
                    name_copy(&c, "tensor.", words);
                    if (h)
                        say(c.text, "%s", policy);
                    coordinates(c.text, &m, d ? inside : edge);
                    say(c.text, "cp.async.bulk.prefetch.tensor.%dd.L2.global%s%s ", rank, tile[t], hints[h]);
                    place(c.text, &m);
                    say(c.text, "%s; cp.async.bulk.tensor.%dd.%s.global%s.mbarrier::complete_tx::bytes%s [%%r], ", passed[h], rank, into[d], tile[t], hints[h]);
                    place(c.text, &m);
                    say(c.text, ", [%%b]%s;", passed[h]);
                    run_copy(&c);
                }
                c = (struct copy){ .map = m, .has_map = 1, .bytes = bytes, .size = whole(bytes), .element = 2, .buffer = RANDOM, .cluster = 1 };
                snprintf(words, sizeof words, "%dd%s%s", rank, tile[t], hints[h]);
                name_copy(&c, "tensor.multicast.", words);
                say(c.text, "%smov.u16 %%h0, 3; %s", second, h ? policy : "");
                coordinates(c.text, &m, inside);
                say(c.text, "cp.async.bulk.tensor.%dd.shared::cluster.global%s.mbarrier::complete_tx::bytes.multicast::cluster%s [%%r], ", rank, tile[t], hints[h]);
                place(c.text, &m);
                say(c.text, ", [%%b], %%h0%s; only:", passed[h]);
                run_copy(&c);
                c = (struct copy){ .map = m, .has_map = 1, .writes = 1, .from = BASE - 64, .size = 4096, .room = RANDOM, .element = 2 };
                snprintf(words, sizeof words, "%dd%s%s", rank, tile[t], hints[h]);
                name_copy(&c, "tensor.store.", words);
                if (h)
                    say(c.text, "%s", policy);
                coordinates(c.text, &m, inside);
                say(c.text, "cp.async.bulk.tensor.%dd.global.shared::cta%s.bulk_group%s ", rank, tile[t], hints[h]);
                place(c.text, &m);
                say(c.text, ", [%%r]%s;", passed[h]);
                run_copy(&c);
                /* All operations in the shortest and the longest spelling. */
                for (int o = t == h ? 0 : rank; o < (t == h ? 8 : rank + 1); o++) {
                    c = (struct copy){ .map = m, .has_map = 1, .writes = 1, .from = BASE - 64, .size = 4096, .room = EDGES, .buffer = EDGES, .element = 2 };
                    snprintf(words, sizeof words, "%s.%dd%s%s", all_ops[o], rank, tile[t], hints[h]);
                    name_copy(&c, "tensor.reduce.", words);
                    if (h)
                        say(c.text, "%s", policy);
                    coordinates(c.text, &m, inside);
                    say(c.text, "cp.reduce.async.bulk.tensor.%dd.global.shared::cta.%s%s.bulk_group%s ", rank, all_ops[o], tile[t], hints[h]);
                    place(c.text, &m);
                    say(c.text, ", [%%r]%s;", passed[h]);
                    run_copy(&c);
                }
            }
    for (int rank = 3; rank <= 5; rank++)
        for (int h = 0; h < 2; h++) {
            struct map m = images(2, rank);
            unsigned bytes = box_bytes(&m, 0);
            char offsets[64] = "";
            for (int d = 0; d < rank - 2; d++)
                snprintf(offsets + strlen(offsets), sizeof offsets - strlen(offsets), "%s%%h%d", d ? ", " : "", d + 1);
            static const char moves[] = "mov.u16 %h1, 1; mov.u16 %h2, 0; mov.u16 %h3, 1; ";
            for (int d = 0; d < 2; d++) {
                c = (struct copy){ .map = m, .has_map = 1, .bytes = bytes, .size = whole(bytes), .element = 2, .buffer = RANDOM };
                snprintf(words, sizeof words, "%dd.%s%s", rank, into[d], hints[h]);
                name_copy(&c, "im2col.", words);
                say(c.text, "%s%s", h ? policy : "", moves);
                coordinates(c.text, &m, pixel);
                say(c.text, "cp.async.bulk.prefetch.tensor.%dd.L2.global.im2col%s ", rank, hints[h]);
                place(c.text, &m);
                say(c.text, ", {%s}%s; cp.async.bulk.tensor.%dd.%s.global.im2col.mbarrier::complete_tx::bytes%s [%%r], ", offsets, passed[h], rank, into[d], hints[h]);
                place(c.text, &m);
                say(c.text, ", [%%b], {%s}%s;", offsets, passed[h]);
                run_copy(&c);
            }
            c = (struct copy){ .map = m, .has_map = 1, .bytes = bytes, .size = whole(bytes), .element = 2, .buffer = RANDOM, .cluster = 1 };
            snprintf(words, sizeof words, "%dd%s", rank, hints[h]);
            name_copy(&c, "im2col.multicast.", words);
            say(c.text, "%smov.u16 %%h0, 3; %s%s", second, h ? policy : "", moves);
            coordinates(c.text, &m, pixel);
            say(c.text, "cp.async.bulk.tensor.%dd.shared::cluster.global.im2col.mbarrier::complete_tx::bytes.multicast::cluster%s [%%r], ", rank, hints[h]);
            place(c.text, &m);
            say(c.text, ", [%%b], {%s}, %%h0%s; only:", offsets, passed[h]);
            run_copy(&c);
            /* Stores are only of whole images. */
            for (int o = -1; o < 8; o++) {
                c = (struct copy){ .map = m, .has_map = 1, .writes = 1, .from = BASE - 64, .size = 4096, .room = EDGES, .buffer = EDGES, .element = 2 };
                snprintf(words, sizeof words, "%s%s%dd%s", o < 0 ? "" : all_ops[o], o < 0 ? "" : ".", rank, hints[h]);
                name_copy(&c, o < 0 ? "im2col.store." : "im2col.reduce.", words);
                if (h)
                    say(c.text, "%s", policy);
                coordinates(c.text, &m, pixel);
                if (o < 0)
                    say(c.text, "cp.async.bulk.tensor.%dd.global.shared::cta.im2col_no_offs.bulk_group%s ", rank, hints[h]);
                else
                    say(c.text, "cp.reduce.async.bulk.tensor.%dd.global.shared::cta.%s.im2col_no_offs.bulk_group%s ", rank, all_ops[o], hints[h]);
                place(c.text, &m);
                say(c.text, ", [%%r]%s;", passed[h]);
                run_copy(&c);
            }
        }
}

/* Words to another block, each with its bytes reported to that block's barrier. */
static void words_across(void)
{
    static const struct {
        const char *type, *one;
        int bytes;
    } types[] = { { "b32", "%c", 4 }, { "u32", "%c", 4 }, { "s32", "%c", 4 }, { "f32", "%c", 4 }, { "b64", "%x", 8 }, { "u64", "%x", 8 }, { "s64", "%x", 8 }, { "f64", "%x", 8 } };
    static const char *const ways[] = { ".mbarrier::complete_tx::bytes", ".shared::cluster.mbarrier::complete_tx::bytes", ".weak.mbarrier::complete_tx::bytes", ".weak.shared::cluster.mbarrier::complete_tx::bytes" };
    struct copy c;
    char words[96];
    for (int w = 0; w < 4; w++)
        for (size_t t = 0; t < sizeof types / sizeof *types; t++)
            for (int v = 1; v <= 4; v *= 2) {
                if (v * types[t].bytes > 16)
                    continue;
                /* Without a state space, the addresses are generic. */
                int generic = !strstr(ways[w], "shared");
                c = (struct copy){ .bytes = (unsigned)(16 * v * types[t].bytes), .size = 512, .cluster = 1, .room = RANDOM };
                snprintf(words, sizeof words, "%s%sv%d.%s", strstr(ways[w], "weak") ? "weak." : "", generic ? "" : "cluster.", v, types[t].type);
                name_copy(&c, "st.", words);
                say(c.text, "%s%u; mov.u32 %%n, 0; mov.u32 %%a, %%r; ", other, c.bytes);
                if (generic)
                    say(c.text, "cvt.u64.u32 %%x2, %%c1; cvta.shared::cluster.u64 %%i, %%x2; ");
                say(c.text, "each: ");
                for (int e = 0; e < v; e++)
                    say(c.text, types[t].bytes == 4 ? "ld.shared.b32 %%c%d, [%%a+%d]; " : "ld.shared.b64 %%x%d, [%%a+%d]; ", types[t].bytes == 4 ? e + 2 : e, 4096 + e * types[t].bytes);
                if (generic)
                    say(c.text, "cvt.u64.u32 %%x2, %%c0; cvta.shared::cluster.u64 %%x2, %%x2; ");
                say(c.text, "st.async%s%s.%s [%s], %s", ways[w], v == 1 ? "" : v == 2 ? ".v2" : ".v4", types[t].type, generic ? "%x2" : "%c0", v > 1 ? "{" : "");
                for (int e = 0; e < v; e++)
                    say(c.text, "%s%s%d", e ? ", " : "", types[t].one, types[t].bytes == 4 ? e + 2 : e);
                say(c.text, "%s, [%s]; add.u32 %%a, %%a, %d; add.u32 %%c0, %%c0, %d; add.u32 %%n, %%n, 1; setp.lt.u32 %%p, %%n, 16; @%%p bra each; only:", v > 1 ? "}" : "", generic ? "%i" : "%c1",
                    v * types[t].bytes, v * types[t].bytes);
                run_copy(&c);
            }
    static const struct {
        const char *type, *ops;
        int bytes;
    } sums[] = { { "u32", "add min max inc dec", 4 }, { "s32", "add min max", 4 }, { "b32", "and or xor", 4 }, { "u64", "add", 8 }, { "s64", "add", 8 } };
    for (int space = 0; space < 2; space++)
        for (size_t t = 0; t < sizeof sums / sizeof *sums; t++)
            for (int o = 0; o < 8; o++) {
                if (!strstr(sums[t].ops, all_ops[o]))
                    continue;
                int wide = sums[t].bytes == 8;
                c = (struct copy){ .bytes = 2048, .size = 2048, .cluster = 1, .room = EDGES };
                snprintf(words, sizeof words, "%s%s.%s", space ? "cluster." : "", all_ops[o], sums[t].type);
                name_copy(&c, "red.", words);
                say(c.text, "%s%u; mov.u32 %%n, 0; mov.u32 %%a, %%r; cvt.u64.u32 %%x2, %%c1; cvta.shared::cluster.u64 %%i, %%x2; each: ld.shared.b%d %s, [%%a+4096]; ", other, c.bytes,
                    wide ? 64 : 32, wide ? "%x0" : "%c2");
                if (!space)
                    say(c.text, "cvt.u64.u32 %%x2, %%c0; cvta.shared::cluster.u64 %%x2, %%x2; ");
                say(c.text, "red.async.relaxed.cluster%s.mbarrier::complete_tx::bytes.%s.%s [%s], %s, [%s]; add.u32 %%a, %%a, %d; add.u32 %%c0, %%c0, %d; add.u32 %%n, %%n, %d; "
                            "setp.lt.u32 %%p, %%n, 2048; @%%p bra each; only:",
                    space ? ".shared::cluster" : "", all_ops[o], sums[t].type, space ? "%c0" : "%x2", wide ? "%x0" : "%c2", space ? "%c1" : "%i", sums[t].bytes, sums[t].bytes, sums[t].bytes);
                run_copy(&c);
            }
}

/* Copies the map's words to shared or to global memory. */
static void take_map(struct copy *c, const char *to)
{
    say(c->text, "mov.u32 %%n, 0; mov.u32 %%a, %%r; mov.b64 %%x2, %%g; take_map: ld.u64 %%x0, [%%m]; st.%s.u64 [%s], %%x0; add.u64 %%m, %%m, 8; add.u32 %%a, %%a, 8; "
                 "add.u64 %%x2, %%x2, 8; add.u32 %%n, %%n, 1; setp.lt.u32 %%p, %%n, 16; @%%p bra take_map; ", to, strcmp(to, "global") ? "%a" : "%x2");
}

static void fields(void)
{
    static const struct {
        const char *field, *name;
        int wide, last, count; /* the last ordinal, or -1; number of constant values, or 0 */
    } all[] = { { "global_address", "address", 1, -1, 0 }, { "rank", "rank", 0, -1, 0 }, { "box_dim", "box", 0, 4, 0 }, { "global_dim", "dim", 0, 4, 0 },
        { "global_stride", "stride", 1, 3, 0 }, { "element_stride", "step", 0, 4, 0 }, { "elemtype", "type", 0, -1, 13 }, { "interleave_layout", "interleave", 0, -1, 3 },
        { "swizzle_mode", "swizzle", 0, -1, 4 }, { "fill_mode", "fill", 0, -1, 2 } };
    static const char *const spaces[] = { "", ".shared::cta", ".global" };
    static const uint64_t addresses[] = { 0, 16, 0x7f1234567890, 0xfffffffffffff0, 0x123456789ab0 }, strides[] = { 0, 16, 0x1230, 0xffffffff0, 0x800000000, 0x100000 },
                          ranks[] = { 0, 1, 2, 3, 4 }, sides[] = { 0, 1, 2, 5, 8, 16, 33, 256 }, wholes[] = { 1, 2, 1000, 0x7fffffff, 0x80000000, 0xffffffff };
    char words[96];
    for (size_t f = 0; f < sizeof all / sizeof *all; f++)
        for (int s = 0; s < 3; s++)
            for (int d = all[f].last < 0 ? -1 : 0; d <= all[f].last; d++) {
                const uint64_t *values = f == 0 ? addresses : f == 1 ? ranks : f == 3 ? wholes : f == 4 ? strides : sides;
                int count = all[f].count ? all[f].count : f == 0 ? 5 : f == 1 ? 5 : f == 3 || f == 4 ? 6 : f == 5 ? 5 : 8;
                /* All values in one position, and each position once. */
                for (int v = s == 1 && d <= 0 ? 0 : count / 2; v < (s == 1 && d <= 0 ? count : count / 2 + 1); v++) {
                    static const int d5[] = { 40, 10, 4, 4, 4 }, b5[] = { 16, 4, 1, 2, 3 };
                    /* A map's own address is not recorded, because it varies. */
                    struct copy c = { .map = over(1, 5, d5, b5), .has_map = 1, .from = f ? 8 : 0, .size = f ? 120 : 128, .writes = s == 2 };
                    snprintf(words, sizeof words, "%s%s.%d.%d", all[f].name, spaces[s], d, v);
                    name_copy(&c, "field.", words);
                    take_map(&c, s == 2 ? "global" : "shared");
                    if (!s)
                        say(c.text, "cvt.u64.u32 %%x1, %%r; cvta.shared.u64 %%x1, %%x1; ");
                    if (all[f].wide)
                        say(c.text, "mov.b64 %%x0, %llu; ", (unsigned long long)values[v]);
                    else if (!all[f].count)
                        say(c.text, "mov.b32 %%c0, %u; ", (unsigned)values[v]);
                    say(c.text, "tensormap.replace.tile.%s%s.b1024.b%d [%s]", all[f].field, spaces[s], all[f].wide ? 64 : 32, s == 0 ? "%x1" : s == 1 ? "%r" : "%g");
                    if (d >= 0)
                        say(c.text, ", %d", d);
                    if (all[f].count)
                        say(c.text, ", %d;", v);
                    else
                        say(c.text, ", %s;", all[f].wide ? "%x0" : "%c0");
                    run_copy(&c);
                }
            }
}

/* Maps that are created in shared memory and published. */
static void published(void)
{
    static const char *const scopes[] = { "cta", "cluster", "gpu", "sys" };
    static const int at[] = { 8, 2 };
    struct copy c;
    for (int s = 0; s < 4; s++)
        for (int used = 0; used < 2; used++) {
            struct map m = tiles(2, 2);
            unsigned bytes = used ? box_bytes(&m, 0) : 0;
            c = (struct copy){ .map = m, .has_map = 1, .warp = 1, .bytes = bytes, .writes = !used, .from = used ? 128 : 8, .size = used ? 512 : 120, .buffer = RANDOM };
            name_copy(&c, used ? "published.used." : "published.", scopes[s]);
            /* Every lane writes the same words. */
            take_map(&c, "shared");
            say(c.text, "bar.warp.sync -1; tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.%s.sync.aligned [%%g], [%%r], 128; bar.warp.sync -1;", scopes[s]);
            if (used) {
                say(c.text, " @%%q bra done; fence.proxy.tensormap::generic.acquire.%s [%%g], 128; mov.b64 %%m, %%g; add.u32 %%a, %%r, 256; ", scopes[s]);
                coordinates(c.text, &m, at);
                say(c.text, "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%%a], ");
                place(c.text, &m);
                say(c.text, ", [%%b];");
            }
            run_copy(&c);
        }
    /* Prefetches of maps. */
    static const char *const prefetches[] = { "prefetch.tensormap [%m]", "prefetch.param.tensormap [map]" };
    for (int k = 0; k < 2; k++) {
        struct map m = tiles(2, 2);
        unsigned bytes = box_bytes(&m, 0);
        c = (struct copy){ .map = m, .has_map = 1, .bytes = bytes, .size = whole(bytes), .buffer = RANDOM };
        name_copy(&c, "prefetched.", k ? "param" : "generic");
        coordinates(c.text, &m, at);
        say(c.text, "%s; cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%%r], ", prefetches[k]);
        place(c.text, &m);
        say(c.text, ", [%%b];");
        run_copy(&c);
    }
}

void record_spellings(void)
{
    plain();
    reductions();
    tensors();
    words_across();
    fields();
    published();
}

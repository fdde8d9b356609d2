// Image instructions, by the compiler's intrinsics: what HIP's texture functions become. A texture or surface
// object is the address of a record: the image's descriptor, and from the 49th byte on the sampler's.
#define GLOBAL extern "C" __attribute__((global))
#define DEVICE extern "C" __attribute__((device))
#define ITEM __builtin_amdgcn_workitem_id_x()
typedef float floats __attribute__((ext_vector_type(4)));
typedef _Float16 halves __attribute__((ext_vector_type(4)));
typedef int image __attribute__((ext_vector_type(8)));
typedef int words __attribute__((ext_vector_type(4)));
struct record {
    image descriptor;
    int extra[4];
    words sampler;
};
typedef const record __attribute__((address_space(4))) *object;

#if defined(__gfx90a__)
// It has no instructions that name a level.
DEVICE floats sample_2d(int, float, float, image, words, bool, int, int) __asm("llvm.amdgcn.image.sample.2d.v4f32.f32");
#else
DEVICE floats sample_2d(int, float, float, image, words, bool, int, int) __asm("llvm.amdgcn.image.sample.lz.2d.v4f32.f32");
DEVICE halves sample_half(int, float, float, image, words, bool, int, int) __asm("llvm.amdgcn.image.sample.lz.2d.v4f16.f32");
DEVICE floats sample_o(int, int, float, float, image, words, bool, int, int) __asm("llvm.amdgcn.image.sample.lz.o.2d.v4f32.f32");
DEVICE floats sample_l(int, float, float, float, image, words, bool, int, int) __asm("llvm.amdgcn.image.sample.l.2d.v4f32.f32");
DEVICE floats sample_d(int, float, float, float, float, float, float, image, words, bool, int, int) __asm("llvm.amdgcn.image.sample.d.2d.v4f32.f32.f32");
DEVICE floats sample_gather(int, float, float, image, words, bool, int, int) __asm("llvm.amdgcn.image.gather4.lz.2d.v4f32.f32");
#endif
#if defined(__GFX10__) || defined(__GFX11__) || defined(__GFX12__)
#define SHORT_GRADIENTS
DEVICE floats sample_g16(int, _Float16, _Float16, _Float16, _Float16, float, float, image, words, bool, int, int) __asm("llvm.amdgcn.image.sample.d.2d.v4f32.f16.f32");
#endif
DEVICE floats load_short(int, short, short, image, int, int) __asm("llvm.amdgcn.image.load.2d.v4f32.i16");
DEVICE floats load_2d(int, int, int, image, int, int) __asm("llvm.amdgcn.image.load.2d.v4f32.i32");
DEVICE float load_2d_green(int, int, int, image, int, int) __asm("llvm.amdgcn.image.load.2d.f32.i32");
DEVICE void store_2d(floats, int, int, int, image, int, int) __asm("llvm.amdgcn.image.store.2d.v4f32.i32");
DEVICE int atomic_add(int, int, int, image, int, int) __asm("llvm.amdgcn.image.atomic.add.2d.i32.i32");
DEVICE int atomic_swap(int, int, int, int, image, int, int) __asm("llvm.amdgcn.image.atomic.cmpswap.2d.i32.i32");
DEVICE floats size_2d(int, int, image, int, int) __asm("llvm.amdgcn.image.getresinfo.2d.v4f32.i32");
DEVICE floats fetch_1d(words, int, int, int, int) __asm("llvm.amdgcn.struct.buffer.load.format.v4f32");

GLOBAL void sample(object t, const float *at, floats *out)
{
    int i = ITEM;
    out[i] = sample_2d(15, at[2 * i], at[2 * i + 1], t->descriptor, t->sampler, false, 0, 0);
}

// The variable that compilers make of `texture<float4, 2> colours`; they read its member `textureObject`.
struct reference {
    int settings[18];
    object texture;
    int format[2];
};
extern "C" {
__attribute__((device)) reference colours;
}

GLOBAL void sample_reference(object, const float *at, floats *out)
{
    int i = ITEM;
    object t = colours.texture;
    out[i] = sample_2d(15, at[2 * i], at[2 * i + 1], t->descriptor, t->sampler, false, 0, 0);
}

#if !defined(__gfx90a__)
GLOBAL void sampled_halves(object t, const float *at, floats *out)
{
    int i = ITEM;
    halves h = sample_half(15, at[2 * i], at[2 * i + 1], t->descriptor, t->sampler, false, 0, 0);
    out[i] = (floats){(float)h.x, (float)h.y, (float)h.z, (float)h.w};
}

GLOBAL void displaced(object t, const float *at, floats *out)
{
    int i = ITEM;
    // One texel to the right, two up.
    out[i] = sample_o(15, 0x3e01, at[2 * i], at[2 * i + 1], t->descriptor, t->sampler, false, 0, 0);
}

GLOBAL void levels(object t, const float *at, floats *out)
{
    int i = ITEM;
    out[i] = sample_l(15, at[2 * i], at[2 * i + 1], 0.f, t->descriptor, t->sampler, false, 0, 0);
}

GLOBAL void gradients(object t, const float *at, floats *out)
{
    int i = ITEM;
    out[i] = sample_d(15, .1f, 0.f, 0.f, .1f, at[2 * i], at[2 * i + 1], t->descriptor, t->sampler, false, 0, 0);
}

GLOBAL void short_gradients(object t, const float *at, floats *out)
{
    int i = ITEM;
    float x = at[2 * i], y = at[2 * i + 1];
#if defined(SHORT_GRADIENTS)
    out[i] = sample_g16(15, .5f16, 0.f16, 0.f16, .5f16, x, y, t->descriptor, t->sampler, false, 0, 0);
#else
    out[i] = sample_d(15, .5f, 0.f, 0.f, .5f, x, y, t->descriptor, t->sampler, false, 0, 0);
#endif
}

GLOBAL void gather(object t, const float *at, floats *out)
{
    int i = ITEM;
    out[i] = sample_gather(2, at[2 * i], at[2 * i + 1], t->descriptor, t->sampler, false, 0, 0);
}
#endif

// A row more and a column more than there are, at each side. Odd lanes do not take part.
GLOBAL void loads(object t, floats *out, float *green, int width)
{
    int i = ITEM, x = i % (width + 2) - 1, y = i / (width + 2) - 1;
    out[i] = (floats){-1, -1, -1, -1};
    green[i] = load_2d_green(2, x, y, t->descriptor, 0, 0);
    if (i & 1)
        return;
    out[i] = load_2d(15, x, y, t->descriptor, 0, 0);
}

// Coordinates of 16 bits.
GLOBAL void short_loads(object t, floats *out, int width)
{
    int i = ITEM, x = i % (width + 2) - 1, y = i / (width + 2) - 1;
    out[i] = load_short(15, (short)x, (short)y, t->descriptor, 0, 0);
}

GLOBAL void reds(object t, float *red, int width)
{
    int i = ITEM, x = i % (width + 2) - 1, y = i / (width + 2) - 1;
    red[i] = load_2d_green(1, x, y, t->descriptor, 0, 0);
}

GLOBAL void stores(object s, const floats *from, int width)
{
    int i = ITEM, x = i % (width + 2) - 1, y = i / (width + 2) - 1;
    if (i % 3)
        store_2d(from[i], 15, x, y, s->descriptor, 0, 0);
}

GLOBAL void atomics(object s, int *out, int width)
{
    int i = ITEM, x = i % width;
    atomic_add(i, x, 0, s->descriptor, 0, 0);
    out[i] = atomic_swap(100 + x, width + x, x, 1, s->descriptor, 0, 0);
    atomic_add(i, x - 1000, 0, s->descriptor, 0, 0);
}

GLOBAL void sizes(object t, floats *out)
{
    out[0] = size_2d(15, 0, t->descriptor, 0, 0);
}

GLOBAL void fetches(object t, floats *out)
{
    int i = ITEM;
    words buffer = (words){t->descriptor.s0, t->descriptor.s1, t->descriptor.s2, t->descriptor.s3};
    out[i] = fetch_1d(buffer, i - 2, 0, 0, 0);
}

// What HIP's functions read of a record.
GLOBAL void fields(object t, int *out)
{
    out[0] = t->extra[0];
    out[1] = t->extra[1];
    out[2] = t->extra[2];
    out[3] = (t->descriptor.s2 >> 14 & 0x3fff) + 1;
    out[4] = t->sampler.x >> 15 & 1;
    out[5] = t->sampler.z >> 20 & 1;
}

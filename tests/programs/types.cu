// Types: all integer widths with wrap-around and sign extension, unions, bit-fields, packed and
// unaligned structs, enums, pointers into arrays of structs, 128-bit integers.
#include "test.h"

#include <type_traits>

// Signed overflow is undefined, so sums and products are those of the unsigned type.
template <typename T>
__host__ __device__ T mangle(T value, int i)
{
    using U = std::make_unsigned_t<T>;
    value = static_cast<T>(static_cast<U>(value) * U(31) + static_cast<U>(i));
    value = static_cast<T>(value ^ (value >> 3));
    value = static_cast<T>(static_cast<U>(value) - static_cast<U>(~value));
    return static_cast<T>(value > static_cast<T>(i) ? static_cast<U>(value) << 1 : U(0) - static_cast<U>(value));
}

template <typename T>
__global__ void integers(const T *in, T *out, long long *extended)
{
    int i = threadIdx.x;
    T value = mangle(in[i], i);
    out[i] = value;
    extended[i] = value;
}

template <typename T>
static void test_integers(const char *name)
{
    const int n = 70;
    std::vector<T> in(n), want(n);
    std::vector<long long> want_extended(n);
    for (int i = 0; i < n; ++i) {
        in[i] = static_cast<T>(i * 0x9e3779b97f4a7c15ull >> 5);
        want[i] = mangle(in[i], i);
        want_extended[i] = static_cast<long long>(want[i]);
    }
    Device<T> d_in(in), out(n);
    Device<long long> extended(n);
    integers<T><<<1, n>>>(d_in, out, extended);
    expect_equal(name, out.read(), want);
    expect_equal(name, extended.read(), want_extended);
}

union Word {
    unsigned whole;
    float number;
    unsigned char bytes[4];
    struct {
        unsigned short low, high;
    } halves;
};

struct Flags {
    unsigned mode : 3;
    int level : 5;
    unsigned long long wide : 40;
    bool set : 1;
};

struct __attribute__((packed)) Packed {
    char tag;
    int value;
    double weight;
    short tail;
};

enum class Colour : unsigned char { red = 3, green = 250 };

struct Mixed {
    Colour colour;
    Word word;
    Flags flags;
    Packed packed;
    bool truth[3];
};

__host__ __device__ void change(Mixed &mixed, int i)
{
    mixed.colour = mixed.colour == Colour::red ? Colour::green : Colour::red;
    mixed.word.number = 1.5f * i;
    mixed.word.bytes[i % 2] ^= static_cast<unsigned char>(i);
    mixed.word.halves.low = static_cast<unsigned short>(mixed.word.halves.low + 0x1234);
    mixed.flags.mode += 3;
    mixed.flags.level = i - 9;
    mixed.flags.wide = mixed.flags.wide * 5 + static_cast<unsigned long long>(mixed.flags.level + 20);
    mixed.flags.set = !mixed.flags.set;
    mixed.packed.value += mixed.packed.tag + (mixed.flags.level < 0 ? 1000 : 0);
    mixed.packed.weight *= mixed.packed.tail;
    mixed.truth[i % 3] = mixed.packed.value & 1;
}

__global__ void change_all(Mixed *mixed)
{
    change(mixed[threadIdx.x], threadIdx.x);
}

__global__ void packed_sum(const Packed *packed, double *sums)
{
    const Packed *mine = &packed[threadIdx.x];
    sums[threadIdx.x] = mine->tag + mine->value + mine->weight + mine->tail;
}

__host__ __device__ unsigned long long wide_product(unsigned long long a, long long b)
{
    unsigned __int128 product = static_cast<unsigned __int128>(a) * a;
    __int128 mixed = static_cast<__int128>(product >> 3) - b;
    return static_cast<unsigned long long>(mixed >> 40) ^ static_cast<unsigned long long>(mixed);
}

__global__ void wide(unsigned long long *out)
{
    unsigned long long a = 0x123456789abcdefull * (threadIdx.x + 1);
    out[threadIdx.x] = wide_product(a, -static_cast<long long>(threadIdx.x));
}

__global__ void bytes(const unsigned char *in, unsigned char *out, bool *above)
{
    int i = threadIdx.x;
    out[i] = static_cast<unsigned char>(in[i + 1] - in[i]);
    above[i] = in[i] > 128;
}

int main()
{
    test_integers<signed char>("signed char");
    test_integers<unsigned char>("unsigned char");
    test_integers<short>("short");
    test_integers<unsigned short>("unsigned short");
    test_integers<int>("int");
    test_integers<unsigned>("unsigned");
    test_integers<long long>("long long");
    test_integers<unsigned long long>("unsigned long long");

    const int n = 50;
    std::vector<Mixed> mixed(n);
    std::memset(static_cast<void *>(mixed.data()), 0, n * sizeof(Mixed));
    std::vector<Packed> packed(n);
    std::vector<double> want_sums(n);
    for (int i = 0; i < n; ++i) {
        mixed[i].colour = i % 3 ? Colour::red : Colour::green;
        mixed[i].flags.wide = 0xffffffffffull - i;
        mixed[i].packed = packed[i] = {static_cast<char>(i), i * 1000, 0.125 * i, static_cast<short>(-i)};
        want_sums[i] = i + i * 1000 + 0.125 * i - i;
    }
    Device<Mixed> d_mixed(mixed);
    change_all<<<1, n>>>(d_mixed);
    std::vector<Mixed> got = d_mixed.read();
    for (int i = 0; i < n; ++i) {
        change(mixed[i], i);
        const Mixed &a = got[i], &b = mixed[i];
        EXPECT(a.colour == b.colour && a.word.whole == b.word.whole);
        EXPECT(a.flags.mode == b.flags.mode && a.flags.level == b.flags.level && a.flags.wide == b.flags.wide &&
               a.flags.set == b.flags.set);
        EXPECT(a.packed.value == b.packed.value && a.packed.weight == b.packed.weight && a.packed.tag == b.packed.tag);
        EXPECT(std::memcmp(a.truth, b.truth, 3) == 0);
    }
    Device<Packed> d_packed(packed);
    Device<double> sums(n);
    packed_sum<<<1, n>>>(d_packed, sums);
    expect_equal("packed", sums.read(), want_sums);

    Device<unsigned long long> products(40);
    wide<<<1, 40>>>(products);
    std::vector<unsigned long long> want(40);
    for (int i = 0; i < 40; ++i) {
        want[i] = wide_product(0x123456789abcdefull * (i + 1), -static_cast<long long>(i));
    }
    expect_equal("128-bit", products.read(), want);

    std::vector<unsigned char> in(41), want_out(40);
    for (int i = 0; i < 41; ++i) {
        in[i] = static_cast<unsigned char>(i * i * 3);
    }
    Device<unsigned char> d_in(in), out(40);
    Device<char> above(40);
    bytes<<<1, 40>>>(d_in, out, reinterpret_cast<bool *>(above.pointer));
    for (int i = 0; i < 40; ++i) {
        want_out[i] = static_cast<unsigned char>(in[i + 1] - in[i]);
        EXPECT(above.read()[i] == (in[i] > 128));
    }
    expect_equal("bytes", out.read(), want_out);
    return done("types");
}

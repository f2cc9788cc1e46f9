// Numbers of eight bits (e4m3, e5m2) from and to half and single precision, as Triton's inline assembly writes it, against a table.
#include "test.h"

__global__ void widen(const uint16_t *pairs, uint32_t *e4m3, uint32_t *e5m2, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        asm("{ \ncvt.rn.f16x2.e4m3x2 %0, %1; \n}" : "=r"(e4m3[i]) : "h"(pairs[i]));
        asm("{ \ncvt.rn.f16x2.e5m2x2 %0, %1; \n}" : "=r"(e5m2[i]) : "h"(pairs[i]));
    }
}

__global__ void narrow(const float *in, uint16_t *e4m3, uint16_t *e5m2, uint16_t *positive, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        // The first source is the upper half of the result.
        asm("cvt.rn.satfinite.e4m3x2.f32  %0, %2, %1; \n" : "=h"(e4m3[i]) : "f"(in[i]), "f"(-in[i]));
        asm("cvt.rn.satfinite.e5m2x2.f32  %0, %2, %1; \n" : "=h"(e5m2[i]) : "f"(in[i]), "f"(-in[i]));
        asm("cvt.rn.satfinite.relu.e4m3x2.f32  %0, %2, %1; \n" : "=h"(positive[i]) : "f"(in[i]), "f"(-in[i]));
    }
}

__global__ void narrow_halves(const uint32_t *halves, uint16_t *e4m3, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        asm("cvt.rn.satfinite.e4m3x2.f16x2 %0, %1;" : "=h"(e4m3[i]) : "r"(halves[i]));
    }
}

// What a byte stands for.
static double value(int byte, int mantissa_bits)
{
    int bias = mantissa_bits == 3 ? 7 : 15;
    int mantissa = byte & ((1 << mantissa_bits) - 1), exponent = (byte & 0x7f) >> mantissa_bits;
    bool nan = mantissa_bits == 3 ? (byte & 0x7f) == 0x7f : exponent == 31 && mantissa != 0;
    double magnitude = nan                                      ? NAN
                       : mantissa_bits == 2 && exponent == 31 ? INFINITY
                       : exponent == 0 ? std::ldexp(mantissa, 1 - bias - mantissa_bits)
                                       : std::ldexp((1 << mantissa_bits) + mantissa, exponent - bias - mantissa_bits);
    return byte & 0x80 ? -magnitude : magnitude;
}

// The nearest finite number; of two the one with an even pattern.
static int nearest(float number, int mantissa_bits)
{
    if (std::isnan(number)) {
        return 0x7f;
    }
    int largest = mantissa_bits == 3 ? 0x7e : 0x7b, best = 0;
    double magnitude = std::fmin(std::fabs(number), value(largest, mantissa_bits));
    for (int byte = 1; byte <= largest; ++byte) {
        double now = std::fabs(value(byte, mantissa_bits) - magnitude), before = std::fabs(value(best, mantissa_bits) - magnitude);
        if (now < before || (now == before && byte % 2 == 0)) {
            best = byte;
        }
    }
    return best | (std::signbit(number) ? 0x80 : 0);
}

static uint16_t half_of(double number)
{
    _Float16 half = static_cast<_Float16>(number);
    uint16_t bits;
    std::memcpy(&bits, &half, 2);
    return std::isnan(number) ? 0x7fff : bits;
}

int main()
{
    std::vector<uint16_t> pairs;
    std::vector<uint32_t> want_e4m3, want_e5m2;
    for (int byte = 0; byte < 256; ++byte) {
        int other = 255 - byte;
        pairs.push_back(static_cast<uint16_t>(byte | other << 8));
        want_e4m3.push_back(half_of(value(byte, 3)) | static_cast<uint32_t>(half_of(value(other, 3))) << 16);
        want_e5m2.push_back(half_of(value(byte, 2)) | static_cast<uint32_t>(half_of(value(other, 2))) << 16);
    }
    Device<uint16_t> device_pairs(pairs);
    Device<uint32_t> wide_e4m3(256), wide_e5m2(256);
    widen<<<2, 128>>>(device_pairs, wide_e4m3, wide_e5m2, 256);
    expect_equal("e4m3 to half", wide_e4m3.read(), want_e4m3);
    expect_equal("e5m2 to half", wide_e5m2.read(), want_e5m2);

    // All numbers of both formats, what lies between two of them, its neighbours, and what is too large or too small.
    std::vector<float> in{0.0f, -0.0f, NAN, INFINITY, -INFINITY, 1e30f, -1e30f, 1e-30f, 1e-45f, 449.0f, 464.0f, 465.0f, 60000.0f};
    for (int mantissa_bits : {2, 3}) {
        for (int byte = 0; byte < (mantissa_bits == 3 ? 0x7e : 0x7b); ++byte) {
            auto here = static_cast<float>(value(byte, mantissa_bits)), next = static_cast<float>(value(byte + 1, mantissa_bits));
            float middle = (here + next) / 2;
            in.insert(in.end(), {here, -here, middle, -middle, std::nextafter(middle, next), std::nextafter(middle, here)});
        }
    }
    int n = static_cast<int>(in.size());
    std::vector<uint16_t> want[4];
    std::vector<uint32_t> halves;
    for (float number : in) {
        int plain = nearest(number, 3), opposite = nearest(-number, 3);
        auto relu = [](float from, int byte) { return from < 0 ? 0 : byte; };
        want[0].push_back(static_cast<uint16_t>(plain | opposite << 8));
        want[1].push_back(static_cast<uint16_t>(nearest(number, 2) | nearest(-number, 2) << 8));
        want[2].push_back(static_cast<uint16_t>((std::signbit(number) && !std::isnan(number) ? 0 : relu(number, plain)) |
                                                (std::signbit(-number) && !std::isnan(number) ? 0 : relu(-number, opposite)) << 8));
        auto half = static_cast<_Float16>(number);
        halves.push_back(half_of(half) | static_cast<uint32_t>(half_of(static_cast<_Float16>(1))) << 16);
        want[3].push_back(static_cast<uint16_t>(nearest(static_cast<float>(half), 3) | 0x38 << 8));
    }
    Device<float> device_in(in);
    Device<uint32_t> device_halves(halves);
    Device<uint16_t> e4m3(n), e5m2(n), positive(n), from_halves(n);
    narrow<<<(n + 127) / 128, 128>>>(device_in, e4m3, e5m2, positive, n);
    narrow_halves<<<(n + 127) / 128, 128>>>(device_halves, from_halves, n);
    expect_equal("single to e4m3", e4m3.read(), want[0]);
    expect_equal("single to e5m2", e5m2.read(), want[1]);
    expect_equal("single to e4m3 without negative numbers", positive.read(), want[2]);
    expect_equal("half to e4m3", from_halves.read(), want[3]);
    return done("eighth_conversions");
}

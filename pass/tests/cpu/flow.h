// Kernels that are compiled twice: as device code, and as plain C++ that runs one thread after another. Each thread
// writes only its own element, so both must agree bit for bit.
#ifdef __CUDA__
#include "cuda.h"
struct Index { unsigned x, y, z; };
#define U(x) static_cast<unsigned>(x)
#define threadIdx (Index{U(__nvvm_read_ptx_sreg_tid_x()), U(__nvvm_read_ptx_sreg_tid_y()), 0})
#define blockIdx (Index{U(__nvvm_read_ptx_sreg_ctaid_x()), 0, 0})
#define blockDim (Index{U(__nvvm_read_ptx_sreg_ntid_x()), U(__nvvm_read_ptx_sreg_ntid_y()), 1})
#define gridDim (Index{U(__nvvm_read_ptx_sreg_nctaid_x()), 1, 1})
#define KERNEL extern "C" __global__ void
#define DEVICE __device__ __noinline__
#define EX2(x) __nvvm_ex2_approx_f(x)
#else
struct Index { unsigned x, y, z; };
extern thread_local Index threadIdx, blockIdx, blockDim, gridDim;
#define KERNEL extern "C" void
#define DEVICE static
#define EX2(x) __builtin_exp2f(x)
#endif

#define THREAD ((blockIdx.x * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x)

#ifndef RANDOM
KERNEL nested_loops(const unsigned *in, unsigned *out, int n)
{
    unsigned i = THREAD;
    if (i >= n) {
        return;
    }
    unsigned sum = 0;
    for (unsigned a = 0; a < (in[i] & 7); ++a) {
        for (unsigned b = a; b < (i & 5) + 2; ++b) {
            if (((a ^ b) & 3) == 3) {
                continue;
            }
            sum += in[(i + a * b) % n];
            if (sum % 11 == 0) {
                goto done;
            }
        }
        if (sum > 4000000000u) {
            break;
        }
    }
    sum ^= 0x5555;
done:
    out[i] = sum;
}

KERNEL fall_through(const unsigned *in, unsigned *out, int n)
{
    unsigned i = THREAD;
    if (i >= n) {
        return;
    }
    unsigned value = in[i];
    for (int round = 0; round < 6; ++round) {
        switch (value % 7) {
        case 0:
            value += 3;
        case 1:
            value = value * 5 + round;
            break;
        case 2:
        case 5:
            value ^= i;
            if (value & 64) {
                out[i] = value;
                return;
            }
        case 3:
            value >>= 1;
            continue;
        default:
            value -= in[(value + i) % n];
        }
        value += 1;
    }
    out[i] = value;
}

// Indices that wrap around zero before the guard lets them be used.
KERNEL neighbours(const unsigned *in, unsigned *out, int n)
{
    unsigned i = THREAD;
    if (i >= n) {
        return;
    }
    unsigned sum = 0;
    for (unsigned k = 1; k < 40; k += 3) {
        unsigned left = threadIdx.x - k;
        if (left < blockDim.x) {
            sum += in[left] * k;
        }
        int right = static_cast<int>(threadIdx.x) - static_cast<int>(k);
        if (right >= 0) {
            sum ^= in[right];
        }
        unsigned long long wide = left;
        sum += static_cast<unsigned>(wide >> 31);
    }
    out[i] = sum;
}

KERNEL divisions(const unsigned *in, unsigned *out, int n)
{
    unsigned i = THREAD;
    if (i >= n) {
        return;
    }
    unsigned value = in[i], sum = 0;
    if (value % 3) {
        sum += 1000003u / (value % 3);
    }
    sum += value / (i + 1) + value % (i % 13 + 1);
    int s = static_cast<int>(value) - 2000000000;
    sum += s / (static_cast<int>(i % 17) - 20) + s % (static_cast<int>(i % 19) + 1);
    sum += static_cast<unsigned>(static_cast<unsigned long long>(value) * value / (i + 3));
    sum += static_cast<unsigned char>(value) / (static_cast<unsigned char>(i) | 1);
    out[i] = sum;
}

DEVICE unsigned ackermann(unsigned m, unsigned n)
{
    unsigned local[4] = {m, n, m ^ n, 7};
    if (m == 0) {
        return n + 1 + local[(m + n) & 3] * 0;
    }
    if (n == 0) {
        return ackermann(m - 1, 1);
    }
    return ackermann(m - 1, ackermann(m, n - 1));
}

KERNEL recursion(const unsigned *in, unsigned *out, int n)
{
    unsigned i = THREAD;
    if (i < n) {
        out[i] = ackermann(in[i] & 1, i % 5);
    }
}

KERNEL local_array(const unsigned *in, unsigned *out, int n)
{
    unsigned i = THREAD;
    if (i >= n) {
        return;
    }
    unsigned values[16];
    for (int k = 0; k < 16; ++k) {
        values[k] = in[(i + k) % n];
    }
    for (int k = 0; k < 20; ++k) {
        unsigned swap = values[(in[i] + k) & 15];
        values[(in[i] + k) & 15] = values[k & 15];
        values[k & 15] = swap + k;
    }
    unsigned sum = 0;
    for (int k = 0; k < 16; ++k) {
        sum = sum * 31 + values[k];
    }
    out[i] = sum;
}

KERNEL narrow_types(const unsigned *in, unsigned *out, int n)
{
    unsigned i = THREAD;
    if (i >= n) {
        return;
    }
    const unsigned char *bytes = reinterpret_cast<const unsigned char *>(in);
    const short *halves = reinterpret_cast<const short *>(in);
    signed char c = static_cast<signed char>(bytes[i * 3 % n]);
    long long wide = static_cast<long long>(halves[i]) * c;
    unsigned short u = static_cast<unsigned short>(wide >> 3);
    reinterpret_cast<unsigned short *>(out)[2 * i] = u;
    reinterpret_cast<unsigned char *>(out)[4 * i + 2] = static_cast<unsigned char>(c);
    reinterpret_cast<unsigned char *>(out)[4 * i + 3] = bytes[i];
}

// A grid-stride loop: the index is affine, but nothing guarantees that it cannot wrap.
KERNEL grid_stride(const unsigned *in, unsigned *out, int n)
{
    for (int i = blockIdx.x * blockDim.x * blockDim.y + threadIdx.y * blockDim.x + threadIdx.x; i < n;
         i += blockDim.x * blockDim.y * gridDim.x) {
        out[i] = in[i] * 3 + i;
    }
}

#define HAND_WRITTEN(X)                                                                                                \
    X(nested_loops) X(fall_through) X(neighbours) X(divisions) X(recursion) X(local_array) X(narrow_types) X(grid_stride)
#endif

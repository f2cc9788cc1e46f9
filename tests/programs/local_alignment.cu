// Wide accesses to local variables of narrow types. nvcc aligns the variables; what cannot be aligned is carried out, with a remark.
// needs: hooks
// expect: stderr "local_alignment.cu:35"
// expect: stderr "local_alignment.cu:36"
#include "test.h"

struct Optics { float a, b, c, d; };

__device__ __noinline__ void fetch(Optics *to, const float4 *table, int i)
{
    *reinterpret_cast<float4 *>(to) = table[i];
}

// An odd array before the structure, a cast to it, and bytes that are read as words and vectors.
__global__ void casts(const float4 *table, float *out, int n)
{
    float pad[3] = {1, 2, 3};
    Optics optics;
    char bytes[64];
    fetch(&optics, table, threadIdx.x % n);
    for (int i = 0; i < 4; ++i) {
        reinterpret_cast<float4 *>(bytes)[(i + n) % 4] = table[i];
    }
    float sum = 0;
    for (int i = 0; i < 3; ++i) {
        sum += pad[(i + threadIdx.x) % 3];
    }
    const float *part = &optics.a;
    double last = reinterpret_cast<const double *>(bytes)[threadIdx.x % 8];
    out[threadIdx.x] = sum + part[threadIdx.x % 4] + (last == last ? 1 : 0);
}

struct Shifted { float first; float rest[7]; };

__device__ void put(float4 *to, float4 value) { *to = value; }
__device__ __noinline__ void put_elsewhere(float4 *to, float4 value) { *to = value; }

// Four bytes behind the start of an aligned variable: no alignment of the variable helps.
__global__ void shifted(const float4 *table, float *out)
{
    Shifted object;
    put(reinterpret_cast<float4 *>(object.rest), table[0]);
    put_elsewhere(reinterpret_cast<float4 *>(object.rest + 1), table[3]);
    out[threadIdx.x] = object.rest[threadIdx.x % 5];
}

// A structure by value that is less aligned than what reads it.
__global__ void by_value(Optics optics, float *out)
{
    optics.a += threadIdx.x;
    float4 all = *reinterpret_cast<float4 *>(&optics);
    out[threadIdx.x] = all.x + all.w;
}

// Shared memory has one address for all: this stays an error.
__global__ void shared(const float4 *table, float *out)
{
    __shared__ float cells[64];
    put(reinterpret_cast<float4 *>(cells + 1), table[0]);
    out[threadIdx.x] = cells[threadIdx.x % 4];
}

int main()
{
    std::vector<float4> host(4);
    for (int i = 0; i < 4; ++i) {
        host[i] = make_float4(i, i + 1, i + 2, i + 3);
    }
    Device<float4> table(host);
    Device<float> out(32);
    std::vector<float> want(32);
    casts<<<1, 32>>>(table, out, 4);
    for (int i = 0; i < 32; ++i) {
        want[i] = 6 + i % 4 + i % 4 + 1;
    }
    expect_equal("casts", out.read(), want);
    shifted<<<1, 32>>>(table, out);
    for (int i = 0; i < 32; ++i) {
        want[i] = i % 5 == 0 ? 0 : i % 5 + 2;
    }
    expect_equal("shifted", out.read(), want);
    by_value<<<1, 32>>>(Optics{1, 2, 3, 4}, out);
    for (int i = 0; i < 32; ++i) {
        want[i] = 5 + i;
    }
    expect_equal("by value", out.read(), want);
    shared<<<1, 32>>>(table, out);
    EXPECT_ERROR(cudaDeviceSynchronize(), cudaErrorMisalignedAddress);
    if (failures > 0) {
        return 1;
    }
    std::printf("PASS local_alignment\n");
    return 0;
}

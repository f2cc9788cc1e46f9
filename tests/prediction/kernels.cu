// Kernels whose addresses follow from the launch, each launched once with the block that the arguments give, over
// arrays whose sizes are no multiples of it.
#include <cstdio>
#include <cstdlib>

__global__ void stencil(const double *in, double *out, int nx, int ny, int nz)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    int z = blockIdx.z * blockDim.z + threadIdx.z;
    if (x < 1 || y < 1 || z < 1 || x >= nx - 1 || y >= ny - 1 || z >= nz - 1) {
        return;
    }
    size_t i = (size_t(z) * ny + y) * nx + x;
    size_t plane = size_t(nx) * ny;
    out[i] = in[i] + in[i - 1] + in[i + 1] + in[i - nx] + in[i + nx] + in[i - plane] + in[i + plane];
}

__global__ void product(const float *a, const float *b, float *c, int n)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < n && y < n) {
        float sum = 0;
        for (int k = 0; k < n; ++k) {
            sum += a[y * n + k] * b[k * n + x];
        }
        c[y * n + x] = sum;
    }
}

// Each thread walks a row of its own, so that a warp needs 32 lines at a time and L1 keeps none of them until their next use.
__global__ void rows(const float *in, float *out, int count, int length)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < count) {
        float sum = 0;
        for (int at = 0; at < length; ++at) {
            sum += in[size_t(row) * length + at];
        }
        out[row] = sum;
    }
}

__global__ void triangle(const float *in, float *out, int n)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < n) {
        float sum = 0;
#pragma unroll 1
        for (int k = 0; k <= row; ++k) {
            sum += in[k * n + row];
        }
        out[row] = sum;
    }
}

// The same sum over a row; the compiler unrolls the loop and sums up the last elements in another.
__global__ void unrolled_triangle(const float *in, float *out, int n)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < n) {
        float sum = 0;
        for (int k = 0; k <= row; ++k) {
            sum += in[row * n + k];
        }
        out[row] = sum;
    }
}

__global__ void clamped(const float *in, float *out, unsigned n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned next = min(i + 1, n - 1);
    if (i < n) {
        out[i] = in[next] + in[i / 7] + in[n - 1 - i];
    }
}

// A thread to a system of equations whose unknowns lie `count` elements apart: forwards, then backwards, each time beside the
// element of the iteration before.
__global__ void systems(const float *a, float *x, int count, int length)
{
    int first = blockIdx.x * blockDim.x + threadIdx.x;
    if (first < count) {
        int last = count * (length - 1) + first;
        for (int i = first + count; i <= last; i += count) {
            x[i] -= a[i] * x[i - count] / a[i - count];
        }
        for (int i = last - count; i >= first; i -= count) {
            x[i] -= a[i] * x[i + count];
        }
    }
}

// All threads of a block go through the planes together; those outside stay where they are.
__global__ void planes(const float *in, float *out, int nx, int ny, int nz)
{
    __shared__ float last[1024];
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    int thread = threadIdx.y * blockDim.x + threadIdx.x;
    bool inside = x < nx && y < ny;
    int i = y * nx + x;
    for (int z = 0; z < nz; ++z) {
        if (inside) {
            last[thread] = in[i];
            i += nx * ny;
        }
        __syncthreads();
        if (inside) {
            out[i - nx * ny] = last[thread] + last[thread > 0 ? thread - 1 : 0];
        }
        __syncthreads();
    }
}

struct Particle {
    float x, y, z;
    double mass;
};

__global__ void particles(Particle *all, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        all[i].x += all[i].y * all[i].z;
    }
}

// The kernels above as they would be after a change: two points to a thread along y, rows that are three elements longer,
// a structure of arrays.
__global__ void folded_stencil(const double *in, double *out, int nx, int ny, int nz)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = 2 * (blockIdx.y * blockDim.y + threadIdx.y);
    int z = blockIdx.z * blockDim.z + threadIdx.z;
    if (x < 1 || z < 1 || x >= nx - 1 || z >= nz - 1) {
        return;
    }
    size_t i = (size_t(z) * ny + y) * nx + x;
    size_t plane = size_t(nx) * ny;
    double low = 0, high = 0;
    if (y >= 0 && y < ny - 1) {
        low = in[i];
        high = in[i + nx];
    }
    if (y >= 1 && y < ny - 1) {
        out[i] = low + in[i - 1] + in[i + 1] + in[i - nx] + high + in[i - plane] + in[i + plane];
    }
    if (y + 1 < ny - 1) {
        i += nx;
        out[i] = high + in[i - 1] + in[i + 1] + low + in[i + nx] + in[i - plane] + in[i + plane];
    }
}

__global__ void wide_stencil(const double *in, double *out, int nx, int ny, int nz, int pitch)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    int z = blockIdx.z * blockDim.z + threadIdx.z;
    if (x < 1 || y < 1 || z < 1 || x >= nx - 1 || y >= ny - 1 || z >= nz - 1) {
        return;
    }
    size_t i = (size_t(z) * ny + y) * pitch + x;
    size_t plane = size_t(pitch) * ny;
    out[(size_t(z) * ny + y) * nx + x] =
        in[i] + in[i - 1] + in[i + 1] + in[i - pitch] + in[i + pitch] + in[i - plane] + in[i + plane];
}

__global__ void members(float *x, float *y, float *z, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        x[i] += y[i] * z[i];
    }
}

// The block's shape is written into the code.
__global__ void tiled(const float *in, float *out, int rows, int columns)
{
    __shared__ float tile[16][16];
    int x = blockIdx.x * 16 + threadIdx.x;
    int y = blockIdx.y * 16 + threadIdx.y;
    if (x < columns && y < rows) {
        tile[threadIdx.y][threadIdx.x] = in[y * columns + x];
    }
    __syncthreads();
    x = blockIdx.y * 16 + threadIdx.x;
    y = blockIdx.x * 16 + threadIdx.y;
    if (x < rows && y < columns) {
        out[y * rows + x] = tile[threadIdx.x][threadIdx.y];
    }
}

// A tree of sums in shared memory, and then sums of neighbours at doubling distances.
__global__ void tree(const float *in, float *out, int n)
{
    extern __shared__ float partial[];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    partial[threadIdx.x] = i < n ? in[i] : 0;
    __syncthreads();
    for (unsigned half = blockDim.x / 2; half > 0; half >>= 1) {
        if (threadIdx.x < half) {
            partial[threadIdx.x] += partial[threadIdx.x + half];
        }
        __syncthreads();
    }
    int apart = 1;
    for (; apart < blockDim.x; apart *= 2) {
        float other = threadIdx.x >= apart ? partial[threadIdx.x - apart] : 0;
        __syncthreads();
        partial[threadIdx.x] += other;
        __syncthreads();
    }
    if (threadIdx.x * 4 < apart) {
        partial[threadIdx.x] *= 2;
    }
    if (threadIdx.x == 0) {
        out[blockIdx.x] = partial[0];
    }
}

__global__ void gather(const int *index, const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        out[i] = in[index[i]];
    }
}

// Data decides who stores.
__global__ void filter(const int *flags, const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && flags[i] == 0) {
        out[i] = in[i];
    }
}

// Nothing of where it goes is known before it runs.
__global__ void chase(const int *next, int at, int steps)
{
    for (int step = 0; step < steps; ++step) {
        at = next[at];
    }
    next = next + at;
    if (*next > 0) {
        atomicAdd(const_cast<int *>(next), 1);
    }
}

// The code lays out the threads of a block by the bits of their number, as Triton does, with its guarded assembly.
__global__ void arranged(const float4 *in, float4 *out, int pitch, int rows)
{
    unsigned column = threadIdx.x & 7;
    unsigned row = blockIdx.x * (blockDim.x >> 3) + (threadIdx.x >> 3);
    int inside = row < rows;
    for (; column < pitch; column += 8) {
        float4 value = make_float4(0, 0, 0, 0);
        asm volatile("{ .reg .pred p;\n setp.ne.b32 p, %4, 0;\n @p ld.global.v4.f32 {%0, %1, %2, %3}, [ %5 + 0 ];\n }"
                     : "+f"(value.x), "+f"(value.y), "+f"(value.z), "+f"(value.w)
                     : "r"(inside), "l"(in + row * pitch + column));
        asm volatile("{ .reg .pred p;\n setp.ne.b32 p, %4, 0;\n @p st.global.v4.f32 [ %5 + 0 ], {%0, %1, %2, %3};\n }" ::"f"(
                         value.x),
                     "f"(value.y), "f"(value.z), "f"(value.w), "r"(inside), "l"(out + row * pitch + column));
    }
}

// A block to a row, however many threads it has.
__global__ void row_sums(const float *in, float *out, int count, int length)
{
    __shared__ float partial[256];
    int row = blockIdx.x;
    if (row >= count) {
        return;
    }
    float sum = 0;
    for (int at = threadIdx.x; at < length; at += blockDim.x) {
        sum += in[row * length + at];
    }
    partial[threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        out[row] = partial[0];
    }
}

// Threads along x, blocks alone along y and z.
__global__ void layers(float *all, int nx, int ny)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    if (x < nx) {
        all[(blockIdx.z * ny + blockIdx.y) * nx + x] += 1;
    }
}

// Blocks whose threads along x and y share a line of elements.
__global__ void flattened(float *all, int n)
{
    int i = blockIdx.x * (blockDim.x * blockDim.y) + threadIdx.y * blockDim.x + threadIdx.x;
    if (i < n) {
        all[i] += 1;
    }
}

template <typename T> T *array(size_t count)
{
    T *pointer = nullptr;
    cudaMalloc(&pointer, count * sizeof(T));
    cudaMemset(pointer, 0, count * sizeof(T));
    return pointer;
}

// Loads that go past L1 by their operators, beside one that it keeps.
__global__ void past(const float *in, const volatile float *moving, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[threadIdx.x];
    for (int k = 0; k < 8; ++k) {
        sum += __ldcg(in + 1024 + threadIdx.x + k) + moving[i + k];
    }
    if (i < n) {
        out[i] = sum;
    }
}

// Neighbours add to one element, which has to be read first.
__global__ void add_pairs(const float *in, float *sums, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        atomicAdd(sums + i / 2, in[i]);
    }
}

// As many blocks as there are, whatever their size.
__global__ void doubled(float *values, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        values[i] *= 2.0f;
    }
}

// What long arrays are looked up for is not reached with short ones.
__global__ void looked_up(const int *index, const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        out[i] = 1;
        if (n > 100000) {
            out[i] = in[index[i]];
        }
    }
}

// A thread does so many points, a block's length apart.
__global__ void chunks(const float *in, float *out, size_t n, int items)
{
    size_t first = (size_t)blockIdx.x * blockDim.x * items + threadIdx.x;
    for (int k = 0; k < items; ++k) {
        size_t i = first + (size_t)k * blockDim.x;
        if (i < n) {
            out[i] = in[i];
        }
    }
}

int main(int argc, char **argv)
{
    dim3 block(argc > 1 ? atoi(argv[1]) : 32, argc > 2 ? atoi(argv[2]) : 4, argc > 3 ? atoi(argv[3]) : 1);
    int n = argc > 4 ? atoi(argv[4]) : 70;
    auto blocks = [](int count, unsigned size) { return (count + size - 1) / size; };
    int nx = n, ny = 30, nz = 13;
    double *volume = array<double>(size_t(nx) * ny * nz), *result = array<double>(size_t(nx) * ny * nz);
    stencil<<<dim3(blocks(nx, block.x), blocks(ny, block.y), blocks(nz, block.z)), block>>>(volume, result, nx, ny, nz);
    float *a = array<float>(n * n), *b = array<float>(n * n), *c = array<float>(n * n);
    dim3 flat(block.x * block.z, block.y);
    product<<<dim3(blocks(n, flat.x), blocks(n, flat.y)), flat>>>(a, b, c, n);
    unsigned line = block.x * block.y * block.z;
    triangle<<<blocks(n, line), line>>>(a, c, n);
    int count = 250000, length = 40;
    rows<<<blocks(count, line), line>>>(array<float>(size_t(count) * length), array<float>(count), count, length);
    systems<<<blocks(count / 50, line), line>>>(array<float>(count), array<float>(count), count / 50, 50);
    planes<<<dim3(blocks(nx, flat.x), blocks(ny, flat.y)), flat>>>(array<float>(nx * ny * nz), array<float>(nx * ny * nz), nx,
                                                                   ny, nz);
    int many = n * n - 5;
    clamped<<<blocks(many, line), line>>>(a, b, many);
    Particle *all = array<Particle>(many);
    particles<<<blocks(many, line), line>>>(all, many);
    tiled<<<dim3(blocks(n, 16), blocks(50, 16)), dim3(16, 16)>>>(a, b, 50, n);
    tree<<<blocks(many, line), line, line * sizeof(float)>>>(a, b, many);
    folded_stencil<<<dim3(blocks(nx, block.x), blocks(ny, 2 * block.y), blocks(nz, block.z)), block>>>(volume, result, nx,
                                                                                                       ny, nz);
    double *wide = array<double>(size_t(nx + 3) * ny * nz);
    wide_stencil<<<dim3(blocks(nx, block.x), blocks(ny, block.y), blocks(nz, block.z)), block>>>(wide, result, nx, ny, nz,
                                                                                                 nx + 3);
    float *x = array<float>(many), *y = array<float>(many), *z = array<float>(many);
    members<<<blocks(many, line), line>>>(x, y, z, many);
    int *index = array<int>(many);
    gather<<<blocks(many, line), line>>>(index, a, b, many);
    filter<<<blocks(many, line), line>>>(index, a, b, many);
    float4 *table = array<float4>(40 * 1003), *copy = array<float4>(40 * 1003);
    arranged<<<blocks(1003, line / 8), line>>>(table, copy, 40, 1003);
    past<<<blocks(many, line), line>>>(array<float>(4096), array<float>(many + 2048), c, many);
    add_pairs<<<blocks(many, line), line>>>(x, array<float>(many), many);
    row_sums<<<4 * n, line>>>(array<float>(4 * n * 1000), array<float>(4 * n), 4 * n, 1000);
    layers<<<dim3(blocks(1000, line), 30, 5), line>>>(array<float>(1000 * 30 * 5), 1000, 30);
    flattened<<<blocks(many, line), flat>>>(array<float>(many), many);
    unrolled_triangle<<<blocks(500, line), line>>>(array<float>(500 * 500), array<float>(500), 500);
    doubled<<<12, line>>>(array<float>(50000), 50000);
    chunks<<<blocks(many, 5 * line), line>>>(a, b, many, 5);
    looked_up<<<blocks(many, line), line>>>(index, a, b, many);
    chase<<<1, 32>>>(index, n, 10);
    bool good = cudaDeviceSynchronize() == cudaSuccess;
    puts(good ? "kernels: ok" : "kernels: failed");
    return good ? 0 : 1;
}

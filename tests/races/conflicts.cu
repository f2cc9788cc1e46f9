// Kernels with a conflict between warps or blocks, and fixed twins. The two lines of a conflict end in `// conflict`;
// it is enough that a row of the report names lines with that mark. With the argument `gpu` the results of the racy
// kernels must be what a GPU gives, whose warps advance together.
#include <cooperative_groups.h>
#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>

namespace cg = cooperative_groups;

constexpr int THREADS = 256;
constexpr int BLOCKS = 4;
constexpr int COUNT = THREADS * BLOCKS;

__global__ void racy_reduction(const int *in, int *out)
{
    __shared__ int partial[THREADS];
    int t = threadIdx.x;
    partial[t] = in[blockIdx.x * THREADS + t];
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (t < half) {
            partial[t] += partial[t + half]; // conflict
        }
    }
    if (t == 0) {
        out[blockIdx.x] = partial[0];
    }
}

__global__ void fixed_reduction(const int *in, int *out)
{
    __shared__ int partial[THREADS];
    int t = threadIdx.x;
    partial[t] = in[blockIdx.x * THREADS + t];
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (t < half) {
            partial[t] += partial[t + half];
        }
        __syncthreads();
    }
    if (t == 0) {
        out[blockIdx.x] = partial[0];
    }
}

__global__ void racy_tile(const int *in, int *out)
{
    __shared__ int tile[THREADS];
    int t = threadIdx.x, first = blockIdx.x * THREADS;
    tile[t] = in[first + t]; // conflict
    out[first + t] = tile[THREADS - 1 - t]; // conflict
}

__global__ void fixed_tile(const int *in, int *out)
{
    __shared__ int tile[THREADS];
    int t = threadIdx.x, first = blockIdx.x * THREADS;
    tile[t] = in[first + t];
    __syncthreads();
    out[first + t] = tile[THREADS - 1 - t];
}

// A broadcast through element 0, which the next round writes before all have read it.
template <bool Cured>
__device__ int block_sum(int value)
{
    __shared__ int sums[THREADS / 32];
    for (int offset = 16; offset > 0; offset /= 2) {
        value += __shfl_down_sync(~0u, value, offset);
    }
    if (Cured) {
        __syncthreads();
    }
    if (threadIdx.x % 32 == 0) {
        sums[threadIdx.x / 32] = value; // conflict
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        int all = 0;
        for (int warp = 0; warp < THREADS / 32; ++warp) {
            all += sums[warp];
        }
        sums[0] = all;
    }
    __syncthreads();
    return sums[0]; // conflict
}

__global__ void racy_broadcast(const int *in, int *out)
{
    int value = in[blockIdx.x * THREADS + threadIdx.x];
    int first = block_sum<false>(value);
    int second = block_sum<false>(value + first); // conflict
    out[blockIdx.x * THREADS + threadIdx.x] = second - first; // conflict
}

__global__ void fixed_broadcast(const int *in, int *out)
{
    int value = in[blockIdx.x * THREADS + threadIdx.x];
    int first = block_sum<true>(value);
    int second = block_sum<true>(value + first);
    out[blockIdx.x * THREADS + threadIdx.x] = second - first;
}

// Eight warps of a block add to the same elements: each computes the same where they advance together.
__global__ void racy_element(const int *matrix, int *sums)
{
    int row = blockIdx.x * 32 + threadIdx.x;
    for (int column = 0; column < 8; ++column) {
        sums[row] += matrix[row * 8 + column]; // conflict
    }
}

__global__ void fixed_element(const int *matrix, int *sums)
{
    int row = blockIdx.x * 32 + threadIdx.x;
    if (threadIdx.y == 0) {
        for (int column = 0; column < 8; ++column) {
            sums[row] += matrix[row * 8 + column];
        }
    }
}

__global__ void racy_histogram(const int *in, int *bins)
{
    int value = in[blockIdx.x * 32 + threadIdx.x];
    if (threadIdx.x == 0) {
        bins[value % 2] += 1; // conflict
    }
}

__global__ void fixed_histogram(const int *in, int *bins)
{
    int value = in[blockIdx.x * 32 + threadIdx.x];
    if (threadIdx.x == 0) {
        atomicAdd(&bins[value % 2], 1);
    }
}

__global__ void racy_shared_bins(const int *in, int *out)
{
    __shared__ int bins[32];
    if (threadIdx.x < 32) {
        bins[threadIdx.x] = 0;
    }
    __syncthreads();
    atomicAdd(&bins[in[blockIdx.x * THREADS + threadIdx.x] % 32], 1); // conflict
    if (threadIdx.x < 32) {
        out[blockIdx.x * 32 + threadIdx.x] = bins[threadIdx.x]; // conflict
    }
}

__global__ void fixed_shared_bins(const int *in, int *out)
{
    __shared__ int bins[32];
    if (threadIdx.x < 32) {
        bins[threadIdx.x] = 0;
    }
    __syncthreads();
    atomicAdd(&bins[in[blockIdx.x * THREADS + threadIdx.x] % 32], 1);
    __syncthreads();
    if (threadIdx.x < 32) {
        out[blockIdx.x * 32 + threadIdx.x] = bins[threadIdx.x];
    }
}

// Shared memory behind a pointer that the compiler cannot see through.
__device__ __noinline__ void put(int *where, int what)
{
    *where = what; // conflict
}

extern __shared__ int dynamic[];

__global__ void racy_generic(const int *in, int *out)
{
    int t = threadIdx.x, first = blockIdx.x * THREADS;
    put(&dynamic[t], in[first + t]);
    out[first + t] = dynamic[t ^ 32]; // conflict
}

// Device memory that warps of a block hand on.
__global__ void racy_scratch(const int *in, int *scratch, int *out)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    scratch[i] = in[i]; // conflict
    out[i] = scratch[i ^ 32]; // conflict
}

__global__ void fixed_scratch(const int *in, int *scratch, int *out)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    scratch[i] = in[i];
    __syncthreads();
    out[i] = scratch[i ^ 32];
}

__global__ void fixed_two_buffers(const int *in, int *out)
{
    __shared__ int tile[2][THREADS];
    int t = threadIdx.x, sum = 0;
    tile[0][t] = in[t];
    for (int round = 0; round < 4; ++round) {
        __syncthreads();
        if (round < 3) {
            tile[(round + 1) % 2][t] = in[(t + round + 1) % COUNT];
        }
        sum += tile[round % 2][THREADS - 1 - t];
    }
    out[blockIdx.x * THREADS + t] = sum;
}

// Warps that keep to themselves, as old and as new code writes it, and with tiles of cooperative groups.
__global__ void fixed_within_warps(const int *in, int *out)
{
    __shared__ int tile[THREADS];
    volatile int *mine = tile + (threadIdx.x & ~31);
    int lane = threadIdx.x % 32, i = blockIdx.x * THREADS + threadIdx.x;
    mine[lane] = in[i];
    if (lane < 16) {
        mine[lane] += mine[lane + 16];
    }
    __syncwarp();
    int *plain = tile + (threadIdx.x & ~31);
    plain[lane] += plain[lane ^ 1];
    auto group = cg::tiled_partition<32>(cg::this_thread_block());
    group.sync();
    out[i] = group.shfl(plain[31 - lane], 3);
}

// Each pair of warps has a barrier of its own.
__global__ void fixed_named_barriers(const int *in, int *out)
{
    __shared__ int tile[128];
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    tile[t] = in[i];
    if (t < 64) {
        asm volatile("bar.sync 1, 64;" ::: "memory");
    } else {
        asm volatile("bar.sync 2, 64;" ::: "memory");
    }
    out[i] = tile[t ^ 32];
}

__global__ void fixed_by_grid_sync(int *data, int *other)
{
    cg::grid_group grid = cg::this_grid();
    int i = blockIdx.x * THREADS + threadIdx.x;
    for (int round = 0; round < 3; ++round) {
        other[i] = data[(i + THREADS) % COUNT] + 1;
        grid.sync();
        data[i] = other[(i + THREADS) % COUNT] + 1;
        grid.sync();
    }
}

__device__ unsigned finished = 0;

__global__ void fixed_last_block(const int *in, int *partial, int *total)
{
    __shared__ bool last;
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = in[blockIdx.x];
        __threadfence();
        last = atomicInc(&finished, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 0) {
        int all = 0;
        for (unsigned block = 0; block < gridDim.x; ++block) {
            all += partial[block];
        }
        *total = all;
    }
}

__device__ int lock = 0;

__global__ void fixed_lock(int *counter)
{
    if (threadIdx.x == 0) {
        while (atomicCAS(&lock, 0, 1) != 0) {
        }
        __threadfence();
        *counter += 1;
        __threadfence();
        atomicExch(&lock, 0);
    }
}

__global__ void fixed_flags(const int *in, bool *found, int *limit, char *letters, int most)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (in[i] > 3) {
        *found = true;
        *limit = most;
    }
    letters[i] = static_cast<char>(in[i]);
}

static int failures = 0;

static void expect(bool holds, const char *what)
{
    if (!holds) {
        printf("wrong: %s\n", what);
        ++failures;
    }
}

int main(int argc, char **argv)
{
    bool racy = argc < 2 || strcmp(argv[1], "fixed") != 0;
    bool as_gpu = argc > 1 && strcmp(argv[1], "gpu") == 0;
    static int values[COUNT], out[COUNT];
    for (int i = 0; i < COUNT; ++i) {
        values[i] = i * 7 % 32;
    }
    int *d_values, *d_out, *d_scratch;
    char *d_letters;
    cudaMalloc(&d_values, sizeof values);
    cudaMalloc(&d_out, sizeof values);
    cudaMalloc(&d_scratch, sizeof values);
    cudaMalloc(&d_letters, COUNT);
    cudaMemcpy(d_values, values, sizeof values, cudaMemcpyHostToDevice);
    auto fetch = [&] {
        cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost);
        cudaMemset(d_out, 0, sizeof out);
    };
    auto block_total = [&](int block) {
        int sum = 0;
        for (int t = 0; t < THREADS; ++t) {
            sum += values[block * THREADS + t];
        }
        return sum;
    };
    fetch();
    for (bool fixed : {false, true}) {
        if (!fixed && !racy) {
            continue;
        }
        bool right = true, judged = fixed || as_gpu;
        (fixed ? fixed_reduction : racy_reduction)<<<BLOCKS, THREADS>>>(d_values, d_out);
        fetch();
        for (int block = 0; block < BLOCKS; ++block) {
            right = right && out[block] == block_total(block);
        }
        expect(right || !judged, "reduction");
        (fixed ? fixed_tile : racy_tile)<<<BLOCKS, THREADS>>>(d_values, d_out);
        fetch();
        right = true;
        for (int i = 0; i < COUNT; ++i) {
            right = right && out[i] == values[i / THREADS * THREADS + THREADS - 1 - i % THREADS];
        }
        expect(right || !judged, "tile");
        (fixed ? fixed_broadcast : racy_broadcast)<<<BLOCKS, THREADS>>>(d_values, d_out);
        fetch();
        right = true;
        for (int i = 0; i < COUNT; ++i) {
            right = right && out[i] == THREADS * block_total(i / THREADS);
        }
        expect(right || !judged, "broadcast");
        (fixed ? fixed_element : racy_element)<<<BLOCKS, dim3(32, 8)>>>(d_values, d_out);
        fetch();
        right = true;
        for (int row = 0; row < BLOCKS * 32; ++row) {
            int sum = 0;
            for (int column = 0; column < 8; ++column) {
                sum += values[row * 8 + column];
            }
            right = right && out[row] == sum;
        }
        expect(right || !judged, "element");
        (fixed ? fixed_histogram : racy_histogram)<<<BLOCKS, 32>>>(d_values, d_out);
        fetch();
        // Blocks that advance together lose additions on a GPU, too.
        expect(fixed ? out[0] + out[1] == BLOCKS : !as_gpu || out[0] + out[1] < BLOCKS, "histogram");
        (fixed ? fixed_shared_bins : racy_shared_bins)<<<BLOCKS, THREADS>>>(d_values, d_out);
        fetch();
        right = true;
        for (int i = 0; i < BLOCKS * 32; ++i) {
            right = right && out[i] == THREADS / 32;
        }
        expect(right || !fixed, "bins");
        (fixed ? fixed_scratch : racy_scratch)<<<BLOCKS, THREADS>>>(d_values, d_scratch, d_out);
        fetch();
        right = true;
        for (int i = 0; i < COUNT; ++i) {
            right = right && out[i] == values[i ^ 32];
        }
        expect(right || !judged, "scratch");
        if (!fixed) {
            racy_generic<<<BLOCKS, THREADS, THREADS * sizeof(int)>>>(d_values, d_out);
            fetch();
            right = true;
            for (int i = 0; i < COUNT; ++i) {
                right = right && out[i] == values[i ^ 32];
            }
            expect(right || !judged, "generic");
        }
    }
    fixed_two_buffers<<<BLOCKS, THREADS>>>(d_values, d_out);
    fixed_within_warps<<<BLOCKS, THREADS>>>(d_values, d_out);
    fixed_named_barriers<<<BLOCKS, 128>>>(d_values, d_out);
    fetch();
    bool right = true;
    for (int i = 0; i < BLOCKS * 128; ++i) {
        right = right && out[i] == values[i ^ 32];
    }
    expect(right, "named barriers");
    cudaMemset(d_scratch, 0, sizeof values);
    int *arguments_out = d_out;
    void *grid_arguments[] = {&d_scratch, &arguments_out};
    cudaLaunchCooperativeKernel((void *)fixed_by_grid_sync, BLOCKS, THREADS, grid_arguments, 0, nullptr);
    cudaMemcpy(out, d_scratch, sizeof out, cudaMemcpyDeviceToHost);
    expect(out[0] == 6 && out[COUNT - 1] == 6, "grid.sync()");
    fetch();
    fixed_last_block<<<BLOCKS, THREADS>>>(d_values, d_scratch, d_out);
    fetch();
    expect(out[0] == values[0] + values[1] + values[2] + values[3], "last block");
    fixed_lock<<<BLOCKS, THREADS>>>(d_out);
    fetch();
    expect(out[0] == BLOCKS, "lock");
    fixed_flags<<<BLOCKS, THREADS>>>(d_values, reinterpret_cast<bool *>(d_out), d_out + 1, d_letters, 9);
    fetch();
    expect(out[0] == 1 && out[1] == 9 && cudaDeviceSynchronize() == cudaSuccess, "flags");
    printf("%s\n", failures == 0 ? "PASS" : "FAIL");
    return failures != 0;
}

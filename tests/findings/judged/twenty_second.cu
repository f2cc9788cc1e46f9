// Cases of a twenty-second round (docs/design/findings.md); `// WORDS` mark lines. An argument chooses the case.
#include <cstdio>
#include <cstring>
#include <vector>

template <typename T> static T *fresh(size_t count) {
    T *data = nullptr;
    cudaMalloc(&data, count * sizeof(T));
    return data;
}

template <typename T> static T *zeros(size_t count) {
    T *data = fresh<T>(count);
    cudaMemset(data, 0, count * sizeof(T));
    return data;
}

template <typename T> static T *filled(const std::vector<T> &values) {
    T *data = fresh<T>(values.size());
    cudaMemcpy(data, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice);
    return data;
}

static unsigned mixed(unsigned value) {
    value ^= value >> 16;
    value *= 0x7feb352dU;
    value ^= value >> 15;
    value *= 0x846ca68bU;
    return value ^ value >> 16;
}

// Rows of 2000 bytes begin on a sector or 16 bytes behind it, one after the other.
__global__ void counted_rows(const unsigned char *kinds, int *counts, int samples, int width) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= width) return;
    int sum = 0;
    for (int sample = 0; sample < samples; sample++) sum += kinds[sample * width + at] == 1; // ROWS OF 2000
    counts[at] = sum;
}

// Each byte with the one before it, of which the first has the last one; the one behind is asked for now and then.
__global__ void begins(const unsigned char *ink, const int *code, int *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = (code[i] & 1) & !ink[i ? i - 1 : n - 1]; // THE ONE BEFORE
}

// A layer of 128 x 128 weights for each launch, of which each warp loads all.
__global__ void layer(const float *in, const float4 *weight, float4 *out) {
    int cell = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
    float4 sum = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    for (int k = 0; k < 128; k++) {
        float4 by = weight[k * 32 + lane]; // WEIGHTS OF A LAYER
        float value = in[cell * 128 + k];
        sum.x += value * by.x, sum.y += value * by.y, sum.z += value * by.z, sum.w += value * by.w;
    }
    out[cell * 32 + lane] = sum;
}

// How far others have come is read by adding nothing.
__global__ void limited(int *limit, const int *from, int *out, int steps) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, sum = 0;
    for (int step = 0; step < steps; step++) {
        int last = atomicAdd(limit, 0); // READS BY ADDING
        if (from[step] < last) sum += step;
    }
    out[i] = sum;
}

// Sums of elements of two bytes, each step twice as far apart as the one before.
__global__ void summed_shorts(short *values) {
    __shared__ short part[512];
    for (int i = threadIdx.x; i < 512; i += 256) part[i] = values[blockIdx.x * 512 + i];
    int apart = 1;
    for (int pairs = 256; pairs > 0; pairs /= 2) {
        __syncthreads();
        if (threadIdx.x < pairs) {
            short below = part[(2 * threadIdx.x + 1) * apart - 1]; // STEPS OF SHORTS
            part[(2 * threadIdx.x + 2) * apart - 1] += below;
        }
        apart *= 2;
    }
    __syncthreads();
    for (int i = threadIdx.x; i < 512; i += 256) values[blockIdx.x * 512 + i] = part[i];
}

// Fields of one colour of a board with a border: neighbouring lanes lie in one of two rows.
__global__ void board(float *fields, int turns) {
    __shared__ float tile[34][18];
    int x = threadIdx.x, y = 2 * threadIdx.y;
    tile[y + 1][x + 1] = fields[(blockIdx.x * 32 + y) * 16 + x];
    tile[y + 2][x + 1] = fields[(blockIdx.x * 32 + y + 1) * 16 + x];
    for (int turn = 0; turn < turns; turn++) {
        int row = y + 1 + (x + turn & 1);
        __syncthreads();
        float sum = tile[row - 1][x + 1] + tile[row + 1][x + 1]; // FIELDS OF A COLOUR
        tile[row][x + 1] = 0.25f * sum;
    }
    __syncthreads();
    fields[(blockIdx.x * 32 + y) * 16 + x] = tile[y + 1][x + 1];
    fields[(blockIdx.x * 32 + y + 1) * 16 + x] = tile[y + 2][x + 1];
}

// Each thread goes over a list of places with weights.
__global__ void over_lists(const int *begin, const int *place, const float *weight, const float *values, float *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0.0f;
    for (int at = begin[i]; at < begin[i + 1]; at++) sum += weight[at] * values[place[at]]; // A LIST EACH
    out[i] = sum;
}

// Two small tables, looked up on lines of their own.
__global__ void by_tables(const unsigned *from, const unsigned *low, const unsigned *high, unsigned *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned value = from[i];
    for (int step = 0; step < 8; step++) {
        value ^= low[value % 256];           // TWO SMALL TABLES
        value += high[(value >> 8) % 256];   // TWO SMALL TABLES
    }
    out[i] = value;
}

__device__ void clear(float *result, int all) {
    for (int i = threadIdx.x; i < all; i += blockDim.x) result[i] = 0.0f; // BY THE OTHER BLOCK
}

// Two blocks, of which one clears what the other one gives.
__global__ void two_parts(float *result, float by) {
    if (blockIdx.x == 0) {
        if (threadIdx.x == 0) {
            result[1] = by;        // THREE RESULTS
            result[7] = by * 2.0f; // THREE RESULTS
            result[9] = by * 3.0f; // THREE RESULTS
        }
    } else {
        clear(result, 64);
    }
}

// Four figures of all elements.
__global__ void figures(const int *values, int *of_all) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int value = values[i];
    atomicAdd(of_all, value);       // FOUR FIGURES
    atomicMax(of_all + 1, value);   // FOUR FIGURES
    atomicMin(of_all + 2, value);   // FOUR FIGURES
    atomicOr(of_all + 3, value);    // FOUR FIGURES
}

// Sums of a tree from its leaves on: each thread waits until both children of its next node are there.
__global__ void from_leaves(volatile float *sums, int leaves, int threads) {
    int node = leaves - 1 - (blockIdx.x * blockDim.x + threadIdx.x);
    while (node > 0) { // UNTIL BOTH ARE THERE
        if (sums[node] >= 0.0f) {
            node -= threads;
        } else {
            float left = sums[2 * node], right = sums[2 * node + 1];
            if (left >= 0.0f && right >= 0.0f) {
                float sum = left + right;
                for (int step = 0; step < 8; step++) sum = sum * 0.5f + 1.0f;
                sums[node] = sum;
                __threadfence();
                node -= threads;
            }
        }
    }
}

// What is not on a multiple of 16 goes another way, in a function that is not inlined.
__device__ __noinline__ float taken(const float *from, int count) {
    float sum = 0.0f;
    if (reinterpret_cast<size_t>(from) % 16 != 0) // HOW IT IS ALIGNED
#pragma unroll
        for (int i = 0; i < 64; i++) sum = sum * 0.75f + from[i % 2];
    for (int i = 0; i < count; i++) sum += from[i];
    return sum;
}

__global__ void from_parts(const float *from, float *out, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = taken(from + i * 2, count);
}

// Each thread goes along a row of 64 bytes as far as its length says, and takes the element behind.
__global__ void along_rows(const unsigned *length, const unsigned *rows, unsigned *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned left = length[i], sum = left;
    const unsigned *at = rows + i * 16;
    while (left > 2) {
        sum = (sum ^ *at++) * 5u;
        left -= 2;
    }
    out[i] = sum + *at * 3u; // THE ELEMENT BEHIND
}

// Differences of fourth order along the last dimension; a row is as long as a block.
__global__ void filled_with(float *field, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) field[i] = 0.5f * i;
}

__global__ void upwards(const float *__restrict__ field, float *__restrict__ out, int nx, int ny, int nz) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    int z = blockIdx.z * blockDim.z + threadIdx.z;
    if (x >= nx || z < 3 || z >= nz - 3) return;
    int plane = nx * ny, here = z * plane + y * nx + x;
    float sum = 0.0f;
#pragma unroll
    for (int k = 1; k <= 3; k++) sum += (field[here + k * plane] - field[here - k * plane]) / k;
    out[here] = sum;
}

// A block goes three times over 128 KiB of its own, two blocks an SM.
__global__ void __launch_bounds__(1024) standardised(float *signals) {
    float *own = signals + blockIdx.x * 32768;
    float sum = 0.0f, squares = 0.0f;
#pragma unroll 1
    for (int i = threadIdx.x; i < 32768; i += 1024) sum += own[i]; // THREE TIMES OVER
    sum = __shfl_sync(~0u, sum, 0) / 32768;
#pragma unroll 1
    for (int i = threadIdx.x; i < 32768; i += 1024) squares += (own[i] - sum) * (own[i] - sum); // THREE TIMES OVER
    squares = rsqrtf(__shfl_sync(~0u, squares, 0) + 1.0f);
#pragma unroll 1
    for (int i = threadIdx.x; i < 32768; i += 1024) own[i] = (own[i] - sum) * squares; // THREE TIMES OVER
}

// The second half of rows whose length the code knows, as the numbers that unrolling leaves.
template <int width> __global__ void second_half(const unsigned short *scores, float *out, int rows) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= width) return;
    float sum = 0.0f;
#pragma unroll 1
    for (int row = 0; row < rows; row++)
        sum += scores[size_t(2 * rows * blockIdx.y + row) * width + 60 * width + at]; // ROWS OF A CONSTANT LENGTH
    out[blockIdx.y * width + at] = sum;
}

// A recurrence of one block, behind a kernel of one block.
__global__ void seeds(unsigned *last) { last[threadIdx.x] = threadIdx.x * 2654435761u; }

__global__ void recurrence(const unsigned *seed, unsigned *last, int steps) {
    unsigned value = seed[threadIdx.x];
#pragma unroll 1
    for (int step = 0; step < steps; step++) value = (value ^ value << 13) * 69069u + step;
    last[threadIdx.x] = value; // A RECURRENCE
}

// The compiler may join the test of a short row to the one before it.
__global__ void short_rows(const int *row_of, const float *from, float *sums, int rows, int width) {
    __shared__ int own[256];
    int id = threadIdx.y * 32 + threadIdx.x;
    for (int base = 0; base < 1024; base += 256) {
        int first = blockIdx.x * 1024 + base;
        if (first + id < rows) own[id] = row_of[first + id];
        __syncthreads();
        for (int at = 0; at < 256; at += 8) {
            int row = at + threadIdx.y;
            if (first + row < rows) { // ROWS OF EIGHT
                int to = own[row];
                for (int j = threadIdx.x; j < width; j += 32)
                    atomicAdd(&sums[to * width + j], from[size_t(first + row) * width + j]);
            }
        }
        __syncthreads();
    }
}

// Real and imaginary part are stored one by one, far from those of the next lane.
__global__ void complex_rows(double *out, int pitch) {
    int at = threadIdx.x % 16 * pitch + blockIdx.x * 4 + threadIdx.x / 16 * 2;
    double angle = threadIdx.x * 0.01 + blockIdx.x;
    double real = angle * angle, imaginary = angle - 1.0;
    out[at] = real;              // TWO PARTS
    out[at + 1] = imaginary;     // TWO PARTS
}

// A day of each cell, of which the state is changed in place; the host counts the days.
__global__ void day(float *water, const float *rain, int cells, int number) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < cells) water[i] = water[i] * 0.97f + rain[number * cells + i];
}

// Stages of a picture, each from host memory to host memory.
__global__ void brightened(const float *in, float *out, float by) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i] * by + 0.25f;
}

struct Stages {
    float *in, *out;
    size_t bytes;
    void run(const float *from, float *to, float by) {
        cudaMemcpy(in, from, bytes, cudaMemcpyHostToDevice); // WHAT THE STAGE BEFORE MADE
        brightened<<<bytes / 1024, 256>>>(in, out, by);
        cudaMemcpy(to, out, bytes, cudaMemcpyDeviceToHost);
    }
};

static void stages() {
    size_t count = 1 << 20;
    float *scan, *work;
    cudaMallocHost(&scan, count * sizeof(float));
    cudaMallocHost(&work, count * sizeof(float));
    for (size_t i = 0; i < count; i++) scan[i] = i % 997;
    Stages stage = {fresh<float>(count), fresh<float>(count), count * sizeof(float)};
    stage.run(scan, work, 1.5f);
    stage.run(work, scan, 0.5f);
    stage.run(scan, work, 2.5f);
    stage.run(work, scan, 0.75f);
    stage.run(scan, work, 1.25f);
}

// The host scales what a kernel has made, into memory of its own, for the next launch.
static void scaled_on_the_host() {
    int count = 1 << 19;
    float *from, *to;
    cudaHostAlloc(&from, count * sizeof(float), 0);
    cudaHostAlloc(&to, count * sizeof(float), 0);
    for (int i = 0; i < count; i++) to[i] = i % 13;
    float *x = fresh<float>(count), *y = fresh<float>(count);
    for (int step = 0; step <= 6; step++) {
        cudaMemcpy(x, to, count * sizeof(float), cudaMemcpyHostToDevice);
        if (step == 6) break;
        brightened<<<count / 256, 256>>>(x, y, 1.5f);
        cudaMemcpy(from, y, count * sizeof(float), cudaMemcpyDeviceToHost); // SCALED ON THE HOST
        float most = 0.0f;
        for (int i = 0; i < count; i++) most = from[i] > most ? from[i] : most;
        for (int i = 0; i < count; i++) to[i] = from[i] / most;
    }
}

// Each element waits until the one that it follows is decided.
__global__ void decided(volatile int *state, const int *follows, int n) {
    int id = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x, missing;
    do {
        missing = 0;
        for (int v = id; v < n; v += all) {
            int own = state[v];
            if (own < 0) {
                int before = state[follows[v]];
                if (before >= 0) state[v] = (before * 7 + v) % 5;
                else missing = 1;
            }
        }
    } while (missing != 0); // UNTIL ALL ARE DECIDED
}

// Two lanes make the root of a tree, once.
__global__ void rooted(int *tree) {
    if (threadIdx.x < 2) tree[threadIdx.x] = 1 - threadIdx.x; // THE ROOT
}

// Two ways to do one thing, each timed on arrays of several sizes.
__global__ void one_way(const float *in, float *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i] * 2.0f; // TWO WAYS
}

__global__ void other_way(const float *in, float *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i] + in[i]; // TWO WAYS
}

static void two_ways() {
    for (int count = 1 << 20; count <= 1 << 24; count <<= 4) {
        float *in = zeros<float>(count), *out = fresh<float>(count);
        for (int turn = 0; turn < 2; turn++) one_way<<<count / 256, 256>>>(in, out);
        for (int turn = 0; turn < 2; turn++) other_way<<<count / 256, 256>>>(in, out);
        cudaFree(in);
        cudaFree(out);
    }
}

// Elements that a list names, one of eight, in order.
__global__ void of_list(const int *list, const float *from, float *to) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int at = list[i];
    to[at] = sqrtf(from[at]) * 0.5f; // ONE OF EIGHT
}

int main(int count, char **arguments) {
    auto runs = [&](const char *name) { return count < 2 || !strcmp(arguments[1], name); };
    const int n = 1 << 18;
    if (runs("rows")) counted_rows<<<8, 256>>>(zeros<unsigned char>(2000 * 1000), fresh<int>(2000), 1000, 2000);
    if (runs("before")) begins<<<n / 256, 256>>>(zeros<unsigned char>(n), zeros<int>(n), fresh<int>(n), n);
    if (runs("layers")) {
        float *one = zeros<float>(2048 * 128), *other = fresh<float>(2048 * 128);
        float4 *first = zeros<float4>(128 * 32), *second = zeros<float4>(128 * 32);
        layer<<<512, 128>>>(one, first, reinterpret_cast<float4 *>(other));
        layer<<<512, 128>>>(other, second, reinterpret_cast<float4 *>(one));
    }
    if (runs("limit")) limited<<<256, 256>>>(zeros<int>(1), zeros<int>(64), fresh<int>(65536), 64);
    if (runs("shorts")) summed_shorts<<<1024, 256>>>(zeros<short>(1024 * 512));
    if (runs("board")) board<<<512, dim3(16, 16)>>>(zeros<float>(512 * 512), 32);
    if (runs("lists")) {
        std::vector<int> begin(n / 4 + 1, 0), place;
        for (int i = 0; i < n / 4; i++) {
            for (unsigned k = 0; k < 40 + mixed(i) % 40; k++) place.push_back((i + mixed(k + i) % 64) % (n / 4));
            begin[i + 1] = int(place.size());
        }
        over_lists<<<n / 1024, 256>>>(filled(begin), filled(place), zeros<float>(place.size()), zeros<float>(n / 4),
                                      fresh<float>(n / 4));
    }
    if (runs("tables")) {
        std::vector<unsigned> values(n), low(256), high(256);
        for (int i = 0; i < n; i++) values[i] = mixed(i);
        for (int i = 0; i < 256; i++) low[i] = mixed(i + 1) % 256 * 257, high[i] = mixed(i + 1000);
        by_tables<<<n / 256, 256>>>(filled(values), filled(low), filled(high), fresh<unsigned>(n));
    }
    if (runs("parts")) two_parts<<<2, 128>>>(zeros<float>(64), 1.5f);
    if (runs("figures")) figures<<<n / 256, 256>>>(zeros<int>(n), zeros<int>(4));
    if (runs("tree")) {
        std::vector<float> sums(2 * 8192, -1.0f);
        for (int i = 8192; i < 2 * 8192; i++) sums[i] = 1.0f;
        from_leaves<<<8, 256>>>(filled(sums), 8192, 8 * 256);
    }
    if (runs("aligned")) from_parts<<<n / 256, 256>>>(zeros<float>(2 * n + 64), fresh<float>(n), 4);
    if (runs("behind")) {
        std::vector<unsigned> length(n);
        for (int i = 0; i < n; i++) length[i] = mixed(i) % 31;
        along_rows<<<n / 256, 256>>>(filled(length), zeros<unsigned>(n * 16), fresh<unsigned>(n));
    }
    if (runs("upwards")) {
        float *field = fresh<float>(256 * 128 * 64), *out = zeros<float>(256 * 128 * 64);
        filled_with<<<256 * 128 * 64 / 256, 256>>>(field, 256 * 128 * 64);
        upwards<<<dim3(1, 128, 64), dim3(256, 1, 1)>>>(field, out, 256, 128, 64);
    }
    if (runs("standard")) standardised<<<432, 1024>>>(zeros<float>(432 * 32768));
    if (runs("constant"))
        second_half<8733><<<dim3(35, 4), 256>>>(zeros<unsigned short>(8 * 60 * 8733), fresh<float>(4 * 8733), 60);
    if (runs("recurrence")) {
        unsigned *seed = fresh<unsigned>(256), *last = fresh<unsigned>(256);
        seeds<<<1, 256>>>(seed);
        recurrence<<<1, 256>>>(seed, last, 20000);
    }
    if (runs("short")) {
        std::vector<int> row_of(65536);
        for (int i = 0; i < 65536; i++) row_of[i] = mixed(i) % 4096;
        short_rows<<<64, dim3(32, 8)>>>(filled(row_of), zeros<float>(65536 * 8), zeros<float>(4096 * 8), 65536, 8);
    }
    if (runs("complex")) complex_rows<<<4096, 32>>>(fresh<double>(16 * 16384), 16384);
    if (runs("days")) {
        float *water = zeros<float>(16384), *rain = zeros<float>(16384 * 64);
        for (int number = 0; number < 64; number++) day<<<128, 128>>>(water, rain, 16384, number); // DAY BY DAY
    }
    if (runs("repeats")) {
        float *water = zeros<float>(16384), *rain = zeros<float>(16384);
        for (int turn = 0; turn < 64; turn++) day<<<128, 128>>>(water, rain, 16384, 0); // THE SAME DAY
    }
    if (runs("decided")) {
        std::vector<int> state(16384, -1), follows(16384, 0);
        state[0] = 1;
        for (int i = 1; i < 16384; i++) follows[i] = mixed(i) % i;
        decided<<<16, 256>>>(filled(state), filled(follows), 16384);
    }
    if (runs("rooted")) rooted<<<1, 32>>>(zeros<int>(1 << 18));
    if (runs("ways")) two_ways();
    if (runs("listed")) {
        std::vector<int> list(n);
        for (int i = 0; i < n; i++) list[i] = i * 8 + mixed(i) % 8;
        float *from = zeros<float>(8 * n), *to = zeros<float>(8 * n);
        filled_with<<<8 * n / 256, 256>>>(from, 8 * n);
        filled_with<<<8 * n / 256, 256>>>(to, 8 * n);
        of_list<<<n / 256, 256>>>(filled(list), from, to);
    }
    if (runs("stages")) stages();
    if (runs("scaled")) scaled_on_the_host();
    return cudaDeviceSynchronize() != cudaSuccess;
}

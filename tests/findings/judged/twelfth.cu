// Cases of a fourteenth round of public programs (docs/design/findings.md); `// WORDS` mark lines.
#include <algorithm>
#include <cstdio>
#include <cuda_fp16.h>
#include <curand_kernel.h>
#include <vector>

// Rows of eight vectors of 16 bytes, padded for accesses of 16 bytes; read by halves of words.
__global__ void products(const int4 *rows, const int4 *vector, float *sums, int times) {
    __shared__ int4 staged[32 * 9];
    int lane = threadIdx.x & 31;
    for (int i = threadIdx.x; i < 32 * 8; i += blockDim.x) staged[i / 8 * 9 + i % 8] = vector[i];
    __syncthreads();
    float sum = 0.0f;
    for (int t = 0; t < times; t++) {
        int4 row = rows[(blockIdx.x * times + t) * 32 + lane];
        const half2 *a = reinterpret_cast<const half2 *>(&row);
        const half2 *b = reinterpret_cast<const half2 *>(&staged[lane * 9 + t % 8]);
        half2 both = {};
        for (int j = 0; j < 4; j++) both = __hfma2(a[j], b[j], both); // HALVES OF WORDS
        sum += __half2float(both.x) + __half2float(both.y);
    }
    sums[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

// A warp takes what the one before it has stored, before the barrier.
__global__ void cascade(float *signal, const float *weights, int n) {
    __shared__ float passed[128];
    int own = threadIdx.x;
    passed[own] = 0.0f;
    __syncthreads();
    float state = 0.0f, weight = weights[own];
    for (int i = 0; i < n; i++) {
        float taken;
        if (own == 0) {
            taken = signal[blockIdx.x * n + i];
        } else {
            taken = passed[own - 1];
        }
        float result = weight * taken + state;
        state = 0.5f * taken - 0.25f * result;
        passed[own] = result; // HANDED ON
        __syncthreads();
    }
    signal[blockIdx.x * n + own % n] = state;
}

// Columns of a small matrix: over in a few microseconds.
__global__ void column_sums(const float *matrix, float *sums, int columns) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0.0f;
    for (int i = 0; i < columns; i++) sum += matrix[row * columns + i]; // SHORT
    sums[row] = sum;
}

struct Links {
    const int *left, *right, *key;
};

// Threads walk down a tree, from node to node.
__global__ void find(Links tree, const int *wanted, int *found, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int node = 0, last = 0;
    while (node >= 0) {
        last = node;
        int key = tree.key[node]; // WALKED
        node = wanted[i] < key ? tree.left[node] : tree.right[node]; // ON ITS WAY
    }
    found[i] = last;
}

// Every element gets a 1, and then the first ones of each list another value: by threads of other blocks.
__global__ void mark(const int *begins, const int *ends, const int *kinds, char *marks, int lists, int n) {
    int from = blockIdx.x * blockDim.x + threadIdx.x, step = gridDim.x * blockDim.x;
    for (int i = from; i < n; i += step) marks[i] = 1; // TWO STORES
    for (int i = from; i < lists; i += step)
        for (int k = begins[i]; k < ends[i] && kinds[2 * k] > 0; k++) marks[k] = kinds[2 * k + 1]; // LATER STORE
}

// A bound that only rises is looked at before the atomic operation.
__global__ void raise(const int *values, int *bound, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && *bound < values[i]) atomicMax(bound, values[i]); // BOUND
}

// Distances become smaller until none does any more.
__global__ void relax(int *distances, bool *changed, int n, int limit) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && distances[i] > limit) {
        distances[i] = limit;
        *changed = true;
    }
}

template <typename T> __device__ void exchange(T &one, T &other) {
    T kept = one; // VOLATILE
    one = other;
    other = kept;
}

__global__ void turn_around(volatile int *values, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = 0; k < 8; k++)
        if (i < n / 2) exchange(values[i], values[n - 1 - i]);
}

// A warp goes over a list, of which most are shorter than a warp.
__global__ void over_lists(const int *begins, const int *kinds, float *results, int lists) {
    int warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    for (int i = warp; i < lists; i += gridDim.x * blockDim.x / 32) {
        for (int k = begins[i] + lane; k < begins[i + 1]; k += 32) { // SHORT LISTS
            float x = kinds[2 * k];
            for (int t = 0; t < 60; t++) x = x * 0.9f + 1.0f / (1.0f + x * x);
            results[k] = x;
        }
    }
}

// Eight threads of each block add to one of three sums, each of them once.
__global__ void shift_forces(const float *forces, float *shifts) {
    float own = forces[(blockIdx.x * 8 + threadIdx.y) * 8 + threadIdx.x];
    for (int k = 0; k < 4; k++) own = own * 0.5f + forces[threadIdx.y * 8 + threadIdx.x + k];
    if (threadIdx.y < 3) atomicAdd(&shifts[threadIdx.y], own); // ONCE
}

// Blocks write whole words and add the bits that are left to the next one.
__global__ void pack(const unsigned *parts, unsigned *packed, int words) {
    int first = (blockIdx.x * blockDim.x + threadIdx.x) * words;
    for (int i = 0; i < words; i++) packed[first + i] = parts[first + i]; // WHOLE WORDS
    atomicOr(&packed[first + words], 0u);
}

// Each byte of mapped memory is used once.
__global__ void halve(const float *mapped, float *halves) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    halves[i] = 0.5f * mapped[i]; // MAPPED
}

// The second condition costs a dozen instructions, which some lanes skip.
__global__ void count_far(const int4 *flows, int *counts, int n, float4 model, float limit) {
    int far = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        int4 flow = flows[i];
        float across = flow.x + ((int)((flow.x - model.x) * model.z) - (int)((flow.y - model.y) * model.w)) - flow.z;
        float along = flow.y + ((int)((flow.y - model.y) * model.z) + (int)((flow.x - model.x) * model.w)) - flow.w;
        if (fabs(across) >= limit || fabs(along) >= limit) far++; // EITHER
    }
    counts[blockIdx.x * blockDim.x + threadIdx.x] = far;
}

// What the library's functions do with their own tables and structures.
__global__ void seed(curandState *states, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) curand_init(1234, i, 0, &states[i]); // SEEDED
}

// Nodes wait until no neighbour of theirs comes before them.
__global__ void settle(const int *begins, const int *neighbours, volatile unsigned char *states, int n) {
    int from = blockIdx.x * blockDim.x + threadIdx.x, step = gridDim.x * blockDim.x, missing;
    do {
        missing = 0;
        for (int v = from; v < n; v += step) {
            unsigned char own = states[v];
            if (own & 1) {
                int i = begins[v];
                while (i < begins[v + 1] && (own > states[neighbours[i]] || (own == states[neighbours[i]] && v > neighbours[i]))) i++; // HEAD
                if (i < begins[v + 1]) {
                    missing = 1;
                } else {
                    for (int k = begins[v]; k < begins[v + 1]; k++) states[neighbours[k]] = 0;
                    states[v] = 254;
                }
            }
        }
    } while (missing != 0);
}

// The grid covers the data, though the loop could go on.
__global__ void smooth(const float *values, float *results, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        float x = values[i];
        for (int k = 0; k < 3000; k++) x = x * 0.9f + 1.0f / (1.0f + x * x);
        results[i] = x;
    }
}

template <typename T> static T *upload(const std::vector<T> &values) {
    T *memory;
    cudaMalloc(&memory, values.size() * sizeof(T));
    cudaMemcpy(memory, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice);
    return memory;
}

static int tree_of(std::vector<int> &left, std::vector<int> &right, std::vector<int> &key, int low, int high, unsigned &next, const std::vector<int> &places) {
    if (low >= high) return -1;
    int middle = (low + high) / 2, node = places[next++];
    key[node] = middle;
    left[node] = tree_of(left, right, key, low, middle, next, places);
    right[node] = tree_of(left, right, key, middle + 1, high, next, places);
    return node;
}

int main() {
    const int n = 1 << 14;
    float *sums;
    cudaMalloc(&sums, n * sizeof(float));
    int4 *rows = upload(std::vector<int4>(64 * 64 * 32, int4{0x3c003c00, 0x3c003c00, 0x3c003c00, 0x3c003c00}));
    products<<<64, 64>>>(rows, rows, sums, 64);
    float *signal = upload(std::vector<float>(64 * 256, 1.0f)), *weights = upload(std::vector<float>(128, 0.5f));
    cascade<<<64, 128>>>(signal, weights, 256);
    float *matrix = upload(std::vector<float>(4096 * 64, 1.0f));
    for (int i = 0; i < 4; i++) column_sums<<<32, 128>>>(matrix, sums, 64);
    std::vector<int> left(n), right(n), key(n), wanted(n), places(n);
    for (int i = 0; i < n; i++) wanted[i] = i * 7919 % n, places[i] = i * 4099 % n;
    unsigned next = 0;
    tree_of(left, right, key, 0, n, next, places);
    Links tree{upload(left), upload(right), upload(key)};
    int *found = reinterpret_cast<int *>(sums), *d_wanted = upload(wanted);
    find<<<n / 128, 128>>>(tree, d_wanted, found, n);
    const int lists = 2000;
    std::vector<int> begins(lists + 1), ends(lists), kinds(lists * 16 + 64, 1);
    for (int i = 0; i <= lists; i++) begins[i] = i * 8 + i * 7919 % 5;
    for (int i = 0; i < lists; i++) ends[i] = begins[i + 1];
    int *d_begins = upload(begins), *d_ends = upload(ends), *d_kinds = upload(kinds);
    char *marks;
    cudaMalloc(&marks, lists * 8 + 64);
    for (int i = 0; i < 8; i++) mark<<<864, 256>>>(d_begins, d_ends, d_kinds, marks, lists, lists * 8);
    int *bound;
    cudaMalloc(&bound, sizeof(int));
    cudaMemset(bound, 0, sizeof(int));
    raise<<<n / 256, 256>>>(d_wanted, bound, n);
    bool changed, *d_changed;
    cudaMalloc(&d_changed, sizeof(bool));
    for (int step = 0; step < 3; step++) {
        int round = 0;
        do {
            changed = false;
            cudaMemset(d_changed, 0, sizeof(bool));
            relax<<<n / 256, 256>>>(d_wanted, d_changed, n, 9000 - 1000 * step);
            cudaMemcpy(&changed, d_changed, sizeof(bool), cudaMemcpyDeviceToHost); // CHANGED
        } while (changed || ++round < 2);
    }
    turn_around<<<n / 512, 256>>>(found, n);
    for (int i = 0; i < 8; i++) over_lists<<<64, 128>>>(d_begins, d_kinds, matrix, lists);
    pack<<<16, 16>>>(reinterpret_cast<unsigned *>(rows), reinterpret_cast<unsigned *>(matrix), 32);
    float *mapped;
    cudaMallocHost(&mapped, sizeof(float) << 18);
    for (int i = 0; i < 1 << 18; i++) mapped[i] = i;
    halve<<<1 << 10, 256>>>(mapped, matrix);
    std::vector<int4> flows(4096);
    for (int i = 0; i < 4096; i++) flows[i] = {i % 7, i % 11, i * 7919 % 13, i * 4099 % 5};
    const int4 *d_flows = upload(flows);
    for (int i = 0; i < 16; i++) count_far<<<64, 128>>>(d_flows, found, 4096, float4{1.0f, 2.0f, 0.5f, 0.5f}, 5.0f);
    curandState *random_states;
    cudaMalloc(&random_states, 1024 * sizeof(curandState));
    seed<<<1, 32>>>(random_states, 32);
    std::vector<int> first_neighbours(n / 4 + 1), neighbours;
    for (int i = 0; i < n / 4; i++) {
        first_neighbours[i] = neighbours.size();
        // A hypercube with some edges left out, whose nodes lie anywhere.
        for (int bit = 1, place = i * 2653 % (n / 4); bit < n / 4; bit *= 2)
            if ((std::min(place, place ^ bit) * 7919 + bit) % 3 == 0) neighbours.push_back((place ^ bit) * 2549 % (n / 4));
    }
    first_neighbours[n / 4] = neighbours.size();
    std::vector<unsigned char> states(n / 4);
    for (int i = 0; i < n / 4; i++) states[i] = i * 7919 % 125 * 2 | 1;
    for (int i = 0; i < 4; i++) {
        unsigned char *d_states = upload(states);
        settle<<<n / 4 / 256, 256>>>(upload(first_neighbours), upload(neighbours), d_states, n / 4);
    }
    smooth<<<16, 256>>>(matrix, sums, 16 * 256); // COVERED
    for (int round = 0; round < 4; round++) {
        float *pieces[64];
        for (int i = 0; i < 64; i++) cudaMalloc(&pieces[i], 1024); // PIECES
        for (int i = 0; i < 64; i++) cudaFree(pieces[i]);
    }
    shift_forces<<<2048, dim3(8, 8)>>>(matrix, weights);
    std::printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}

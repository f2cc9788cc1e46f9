// Cases of an eighteenth round of public programs (docs/design/findings.md); `// WORDS` mark lines. An argument runs a case alone.
#include <cstdio>
#include <cstring>
#include <vector>

// Each thread makes as many steps of a generator as its number says.
__global__ void seeds(unsigned *states) {
    int number = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned state = 1;
    for (int i = 0; i < number; i++) // AS LONG AS THE NUMBER
        state = (state * 1664525u + 1013904223u) ^ (state >> 7);
    states[number] = state;
}

// A warp for each of many short lists.
__global__ void nearest(const int *lengths, const float *values, float *results) {
    int lane = threadIdx.x % 32, list = blockIdx.x * blockDim.x / 32 + threadIdx.x / 32;
    float least = 1e30f;
    for (int j = lane; j < lengths[list]; j += 32) { // SHARED BY A WARP
        float value = values[list * 64 + j];
#pragma unroll 1
        for (int k = 0; k < 20; k++) value = value * 0.5f + __expf(-value);
        least = fminf(least, value);
    }
    for (int step = 16; step > 0; step /= 2) least = fminf(least, __shfl_xor_sync(~0u, least, step));
    if (lane == 0) results[list] = least;
}

#define COLUMNS 13
#define ROWS (400 / COLUMNS + 1)

// Of an array whose length a macro gives.
__global__ void transposed(const int *order, const int *text, int *results) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, sum = 0;
    int kept[COLUMNS * ROWS];
    for (int k = 0; k < COLUMNS * ROWS; k++) kept[order[k % 64]] = text[k]; // LENGTH BY A MACRO
    for (int k = 0; k < COLUMNS * ROWS; k++) sum = sum * 31 + kept[order[(k + i) % 64]]; // READ BY A MACRO
    results[i] = sum;
}

// Half a KiB for each of 512 threads.
__global__ void wide_blocks(const int *order, int *results) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, sum = 0;
    int counts[128];
    for (int k = 0; k < 128; k++) counts[k] = k;
    for (int k = 0; k < 64; k++) counts[(order[k] + i) % 128] += k; // WIDE BLOCKS
    for (int k = 0; k < 128; k++) sum = sum * 31 + counts[k];
    results[i] = sum;
}

__global__ void doubled(const int *values, int *results) {
    results[threadIdx.x] = values[threadIdx.x] * 2;
}

__device__ float squashed(float x) {
    return 1.0f / (1.0f + __expf(-x));
}

// A part of what the next launch reads.
__global__ void activate(float *gates, const float *bias) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    gates[i] = squashed(gates[i] + bias[i % 1024]);
}

__global__ void update(const float *gates, float *states, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    states[i] = states[i] * gates[i] + gates[n + i] * gates[2 * n + i] + gates[3 * n + i]; // HANDED ON
}

// What each thread reads needs a sum of all that the launch before has written.
__global__ void exponentials(const float *values, float *results, float *sum) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float result = __expf(values[i]);
    results[i] = result;
    for (int step = 16; step > 0; step /= 2) result += __shfl_xor_sync(~0u, result, step);
    if (threadIdx.x % 32 == 0) atomicAdd(sum, result);
}

__global__ void normalised(float *results, const float *sum, float *shares) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    shares[i] = results[i] / *sum; // NEEDS ALL
}

// The next step takes neighbours of what is copied here.
__global__ void relaxed(const float *field, float *next, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    next[i] = (field[i] + field[(i + 1) % n] + field[(i + n - 1) % n]) / 3.0f;
}

__global__ void copied(const float *next, float *field) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    field[i] = next[i]; // NEIGHBOURS WANT IT
}

// Factors of all stages in one table, each stage at another distance.
__global__ void stages(const float2 *values, const float2 *factors, float2 *results) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, t = threadIdx.x;
    float2 value = values[i];
#pragma unroll
    for (int stage = 0; stage < 9; stage++) {
        float2 factor = factors[(t & ((1 << stage) - 1)) << (8 - stage)]; // FACTORS OF UNROLLED STAGES
        value = {value.x * factor.x - value.y * factor.y, value.x * factor.y + value.y * factor.x};
    }
    results[i] = value;
}

// The same with distances that are loaded.
__global__ void sampled(const int *distances, const float *table, float *results, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0.0f;
#pragma unroll 1
    for (int k = 0; k < count; k++) sum = sum * 0.5f + table[threadIdx.x * distances[k]]; // LOADED DISTANCE
    results[i] = sum;
}

struct Corner {
    int x, y;
};

// Corners one after the other, of some of a warp's threads.
__global__ void corners(const float *strengths, Corner *list, const int *begins) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
    bool is_corner = strengths[i] > 0.6f;
    unsigned votes = __ballot_sync(~0u, is_corner);
    if (is_corner) list[begins[i / 32] + __popc(votes & ((1u << lane) - 1))] = Corner{i % 256, i / 256}; // NEXT OF A LIST
}

struct Particle {
    float x, y, z, mass, vx, vy, vz, charge, history[8];
};

// Loads hit what stores have to bring.
__global__ void kicked(Particle *particles, float field) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float speed = particles[i].vx + field * particles[i].charge; // MEMBERS TOGETHER
    particles[i].vx = speed;
    particles[i].x += 0.01f * speed;
}

// As many blocks as the GPU runs at once go through all weights.
__global__ void weighted(const float *weights, float *results, int n) {
    float sum = 0.0f;
#pragma unroll 1
    for (int i = threadIdx.x; i < n; i += blockDim.x) sum += weights[i] * (i % 7 + blockIdx.x); // ALL AT ONCE
    results[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

// All lanes go through one list of points.
__global__ void closest(const int *points, int *results, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, least = 1 << 30;
#pragma unroll 1
    for (int k = 0; k < n; k++) {
        int x = points[k * 3] - i; // COORDINATE
        int y = points[k * 3 + 1] - i; // COORDINATE
        int z = points[k * 3 + 2] - i; // COORDINATE
        least = min(least, abs(x) + abs(y) + abs(z));
    }
    results[i] = least;
}

// Fewer elements than threads, and no loop.
__global__ void few_elements(const float *values, float *results, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) { // FEWER THAN THREADS
        float value = values[i];
        for (int k = 0; k < 64; k++) value = value * 0.5f + __expf(-value) / (1.0f + value);
        results[i] = value;
    }
}

// A list of what is seldom found.
__global__ void found(const unsigned *text, unsigned *list, unsigned *count, int n) {
    int first = blockIdx.x * blockDim.x + threadIdx.x;
#pragma unroll 1
    for (int i = first; i < n; i += gridDim.x * blockDim.x) {
        unsigned letters = text[i] * 2654435761u >> 8;
        if (letters % 16 == 3 && letters / 16 % 2 == 1) { // APPENDED
            list[atomicAdd(count, 1u)] = i;
        }
    }
}

// A column of short counters for each thread.
__global__ void quantiles(const unsigned *values, unsigned *results, int n) {
    __shared__ unsigned short counts[16][128];
    for (int k = 0; k < 16; k++) counts[k][threadIdx.x] = 0;
#pragma unroll 1
    for (int i = 0; i < n; i++) counts[values[i * 128 + threadIdx.x] % 16][threadIdx.x]++; // SHORT COLUMNS
    unsigned sum = 0;
    for (int k = 0; k < 16; k++) sum = sum * 31 + counts[k][threadIdx.x];
    results[blockIdx.x * 128 + threadIdx.x] = sum;
}

// A map of each thread's own, and data that says where in it.
__global__ void visits(const int *cells, int *maps, int steps) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
#pragma unroll 1
    for (int k = 0; k < steps; k++) maps[i * 441 + cells[k]] += 1; // MAPS OF THEIR OWN
}

// All values are doubles, and one byte is stored.
__global__ void agrees(double begin, char *results) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    double x = begin + i, y = begin - i;
#pragma unroll 1
    for (int k = 0; k < 50; k++) x = x * 0.5 + y * y * 0.25, y = y * x + 0.125; // DOUBLES THROUGHOUT
    results[i] = x < y;
}

// Seven statements take a record.
__global__ void records(const float *values, float *results) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float a = values[i * 7]; // RECORDS OF SEVEN
    float b = values[i * 7 + 1]; // RECORDS OF SEVEN
    float c = values[i * 7 + 2]; // RECORDS OF SEVEN
    float d = values[i * 7 + 3]; // RECORDS OF SEVEN
    float e = values[i * 7 + 4]; // RECORDS OF SEVEN
    float f = values[i * 7 + 5]; // RECORDS OF SEVEN
    float g = values[i * 7 + 6]; // RECORDS OF SEVEN
    results[i] = a * b + c * d + e * f + g;
}

// Tables of numbers, one of which has a name that a member has, too.
__global__ void curves(const float *values, float *results) {
    const float x[12] = {0, 1, 2, 4, 7, 9, 12, 16, 20, 25, 31, 36};
    const float steps[12] = {
        0.25f, 0.5f, 0.125f, 0.75f, 0.0625f, 2.0f, 1.5f, 3.0f,
        0.875f, 1.25f, 1.75f, 2.5f
    };
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float value = values[i], sum = 0.0f;
#pragma unroll 1
    for (int k = 0; k < 20; k++) {
        int at = int(value * 7.0f + k) % 12;
        sum += x[at]; // A TABLE
        sum *= steps[at]; // A TABLE ON LINES
    }
    results[i] = sum;
}

// Nobody uses what lies between.
__global__ void every_second(const float *values, float *results) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    results[i] = values[2 * i] * 2.0f; // EVERY SECOND ONE
}

template <class T> T *fresh(size_t n) {
    T *memory;
    cudaMalloc(&memory, n * sizeof(T));
    cudaMemset(memory, 0, n * sizeof(T));
    return memory;
}

template <class T> T *filled(const std::vector<T> &values) {
    T *memory = fresh<T>(values.size());
    cudaMemcpy(memory, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice);
    return memory;
}

unsigned mixed(unsigned i) {
    return i * 2654435761u >> 7;
}

int main(int count, char **arguments) {
    const char *only = count > 1 ? arguments[1] : "";
    auto runs = [&](const char *name) { return !strcmp(only, name); };
    const int n = 1 << 14;
    std::vector<int> order(n);
    for (int i = 0; i < n; i++) order[i] = mixed(i) % 64;
    if (runs("seeds")) seeds<<<2, 32>>>(fresh<unsigned>(64));
    if (runs("lists")) {
        std::vector<int> lengths(2048);
        for (int i = 0; i < 2048; i++) lengths[i] = 2 + mixed(i) % 40;
        nearest<<<512, 128>>>(filled(lengths), fresh<float>(2048 * 64), fresh<float>(2048));
    }
    if (runs("macro")) transposed<<<n / 128, 128>>>(filled(order), filled(order), fresh<int>(n));
    if (runs("wide")) wide_blocks<<<n / 512, 512>>>(filled(order), fresh<int>(n));
    if (runs("scratch")) {
        int *values = filled(order), scratch, sum = 0;
        doubled<<<1, 64>>>(values, fresh<int>(64));
        for (int i = 0; i < 40; i++) {
            cudaMemcpy(&scratch, &values[i / 4], sizeof(int), cudaMemcpyDeviceToHost); // ONE AFTER THE OTHER
            sum += scratch;
        }
        printf("%d\n", sum);
    }
    const int many = 1 << 20;
    if (runs("gates")) {
        float *gates = fresh<float>(4 * many), *bias = fresh<float>(4 * 1024);
        for (int gate = 0; gate < 4; gate++) activate<<<many / 256, 256>>>(gates + gate * many, bias + gate * 1024);
        update<<<many / 256, 256>>>(gates, fresh<float>(many), many);
    }
    if (runs("softmax")) {
        float *results = fresh<float>(4 * many), *sum = fresh<float>(1);
        exponentials<<<4 * many / 256, 256>>>(fresh<float>(4 * many), results, sum);
        normalised<<<4 * many / 256, 256>>>(results, sum, fresh<float>(4 * many));
    }
    if (runs("relax")) {
        float *field = fresh<float>(4 * many), *next = fresh<float>(4 * many);
        relaxed<<<4 * many / 256, 256>>>(field, next, 4 * many);
        copied<<<4 * many / 256, 256>>>(next, field);
    }
    if (runs("stages")) stages<<<n / 256, 256>>>(fresh<float2>(n), fresh<float2>(256), fresh<float2>(n));
    if (runs("distance")) {
        std::vector<int> distances = {40, 40, 72, 40, 40};
        sampled<<<n / 256, 256>>>(filled(distances), fresh<float>(256 * 72), fresh<float>(n), 5);
    }
    if (runs("corners")) {
        std::vector<float> strengths(n * 4);
        std::vector<int> begins(n * 4 / 32);
        int corner = 0;
        for (int i = 0; i < n * 4; i++) {
            if (i % 32 == 0) begins[i / 32] = corner;
            strengths[i] = mixed(i) % 1000 * 0.001f;
            corner += strengths[i] > 0.6f;
        }
        corners<<<n * 4 / 256, 256>>>(filled(strengths), fresh<Corner>(n * 4), filled(begins));
    }
    if (runs("particles")) kicked<<<4 * n / 256, 256>>>(fresh<Particle>(4 * n), 1.5f);
    if (runs("weights")) weighted<<<40, 256>>>(fresh<float>(1 << 15), fresh<float>(40 * 256), 1 << 15);
    if (runs("points")) closest<<<n / 128, 128>>>(filled(order), fresh<int>(n), 100);
    if (runs("few")) few_elements<<<1, 256>>>(fresh<float>(256), fresh<float>(256), 8);
    std::vector<unsigned> words(1 << 17);
    for (size_t i = 0; i < words.size(); i++) words[i] = mixed(i);
    if (runs("append")) found<<<64, 128>>>(filled(words), fresh<unsigned>(1 << 17), fresh<unsigned>(1), 1 << 17);
    if (runs("quantiles")) quantiles<<<64, 128>>>(filled(words), fresh<unsigned>(n), 500);
    if (runs("maps")) {
        for (int i = 0; i < n; i++) order[i] = mixed(i) % 441;
        visits<<<32, 128>>>(filled(order), fresh<int>(32 * 128 * 441), 40);
    }
    if (runs("doubles")) agrees<<<128, 128>>>(0.25, fresh<char>(n));
    if (runs("records")) records<<<n / 128, 128>>>(fresh<float>(7 * n), fresh<float>(n));
    if (runs("curves")) curves<<<n / 128, 128>>>(fresh<float>(n), fresh<float>(n));
    if (runs("second")) every_second<<<n / 128, 128>>>(fresh<float>(2 * n), fresh<float>(n));
    cudaDeviceSynchronize();
    printf("%s\n", cudaGetErrorString(cudaGetLastError()));
    return 0;
}

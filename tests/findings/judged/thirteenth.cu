// Cases of a fifteenth round of public programs (docs/design/findings.md); `// WORDS` mark lines. An argument runs a case alone.
#include <cooperative_groups.h>
#include <cstdio>
#include <cstring>
#include <vector>

#define MULTIPLY_ADD(a, b, c) { (c).x += (a).x * (b).x - (a).y * (b).y; (c).y += (a).x * (b).y + (a).y * (b).x; }

struct Complex {
    float x, y;
};

// Both operands of a macro have one place; one lies row by row, the other where an index says.
__global__ void products(const Complex *weights, const Complex *states, const int *chosen, Complex *sums) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    Complex sum = {0.0f, 0.0f};
#pragma unroll 1
    for (int j = 0; j < 12; j++) {
        MULTIPLY_ADD(weights[i * 12 + j], states[chosen[i] * 12 + j], sum) // TWO OPERANDS
    }
    sums[i] = sum;
}

// A thread's rows of a dynamic program: 3000 bytes for each thread.
__global__ void align(const int *lengths, const char *text, int *scores, int rounds) {
    short row[1500] = {0};
    int i = blockIdx.x * blockDim.x + threadIdx.x, length = lengths[i];
    int best = 0;
    for (int r = 0; r < rounds; r++) {
        for (int j = 1; j < length; j++) {
            row[j] = max(row[j - 1], row[j]) + (text[j] == text[r]); // LONG ROW
        }
    }
    for (int j = 0; j < length; j++) best = max(best, (int)row[j]);
    scores[i] = best;
}

// The border of a volume has nothing to add: of a block's rows, one lane each.
__global__ void forces(const double *field, double *force, double *other, int n) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    int at = y * n + x;
    if (x > 0 && x < n - 1) { // BORDER OF A FIELD
        double slope = field[at + 1] - field[at - 1];
        for (int k = 0; k < 6; k++) slope = slope * 0.5 + field[at];
        force[at] = slope;
        other[at] = slope * slope;
    } else {
        double held = y;
        for (int k = 0; k < 20; k++) held = held * 0.25 + k;
        force[at] = held; // AT THE BORDER
        other[at] = 0.5 * held;
    }
}

// A column of zeros around a picture that other kernels go through in blocks of eight times eight threads.
__global__ void pad(float *picture, int rows, int width) {
    int y = blockIdx.x * blockDim.x + threadIdx.x;
    if (y < rows) picture[y * width] = 0.0f; // BORDER COLUMN
}

__global__ void smooth(const float *picture, float *smoothed, int width) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    smoothed[y * width + x] = 0.5f * (picture[y * width + x] + picture[y * width + x + 1]);
}

// A polynomial for small values, another one for large ones.
__global__ void errors(const float *values, float *results) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = values[i], y;
    if (x < 0.8f) { // CASES OF A FUNCTION
        y = x;
#pragma unroll
        for (int k = 0; k < 40; k++) y = y * x + 0.1f * k;
    } else {
        y = 1.0f / x;
#pragma unroll
        for (int k = 0; k < 40; k++) y = y / (x + k);
    }
    results[i] = y;
}

// A checksum: what the table says decides where to look next.
__global__ void checksums(const unsigned char *text, const unsigned long long *table, unsigned long long *sums, int bytes) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned long long sum = ~0ull;
    for (int k = 0; k < bytes; k++) {
        unsigned at = (sum ^ text[k * gridDim.x * blockDim.x + i]) & 1023;
        sum = table[at] ^ (sum >> 8); // CHECKSUM
    }
    sums[i] = sum;
}

// Cyclic reduction: the step doubles, and half of the threads are left.
__global__ void cyclic(float *rows) {
    __shared__ float row[128];
    int t = threadIdx.x;
    for (int k = 0; k < 2; k++) row[t + 64 * k] = rows[blockIdx.x * 128 + 64 * k + t];
    __syncthreads();
    int threads = 64, step = 1;
    while (threads > 1) {
        if (t < threads) {
            int i = 2 * step * t + 2 * step - 1;
            row[i] = 0.5f * row[i] + row[i - step]; // STEPS DOUBLE
        }
        step *= 2;
        threads /= 2;
        __syncthreads();
    }
    rows[blockIdx.x * 128 + t] = row[t] + row[t + 64];
}

// An inclusive scan within the warp.
__global__ void scans(const int *values, int *results) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31;
    int sums[16];
#pragma unroll
    for (int k = 0; k < 16; k++) sums[k] = values[i] * k;
#pragma unroll
    for (int step = 1; step < 32; step *= 2) {
        int got = __shfl_up_sync(~0u, sums[15], step);
        if (lane >= step) { // STEP OF A SCAN
#pragma unroll
            for (int k = 0; k < 16; k++) sums[k] = sums[k] * got + k;
        }
    }
    int all = 0;
#pragma unroll
    for (int k = 0; k < 16; k++) all ^= sums[k];
    results[i] = all;
}

// A flag of the block that any thread raises.
__global__ void flags(const int *values, int *results, int rounds) {
    __shared__ unsigned raised;
    if (threadIdx.x == 0) raised = 0;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = 0; k < rounds; k++) {
        if (values[i] > k) atomicExch(&raised, 1); // FLAG
    }
    __syncthreads();
    results[i] = raised;
}

struct Pair {
    float4 first, second;
};

__global__ void copy_pairs(const Pair *from, Pair *to, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) to[i] = from[i]; // PAIRS
}

// Three points of a curve, which all lanes of a warp read once.
__global__ void curves(const float2 *points, float2 *results, int used) {
    int curve = blockIdx.x;
    float u = threadIdx.x / 32.0f;
    if (threadIdx.x < used) { // HALF A WARP
        float2 at = {0.0f, 0.0f};
#pragma unroll 1
        for (int k = 0; k < 3; k++) {
            float2 point = points[curve * 3 + k]; // POINTS
            for (int j = 0; j < 8; j++) {
                at.x = at.x * u + point.x;
                at.y = at.y * u + point.y;
            }
        }
        results[curve * 32 + threadIdx.x] = at;
    }
}

// Eight words of a thread, each at a column of its own.
__global__ void eight(const int *words, int *sums, int n) {
    int all = 0;
    for (int i = (blockIdx.x * blockDim.x + threadIdx.x) * 8; i < n; i += blockDim.x * gridDim.x * 8) {
        all += words[i] + words[i + 1] * 3 + words[i + 2] * 5 + words[i + 3] * 7 + words[i + 4] * 9 + words[i + 5] * 11 + words[i + 6] * 13 + words[i + 7] * 15; // EIGHT WORDS
    }
    sums[blockIdx.x * blockDim.x + threadIdx.x] = all;
}

// A row of a sparse matrix for each thread; unrolling puts an iteration before the loop.
__global__ void sparse(const size_t *begins, const size_t *columns, const float *values, const float *x, float *y, size_t rows) {
    size_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < rows) {
        size_t begin = begins[i], end = begins[i + 1];
        float sum = 0.0f;
        for (size_t k = begin; k < end; k++) {
            sum += values[k] * x[columns[k]]; // ROW OF A LIST
        }
        y[i] = sum;
    }
}

struct Slot {
    unsigned key, value;
};

// A hash table whose slots threads look up one after the other.
__global__ void erase(Slot *table, const unsigned *keys, unsigned mask) {
    unsigned key = keys[blockIdx.x * blockDim.x + threadIdx.x];
    unsigned slot = key * 2654435761u >> 7 & mask;
    while (true) {
        if (table[slot].key == key) { // SLOT
            table[slot].value = ~0u; // FOUND
            return;
        }
        if (table[slot].key == ~0u) return;
        slot = (slot + 1) & mask;
    }
}

// What each of several parts has; none uses the second one.
struct Member {
    int *state, *spare;
};

// A hash table in two arrays: who swaps its key in takes the next number.
__global__ void insert(unsigned *keys, unsigned *numbers, unsigned *count, unsigned slots, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned key = i / 2, slot = (key * 2654435761u ^ key >> 3) % slots;
    while (true) {
        unsigned before = atomicCAS(keys + slot, ~0u, key);
        if (before == ~0u) {
            numbers[slot] = atomicAdd(count, 1); // NUMBERED
            break;
        } else if (before == key) {
            break;
        }
        slot = (slot + 1) % slots;
    }
}

// Blocks of sixteen times sixteen threads: no padding keeps both their rows and their columns apart.
__global__ void turn(const float *from, float *to, int width) {
    __shared__ float tile[16][17];
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    tile[threadIdx.y][threadIdx.x] = from[y * width + x]; // ROWS OF SIXTEEN
    __syncthreads();
    to[(blockIdx.x * 16 + threadIdx.y) * width + blockIdx.y * 16 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}

// Entries of each thread, at the pitch of the entries instead of the threads.
__global__ void shuffled(const int *seeds, int *results) {
    __shared__ int entries[16 * 16 + 128];
    int t = threadIdx.x, seed = seeds[blockIdx.x * blockDim.x + t];
    for (int k = 15; k >= 0; k--) {
        seed = seed * 16807 + k;
        entries[16 * k + t] = seed; // OWN ENTRIES
    }
    results[blockIdx.x * blockDim.x + t] = entries[16 * (seed & 15) + t];
}

// Colliding updates: one operation for each lane, or for each warp where the GPU merges them.
__global__ void collide(int *sum, const int *values) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(sum, values[i]); // COLLIDES
}

// The first warp's lanes wait for those of the second one, which are done one after the other.
__global__ void waits(volatile int *done, float *values) {
    int t = threadIdx.x;
    volatile int *of_block = done + 32 * blockIdx.x;
    float value = t;
    if (t >= 32) {
        for (int k = 0; k < 32; k++) {
            for (int j = 0; j < 16; j++) value = value * 0.5f + k;
            if (t - 32 == k) of_block[k] = 1; // RAISED ONCE
        }
    } else {
        while (of_block[t] == 0) {
        }
        value *= 2.0f;
    }
    values[blockIdx.x * 64 + t] = value;
}

__global__ void set(int *result, int value) {
    *result = value;
}

template <class T> T *fresh(size_t n) {
    T *memory;
    cudaMalloc(&memory, n * sizeof(T));
    cudaMemset(memory, 1, n * sizeof(T));
    return memory;
}

int main(int count, char **arguments) {
    const char *only = count > 1 ? arguments[1] : "";
    auto runs = [&](const char *name) { return count < 2 ? strcmp(name, "nothing") && strcmp(name, "narrow") : !strcmp(only, name); };
    const int n = 1 << 14;
    if (runs("operands")) {
        Complex *weights = fresh<Complex>(n * 12), *states = fresh<Complex>(n * 12), *sums = fresh<Complex>(n);
        std::vector<int> order(n);
        for (int i = 0; i < n; i++) order[i] = (i * 733) % n;
        int *chosen = fresh<int>(n);
        cudaMemcpy(chosen, order.data(), n * sizeof(int), cudaMemcpyHostToDevice);
        products<<<n / 128, 128>>>(weights, states, chosen, sums);
    }
    if (runs("rows")) {
        std::vector<int> all(1024, 300);
        int *lengths = fresh<int>(1024), *scores = fresh<int>(1024);
        cudaMemcpy(lengths, all.data(), 1024 * sizeof(int), cudaMemcpyHostToDevice);
        align<<<8, 128>>>(lengths, fresh<char>(1500), scores, 8);
    }
    if (runs("border") || runs("narrow")) {
        int width = runs("narrow") ? 8 : 16;
        double *field = fresh<double>(n), *force = fresh<double>(n), *other = fresh<double>(n);
        forces<<<dim3(width / 8, n / width / 8), dim3(8, 8)>>>(field, force, other, width);
    }
    if (runs("column")) {
        float *picture = fresh<float>(n + 1);
        for (int k = 0; k < 8; k++) pad<<<4, 64>>>(picture, 256, 64);
        smooth<<<dim3(8, 32), dim3(8, 8)>>>(picture, fresh<float>(n), 64);
    }
    if (runs("cases")) {
        std::vector<float> mixed(n);
        for (int i = 0; i < n; i++) mixed[i] = (i * 733 % 100) * 0.016f;
        float *values = fresh<float>(n), *results = fresh<float>(n);
        cudaMemcpy(values, mixed.data(), n * sizeof(float), cudaMemcpyHostToDevice);
        errors<<<n / 128, 128>>>(values, results);
    }
    if (runs("checksums")) {
        std::vector<unsigned long long> polynomials(1024);
        for (int i = 0; i < 1024; i++) polynomials[i] = i * 0x9E3779B97F4A7C15ull;
        unsigned long long *table = fresh<unsigned long long>(1024), *sums = fresh<unsigned long long>(n);
        cudaMemcpy(table, polynomials.data(), 8192, cudaMemcpyHostToDevice);
        std::vector<unsigned char> letters(n * 16);
        for (int i = 0; i < n * 16; i++) letters[i] = i * 733 >> 3;
        unsigned char *text = fresh<unsigned char>(n * 16);
        cudaMemcpy(text, letters.data(), n * 16, cudaMemcpyHostToDevice);
        checksums<<<n / 128, 128>>>(text, table, sums, 16);
    }
    if (runs("cyclic")) cyclic<<<256, 64>>>(fresh<float>(256 * 128));
    if (runs("scans")) scans<<<n / 128, 128>>>(fresh<int>(n), fresh<int>(n));
    if (runs("flags")) flags<<<n / 128, 128>>>(fresh<int>(n), fresh<int>(n), 16);
    if (runs("pairs")) copy_pairs<<<n / 128, 128>>>(fresh<Pair>(n), fresh<Pair>(n), n);
    if (runs("curves")) {
        for (int i = 0; i < 8; i++) curves<<<1, 32>>>(fresh<float2>(3), fresh<float2>(32), 14);
    }
    if (runs("eight")) eight<<<32, 128>>>(fresh<int>(n * 8), fresh<int>(32 * 128), n * 8);
    if (runs("collide")) collide<<<n / 128, 128>>>(fresh<int>(1), fresh<int>(n));
    if (runs("sparse")) {
        const size_t rows = 4096;
        std::vector<size_t> begins(1), columns;
        for (size_t i = 0; i < rows; i++) {
            for (size_t k = 0; k < 12 + i * 7 % 16; k++) columns.push_back((i * 733 + k * k * 57) % rows);
            begins.push_back(columns.size());
        }
        size_t *first = fresh<size_t>(rows + 1), *column = fresh<size_t>(columns.size());
        cudaMemcpy(first, begins.data(), (rows + 1) * sizeof(size_t), cudaMemcpyHostToDevice);
        cudaMemcpy(column, columns.data(), columns.size() * sizeof(size_t), cudaMemcpyHostToDevice);
        sparse<<<rows / 64, 64>>>(first, column, fresh<float>(columns.size()), fresh<float>(rows), fresh<float>(rows), rows);
    }
    if (runs("slots")) {
        std::vector<Slot> filled(1 << 16, Slot{~0u, 0});
        std::vector<unsigned> known;
        for (unsigned i = 1; known.size() < n; i++) {
            unsigned slot = i * 2654435761u >> 7 & 0xFFFF;
            while (filled[slot].key != ~0u) slot = (slot + 1) & 0xFFFF;
            filled[slot].key = i;
            known.push_back(i);
        }
        Slot *table = fresh<Slot>(1 << 16);
        unsigned *keys = fresh<unsigned>(n);
        cudaMemcpy(table, filled.data(), filled.size() * sizeof(Slot), cudaMemcpyHostToDevice);
        cudaMemcpy(keys, known.data(), n * sizeof(unsigned), cudaMemcpyHostToDevice);
        erase<<<n / 128, 128>>>(table, keys, 0xFFFF);
    }
    if (runs("members")) {
        static Member members[16];
        for (int i = 0; i < 16; i++) {
            cudaMalloc(&members[i].state, n * sizeof(int));
            cudaMalloc(&members[i].spare, n * sizeof(int)); // SPARE
            shuffled<<<n / 128, 128>>>(members[i].state, fresh<int>(n));
        }
    }
    if (runs("numbers")) {
        unsigned *keys = fresh<unsigned>(1 << 16);
        cudaMemset(keys, 255, (1 << 16) * sizeof(unsigned));
        insert<<<n / 128, 128>>>(keys, fresh<unsigned>(1 << 16), fresh<unsigned>(1), 65521, n);
    }
    if (runs("turn")) turn<<<dim3(8, 8), dim3(16, 16)>>>(fresh<float>(n), fresh<float>(n), 128);
    if (runs("entries")) shuffled<<<n / 128, 128>>>(fresh<int>(n), fresh<int>(n));
    if (runs("waits")) {
        int *done = fresh<int>(32 * 32);
        cudaMemset(done, 0, 32 * 32 * sizeof(int));
        waits<<<32, 64>>>(done, fresh<float>(32 * 64));
    }
    if (runs("copies")) {
        // Two of many rounds bring the same.
        std::vector<int> round(2048);
        int *steps = fresh<int>(2048);
        for (int i = 0; i < 64; i++) {
            round[7] = i < 4 ? 1 : i;
            cudaMemcpy(steps, round.data(), 2048 * sizeof(int), cudaMemcpyHostToDevice); // ROUNDS
        }
        set<<<1, 32>>>(steps, 1);
    }
    if (runs("nothing")) {
        int *result = fresh<int>(1);
        for (int i = 0; i < 4; i++) set<<<1, 1>>>(result, i); // NEXT TO NOTHING
    }
    cudaDeviceSynchronize();
    printf("%s\n", cudaGetErrorString(cudaGetLastError()));
    return 0;
}

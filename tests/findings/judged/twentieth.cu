// Cases of a twenty-first round (docs/design/findings.md); `// WORDS` mark lines. An argument chooses the case.
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

// A warp for each track, whose points end where the data says; tracks lie padded to the longest one.
__global__ void lengths_of_tracks(const float2 *points, const int *begin, const int *count, float *sums, int tracks) {
    int track = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (track >= tracks) return;
    const float2 *own = points + begin[track];
    float sum = 0.0f;
    for (int at = lane; at < count[track]; at += 32) sum += own[at].x * own[at].y;
    for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(~0u, sum, step);
    if (lane == 0) sums[track] = sum;
}

static void padded_tracks() {
    const int tracks = 8192, longest = 256;
    std::vector<float2> points(tracks * longest, make_float2(1.0f, 2.0f));
    std::vector<int> begin(tracks), count(tracks);
    for (int track = 0; track < tracks; track++) {
        begin[track] = track * longest;
        count[track] = track % 50 ? 16 + mixed(track) % 40 : longest;
    }
    float2 *device = fresh<float2>(points.size());
    cudaMemcpy(device, points.data(), points.size() * sizeof(float2), cudaMemcpyHostToDevice); // PADDED TRACKS
    lengths_of_tracks<<<tracks / 8, 256>>>(device, filled(begin), filled(count), fresh<float>(tracks), tracks);
}

// A table of rows of which data chooses a few: all of these, and nothing of the others.
__global__ void chosen_rows(const float *table, const int *rows, float *sums, int count) {
    int at = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (at >= count) return;
    float sum = 0.0f;
    for (int k = lane; k < 256; k += 32) sum += table[rows[at] * 256 + k];
    for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(~0u, sum, step);
    if (lane == 0) sums[at] = sum;
}

static void chosen() {
    const int all = 16384, count = 4096;
    std::vector<float> table(all * 256, 1.0f);
    std::vector<int> rows(count);
    for (int at = 0; at < count; at++) rows[at] = mixed(at) % all;
    float *device = fresh<float>(table.size());
    cudaMemcpy(device, table.data(), table.size() * sizeof(float), cudaMemcpyHostToDevice); // CHOSEN ROWS
    chosen_rows<<<count / 8, 256>>>(device, filled(rows), fresh<float>(count), count);
}

// Sums of pairs in place, each level twice as far apart.
__global__ void pyramid(float *values) {
    __shared__ float level[2048];
    for (int i = threadIdx.x; i < 2048; i += 256) level[i] = values[blockIdx.x * 2048 + i];
    __syncthreads();
    for (int apart = 1; apart < 2048; apart *= 2) {
        int pairs = 2048 / (2 * apart);
        for (int pair = threadIdx.x; pair < pairs; pair += 256) {
            float one = level[2 * pair * apart];           // LEVELS
            float other = level[2 * pair * apart + apart]; // LEVELS
            level[2 * pair * apart] = one + other;         // LEVELS
            level[2 * pair * apart + apart] = one - other; // LEVELS
        }
        __syncthreads();
    }
    for (int i = threadIdx.x; i < 2048; i += 256) values[blockIdx.x * 2048 + i] = level[i];
}

// Channels lie side by side, and the block's first index counts samples.
__global__ void scaled(float2 *volume, const float *weights, int channels, int samples) {
    int sample = blockIdx.x * blockDim.x + threadIdx.x, channel = blockIdx.y * blockDim.z + threadIdx.z;
    int shot = blockIdx.z * blockDim.y + threadIdx.y;
    float2 value = volume[(shot * samples + sample) * channels + channel]; // ONE EXCHANGE
    float by = weights[sample];
    volume[(shot * samples + sample) * channels + channel] = make_float2(value.x * by, value.y * by); // ONE EXCHANGE
}

// A block goes over its 256 KiB once for each result.
__global__ void __launch_bounds__(1024) results(const float *bands, const float *factors, float *out) {
    const float *own = bands + blockIdx.x * 65536;
#pragma unroll 1
    for (int result = 0; result < 10; result++) {
        float sum = 0.0f;
        for (int band = 0; band < 64; band++) sum += factors[result] * own[band * 1024 + threadIdx.x]; // EACH RESULT
        out[(blockIdx.x * 10 + result) * 1024 + threadIdx.x] = sum;
    }
}

// Two bounds for each step, the same for all lanes.
__global__ void outside(const float *series, const float *lower, const float *upper, float *out, int steps) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0.0f;
    for (int k = 0; k < steps; k++) {
        float value = series[i];
        float below = lower[k] - value; // BOUNDS
        float above = value - upper[k]; // BOUNDS
        sum += fmaxf(fmaxf(below, above), 0.0f) * k;
    }
    out[i] = sum;
}

__constant__ float first_table[64], second_table[64];

__device__ __forceinline__ float found(const float *table, unsigned value) {
    return table[value % 64]; // ONE OF TWO TABLES
}

__global__ void looked_up(const unsigned *values, float *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned value = values[i];
    out[i] = found(first_table, value) * found(second_table, value / 64);
}

// Three steps, a kernel each; the last one needs what the first one has loaded.
__global__ void decayed(float *slope, const float *weight) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    slope[i] = slope[i] * 0.5f + 0.1f * weight[i]; // STEPS OF ONE
}

__global__ void gathered(float *speed, const float *slope) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    speed[i] = speed[i] * 0.9f + slope[i]; // STEPS OF ONE
}

__global__ void moved(float *weight, const float *slope, const float *speed) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    weight[i] -= 0.01f * (slope[i] + speed[i]); // STEPS OF ONE
}

// Values that lie anywhere, some of them more often than others.
__global__ void counted(const unsigned *values, unsigned *counts, float *out) {
    __shared__ unsigned own[256];
    for (int i = threadIdx.x; i < 256; i += blockDim.x) own[i] = 0;
    __syncthreads();
    float sum = 0.0f;
    for (int k = 0; k < 8; k++) {
        unsigned value = values[(blockIdx.x * 8 + k) * blockDim.x + threadIdx.x];
        atomicAdd(&own[value % 256], 1u); // BY CHANCE
#pragma unroll
        for (int step = 0; step < 16; step++) sum = sum * 0.5f + value;
    }
    __syncthreads();
    for (int i = threadIdx.x; i < 256; i += blockDim.x) counts[blockIdx.x * 256 + i] = own[i];
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

struct Matrix {
    float2 element[3][3];
};

struct Site {
    Matrix link[4];
    int place[8];
};

// Thirty-six threads for a site, each with a row of one of its matrices.
__global__ void products(const Site *sites, const Matrix *factors, Site *out, int count) {
    int id = blockIdx.x * blockDim.x + threadIdx.x, site = id / 36;
    if (site >= count) return;
    int link = id % 36 / 9, row = id % 9 / 3, column = id % 3;
    float2 sum = make_float2(0.0f, 0.0f);
    for (int k = 0; k < 3; k++) {
        float2 one = sites[site].link[link].element[row][k]; // WITHIN A SITE
        float2 other = factors[link].element[k][column];     // WITHIN A SITE
        sum.x += one.x * other.x - one.y * other.y;
        sum.y += one.x * other.y + one.y * other.x;
    }
    out[site].link[link].element[row][column] = sum; // WITHIN A SITE
}

// Positions that one kernel moves in place and the next one corrects in place, an element for each thread.
__global__ void foreseen(float *place, const float *speed) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    place[i] += 0.5f * speed[i];
}

__global__ void corrected(float *place, float *speed, const float *seen) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float off = seen[i] - place[i]; // CHANGED IN PLACE TWICE
    place[i] += 0.6f * off;
    speed[i] += 0.2f * off;
}

// A thread for each of four quantities, each of them a loop of its own.
__device__ float first_part(float value) {
    float sum = 0.0f;
    for (int k = 0; k < 40; k++) sum += __expf(-value * k);
    return sum;
}

__device__ float second_part(float value) {
    float sum = 0.0f, turn = 0.0f;
    for (int k = 0; k < 40; k++) turn += value * k, sum += __cosf(turn);
    return sum;
}

__device__ float third_part(float value) {
    float sum = 0.0f, turn = 0.0f;
    for (int k = 0; k < 40; k++) turn += value * k, sum += __sinf(turn) * k;
    return sum;
}

__device__ float fourth_part(float value) {
    float sum = 0.0f;
    for (int k = 0; k < 40; k++) sum += sqrtf(value + k) * k;
    return sum;
}

__global__ void quantities(const float *values, float *out, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float value = values[i / 4], result = 0.0f;
    switch (i % 4) { // FOUR LOOPS
    case 0: result = first_part(value); break;
    case 1: result = second_part(value); break;
    case 2: result = third_part(value); break;
    case 3: result = fourth_part(value); break;
    }
    out[i % 4 * count + i / 4] = result;
}

// The host permutes what has come back into other memory of its own.
__global__ void changed(float *values, int step) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    values[i] += (i * 7 + step) % 13 * 0.01f;
}

static void bred() {
    const int count = 1 << 18;
    float *values = zeros<float>(count), *host, *next;
    cudaMallocHost(&host, count * sizeof(float));
    cudaMallocHost(&next, count * sizeof(float));
    for (int step = 0; step < 6; step++) {
        changed<<<count / 256, 256>>>(values, step);
        cudaMemcpy(host, values, count * sizeof(float), cudaMemcpyDeviceToHost); // BRED ON THE HOST
        for (int i = 0; i < count; i++) next[i] = host[mixed(i + step) % count];
        cudaMemcpy(values, next, count * sizeof(float), cudaMemcpyHostToDevice);
    }
}

// Three figures of each region, whose cells lie side by side.
__global__ void measured(const int *region, int *area, int *least, int *most, int width) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int own = region[i];
    atomicAdd(&area[own], 1);         // FIGURES OF A REGION
    atomicMin(&least[own], i % width); // FIGURES OF A REGION
    atomicMax(&most[own], i % width);  // FIGURES OF A REGION
}

// The row comes from threadIdx.x, also of neighbours that are held within the picture.
__global__ void relief(const float *height, float *out, int width, int rows) {
    int row = blockIdx.x * blockDim.x + threadIdx.x, column = blockIdx.y * blockDim.y + threadIdx.y;
    int left = max(column - 1, 0), right = min(column + 1, width - 1), up = max(row - 1, 0), down = min(row + 1, rows - 1);
    float across = height[row * width + right] - height[row * width + left]; // RELIEF
    float along = height[down * width + column] - height[up * width + column]; // RELIEF
    out[row * width + column] = across * across + along * along; // RELIEF
}

// A window of three by three that is held within the picture, whose rows are whole sectors.
__global__ void blurred(const float *picture, float *out, int width, int rows) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    float sum = 0.0f;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++) {
            int column = min(max(x + dx, 0), width - 1), row = min(max(y + dy, 0), rows - 1);
            sum += picture[row * width + column]; // A WINDOW
        }
    out[y * width + x] = sum / 9.0f;
}

// Each layer has a field and, needed or not, room for more.
class Field {
public:
    explicit Field(size_t count) { cudaMalloc(&values_, count * sizeof(float)); } // FIELDS
    ~Field() { cudaFree(values_); }
    Field(const Field &) = delete;
    float *values() const { return values_; }

private:
    float *values_ = nullptr;
};

class Layer {
public:
    explicit Layer(size_t count)
        : field_(count),
          spare_(9 * count) {} // ROOM FOR MORE
    void run() { changed<<<1024, 256>>>(field_.values(), 1); }

private:
    Field field_;
    Field spare_;
};

// Rows of an odd number of bytes, all of which are written.
__global__ void coded(const float *values, unsigned char *codes, int row) {
    for (int i = threadIdx.x; i < row; i += 32) codes[blockIdx.x * row + i] = values[i] * 4; // ODD ROWS
}

// Memory of a vector is pinned by a pointer to it.
static void pinned() {
    const int count = 1 << 20;
    std::vector<float> values(count, 1.0f);
    float *host = values.data(), *device = fresh<float>(count);
    cudaHostRegister(host, count * sizeof(float), cudaHostRegisterDefault);
    for (int turn = 0; turn < 3; turn++) {
        host[turn] = 2.0f;
        cudaMemcpyAsync(device, host, count * sizeof(float), cudaMemcpyHostToDevice); // PINNED BY ANOTHER NAME
        changed<<<count / 256, 256>>>(device, turn);
        cudaMemcpyAsync(host, device, count * sizeof(float), cudaMemcpyDeviceToHost); // PINNED BY ANOTHER NAME
    }
    cudaDeviceSynchronize();
    cudaHostUnregister(host);
}

// A target of three fields for each turn.
class Target {
public:
    explicit Target(size_t count) : colour(count), depth(count), normal(count) {}
    Field colour, depth, normal;
};

static void drawn(int count) {
    Target target(count); // A TARGET EACH
    changed<<<count / 256, 256>>>(target.colour.values(), 1);
    changed<<<count / 256, 256>>>(target.depth.values(), 2);
    changed<<<count / 256, 256>>>(target.normal.values(), 3);
}

int main(int count, char **arguments) {
    auto runs = [&](const char *name) { return count < 2 || !strcmp(arguments[1], name); };
    const int n = 1 << 18;
    if (runs("padded")) padded_tracks();
    if (runs("chosen")) chosen();
    if (runs("pyramid")) pyramid<<<512, 256>>>(zeros<float>(512 * 2048));
    if (runs("scaled"))
        scaled<<<dim3(8, 128, 2), dim3(8, 4, 8)>>>(zeros<float2>(8 * 64 * 1024), zeros<float>(64), 1024, 64);
    if (runs("results")) results<<<108, 1024>>>(zeros<float>(108 * 65536), zeros<float>(16), fresh<float>(108 * 10 * 1024));
    if (runs("outside")) outside<<<n / 256, 256>>>(zeros<float>(n), zeros<float>(64), zeros<float>(64), fresh<float>(n), 64);
    if (runs("tables")) {
        std::vector<unsigned> values(n);
        for (int i = 0; i < n; i++) values[i] = mixed(i);
        looked_up<<<n / 256, 256>>>(filled(values), fresh<float>(n));
    }
    if (runs("steps")) {
        const int large = 6 << 20;
        float *slope = zeros<float>(large), *weight = zeros<float>(large), *speed = zeros<float>(large);
        decayed<<<large / 256, 256>>>(slope, weight);
        gathered<<<large / 256, 256>>>(speed, slope);
        moved<<<large / 256, 256>>>(weight, slope, speed);
    }
    if (runs("counted")) {
        std::vector<unsigned> values(n * 8);
        for (size_t i = 0; i < values.size(); i++) values[i] = mixed(i) % 256 * (mixed(i + 7) % 256) / 256;
        counted<<<n / 256, 256>>>(filled(values), fresh<unsigned>(n), fresh<float>(n));
    }
    if (runs("sites")) {
        const int sites = 16384;
        products<<<(sites * 36 + 255) / 256, 256>>>(zeros<Site>(sites), zeros<Matrix>(4), zeros<Site>(sites), sites);
    }
    if (runs("tracks")) {
        const int large = 6 << 20;
        float *place = zeros<float>(large), *speed = zeros<float>(large), *seen = zeros<float>(large);
        foreseen<<<large / 256, 256>>>(place, speed);
        corrected<<<large / 256, 256>>>(place, speed, seen);
    }
    if (runs("quantities")) quantities<<<n / 256, 256>>>(zeros<float>(n / 4), fresh<float>(n), n / 4);
    if (runs("bred")) bred();
    if (runs("regions")) {
        std::vector<int> region(n * 8);
        for (size_t i = 0; i < region.size(); i++) region[i] = i / 40 % 1024;
        measured<<<n / 32, 256>>>(filled(region), zeros<int>(1024), zeros<int>(1024), zeros<int>(1024), 1024);
    }
    if (runs("relief")) relief<<<dim3(16, 128), dim3(32, 8)>>>(zeros<float>(n * 2), fresh<float>(n * 2), 1024, 512);
    if (runs("window")) blurred<<<dim3(8, 256), 128>>>(zeros<float>(n), fresh<float>(n), 1024, 256);
    if (runs("layers")) {
        Layer first(n), second(n);
        first.run();
        second.run();
    }
    if (runs("odd")) coded<<<4096, 32>>>(zeros<float>(513), fresh<unsigned char>(4096 * 513), 513);
    if (runs("pinned")) pinned();
    if (runs("targets"))
        for (int turn = 0; turn < 10; turn++) drawn(n);
    return cudaDeviceSynchronize() != cudaSuccess;
}

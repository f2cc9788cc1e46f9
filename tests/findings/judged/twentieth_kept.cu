// Cases of what the twentieth round mended, and of the one after it (docs/design/findings.md); `// WORDS` mark lines. An argument chooses the case.
#include <cstring>
#include <utility>
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

// Elements that are wider than any access.
typedef double Wide __attribute__((ext_vector_type(4)));

__global__ void rows_copied(const Wide *from, Wide *to, int each) {
    for (int i = threadIdx.x; i < each; i += blockDim.x)
        to[blockIdx.x * each + i] = from[blockIdx.x * each + i]; // HALVES
}

// A step through tiles in shared memory, and one that takes its result back.
__global__ void smoothed(const float *from, float *to, int width, int height) {
    __shared__ float tile[18][34];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y, at = y * width + x;
    int row = threadIdx.y + 1, column = threadIdx.x + 1;
    tile[row][column] = from[at]; // STAGED
    if (threadIdx.x == 0 && x > 0) tile[row][0] = from[at - 1];
    if (threadIdx.x == 31 && x < width - 1) tile[row][33] = from[at + 1];
    if (threadIdx.y == 0 && y > 0) tile[0][column] = from[at - width];
    if (threadIdx.y == 15 && y < height - 1) tile[17][column] = from[at + width];
    __syncthreads();
    to[at] = 0.2f * (tile[row][column] + tile[row][column - 1] + tile[row][column + 1] + tile[row - 1][column] +
                     tile[row + 1][column]);
}

__global__ void taken_back(const float *from, float *to, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) to[i] = from[i] * 0.99f;
}

// The same of neighbours in memory, of which the host exchanges input and output after each step.
__global__ void relaxed(const float *from, float *to, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > 0 && i < count - 1) to[i] = 0.25f * from[i - 1] + 0.5f * from[i] + 0.25f * from[i + 1]; // CHANGE PLACES
}

// Sums that the host clears for each launch.
__global__ void correlated(const float *map, float *sums, int shift, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(&sums[i % 4096], map[i] * shift); // CLEARED EACH TIME
}

// Data that the program makes for itself, in the place of what comes from elsewhere.
__global__ void made_up(float4 *samples) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    samples[i] = make_float4(i, i + 1, i + 2, i + 3);
}

__global__ void used(const float4 *samples, float *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 sample = samples[i]; // MADE UP
    out[i] = sample.x * sample.y + sample.z * sample.w;
}

// One condition on two lines.
__global__ void one_number(float *values, const float *others, float *sums, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, part = threadIdx.x % 4;
    float sum = values[i];
    if (part == 0) { // ONE NUMBER
        for (int k = 0; k < count; k++) sum = sum * 0.5f + others[(i + k * 32) % 65536];
    }
    values[i] = sum;
    if (part == 0) sums[i] = sum + 1.0f; // ONE NUMBER
}

// Levels of a graph: threads of a block give a vertex one value or another.
__global__ void levels(const int *edges, int *level, const int *extra, int *seen, int step, int count) {
    for (int i = threadIdx.x; i < count; i += blockDim.x) {
        int to = edges[i];
        if (extra[i] == 0) {
            level[to] = step + 1; // ONE BRANCH
            atomicAdd(&seen[0], 1);
        } else {
            level[to] = step + extra[i]; // OTHER BRANCH
            atomicMax(&seen[1], extra[i]);
        }
    }
}

// A benchmark of two kernels, each repeated on the same data.
__global__ void shuffled(const float *from, float *to, int rows, int row) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    to[blockIdx.y * row + i] = from[blockIdx.y * 7 % rows * row + i]; // REPEATED
}

__global__ void turned(const float *from, float *to, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    to[i] = -from[i]; // REPEATED
}

// A work array that one kernel makes of neighbours and the next one reads, for two fields by turns.
__global__ void sloped(const float *field, float *slope, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    slope[i] = field[i < count - 1 ? i + 1 : i] - field[i > 0 ? i - 1 : i];
}

__global__ void squared(const float *slope, float *sum) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    sum[i] = slope[i] * slope[i]; // HANDED ON EACH TIME
}

__global__ void let_go(float *field, const float *sum) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    field[i] -= 0.1f * sum[i];
}

static void few_equal_copies() {
    const int count = 1 << 18;
    std::vector<float> host(count, 1.0f);
    float *device = fresh<float>(count), *out = fresh<float>(count);
    for (int turn = 0; turn < 30; turn++) {
        if (turn % 15 != 7) host[turn] = 2.0f + turn;
        cudaMemcpy(device, host.data(), count * sizeof(float), cudaMemcpyHostToDevice); // TWO OF THIRTY
        taken_back<<<count / 256, 256>>>(device, out, count);
    }
}

int main(int, char **arguments) {
    auto runs = [&](const char *name) { return !strcmp(arguments[1], name); };
    const int large = 3 << 19, width = 1536, height = large / width;
    if (runs("halves")) rows_copied<<<256, 64>>>(zeros<Wide>(256 * 512), fresh<Wide>(256 * 512), 512);
    if (runs("staged")) {
        float *one = zeros<float>(large), *other = zeros<float>(large);
        for (int step = 0; step < 5; step++) {
            smoothed<<<dim3(width / 32, height / 16), dim3(32, 16)>>>(one, other, width, height);
            taken_back<<<large / 256, 256>>>(other, one, large);
        }
    }
    if (runs("exchanged")) {
        float *one = zeros<float>(large), *other = zeros<float>(large);
        for (int step = 0; step < 6; step++) {
            relaxed<<<large / 256, 256>>>(one, other, large);
            std::swap(one, other);
        }
    }
    if (runs("cleared")) {
        const int all = 3 << 20;
        float *map = zeros<float>(all), *sums = fresh<float>(4096);
        for (int shift = 0; shift < 4; shift++) {
            cudaMemset(sums, 0, 4096 * sizeof(float));
            correlated<<<all / 256, 256>>>(map, sums, shift, all);
        }
    }
    if (runs("made")) {
        const int all = 1 << 20;
        float4 *samples = fresh<float4>(all);
        made_up<<<all / 256, 256>>>(samples);
        used<<<all / 256, 256>>>(samples, fresh<float>(all));
    }
    if (runs("number")) one_number<<<256, 256>>>(zeros<float>(65536), zeros<float>(65536), fresh<float>(65536), 200);
    if (runs("copies")) few_equal_copies();
    if (runs("levels")) {
        const int edges = 1 << 14;
        std::vector<int> to(edges), extra(edges);
        for (int i = 0; i < edges; i++) to[i] = i * 7 % 500, extra[i] = i / 64 % 3;
        int *device_to = fresh<int>(edges), *device_extra = fresh<int>(edges), *level = fresh<int>(512);
        cudaMemcpy(device_to, to.data(), edges * sizeof(int), cudaMemcpyHostToDevice);
        cudaMemcpy(device_extra, extra.data(), edges * sizeof(int), cudaMemcpyHostToDevice);
        cudaMemset(level, 0x7f, 512 * sizeof(int));
        levels<<<1, 512>>>(device_to, level, device_extra, zeros<int>(2), 3, edges);
    }
    if (runs("benchmark")) {
        const int rows = 64, row = 1 << 15;
        float *from = zeros<float>(rows * row), *to = fresh<float>(rows * row), first = 0.0f;
        for (int turn = 0; turn < 3; turn++) shuffled<<<dim3(row / 256, rows), 256>>>(from, to, rows, row);
        cudaMemcpy(&first, to, sizeof first, cudaMemcpyDeviceToHost);
        for (int turn = 0; turn < 3; turn++) turned<<<rows * row / 256, 256>>>(from, to, rows * row);
        cudaMemcpy(&first, to, sizeof first, cudaMemcpyDeviceToHost);
    }
    if (runs("work")) {
        const int large = 1 << 20;
        float *one = zeros<float>(large), *other = zeros<float>(large), *slope = fresh<float>(large);
        float *of_one = fresh<float>(large), *of_other = fresh<float>(large);
        for (int step = 0; step < 3; step++) {
            sloped<<<large / 256, 256>>>(one, slope, large);
            squared<<<large / 256, 256>>>(slope, of_one);
            sloped<<<large / 256, 256>>>(other, slope, large);
            squared<<<large / 256, 256>>>(slope, of_other);
            let_go<<<large / 256, 256>>>(one, of_one);
            let_go<<<large / 256, 256>>>(other, of_other);
        }
    }
    return cudaDeviceSynchronize() != cudaSuccess;
}

// Small cases of what a third round of planted and public programs showed, one kernel each. With an argument nothing is launched.
#include <cstdint>
#include <cuda_runtime.h>
#include <vector>
#include <warpline.h>

struct Image {
    float *pixels;
    int width, height;
};

// Threads along x stand for rows, whose number blocks along x count, too.
__global__ void threshold(Image input, Image output) {
    int x = blockIdx.x * blockDim.x + threadIdx.y;
    int y = blockIdx.y * blockDim.y + threadIdx.x;
    if (x >= input.width || y >= input.height)
        return;
    float value = input.pixels[y * input.width + x]; // SWAPPED
    output.pixels[y * output.width + x] = value > 0.5f ? value : 0.0f;
}

__global__ void tile_sums(const float *__restrict__ matrix, float *__restrict__ sums) {
    __shared__ float tile[32][32];
    for (int row = threadIdx.y; row < 32; row += blockDim.y)
        tile[row][threadIdx.x] = matrix[(blockIdx.x * 32 + row) * 32 + threadIdx.x];
    __syncthreads();
    float sum = 0.0f;
    for (int k = 0; k < 32; ++k)
        sum += tile[threadIdx.x][k]; // JOINED WORDS
    if (threadIdx.y == 0)
        sums[blockIdx.x * 32 + threadIdx.x] = sum;
}

struct Node {
    float x, y, vx, vy, load, rest, mass, damping;
};

__global__ void ring(const float *__restrict__ start, float *__restrict__ result) {
    __shared__ Node nodes[256];
    int t = threadIdx.x;
    nodes[t].x = start[blockIdx.x * 256 + t];
    __syncthreads();
    float pull = 0.0f;
    for (int turn = 0; turn < 16; ++turn) {
        pull += nodes[(t + 1) % 256].x * nodes[t].x; // RING
        __syncthreads();
        nodes[t].x = pull;
        __syncthreads();
    }
    result[blockIdx.x * 256 + t] = pull;
}

__global__ void push(const float *__restrict__ rays, int *__restrict__ queue, unsigned *tail) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (rays[i] < 0.5f)
        queue[atomicAdd(tail, 1u)] = i; // QUEUE
}

__global__ void scale_row(float *row, int columns) {
    for (int c = threadIdx.x; c < columns; c += blockDim.x)
        row[c] *= 0.5f;
}

__global__ void grow(float *row, int columns) {
    for (int c = threadIdx.x; c < columns; c += blockDim.x)
        row[c] += 0.5f;
}

__constant__ unsigned palette[256];

__global__ void colourise(const uint8_t *__restrict__ indices, unsigned *__restrict__ rgba) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned sum = 0;
    for (int k = 0; k < 16; ++k)
        sum += palette[(indices[i] + k) % 256]; // PALETTE
    rgba[i] = sum;
}

__global__ void assign(const float *__restrict__ points, const float *centroids, float *__restrict__ nearest) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float best = 1e30f, point = points[i];
    for (int c = 0; c < 256; ++c)
        best = fminf(best, fabsf(point - centroids[c])); // CENTROIDS
    nearest[i] = best;
}

__global__ void mark(const float *__restrict__ keys, uint8_t *__restrict__ table) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    table[i * 32] = keys[i] < 0.5f; // RECORDS
}

__global__ void elect(const int *__restrict__ keys, float *__restrict__ bins) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int lane = threadIdx.x % 32, key = keys[i];
    unsigned same = __match_any_sync(~0u, key);
    int leader = __ffs(same) - 1;
    if (lane == leader) { // LEADER
        float sum = 0.0f;
        for (int k = 0; k < 256; ++k)
            sum = sum * 0.5f + float(same >> (k % 32));
        bins[i] = sum;
    }
}

struct Scaled {
    float factor;
    float operator()(float value) const { return value * factor; }
};

__device__ __noinline__ float apply(const Scaled &scaled, float value) {
    float result = value;
    for (int k = 0; k < 4; ++k)
        result += scaled.factor * result; // BY REFERENCE
    return result;
}

__global__ void scale_all(const float *__restrict__ in, float *__restrict__ out, float factor) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    Scaled scaled{factor + in[i]};
    out[i] = apply(scaled, in[i]);
}

__global__ void hot(const int *__restrict__ values, float *__restrict__ sums) {
    __shared__ float total;
    if (threadIdx.x == 0)
        total = 0.0f;
    __syncthreads();
    for (int k = 0; k < 16; ++k)
        atomicAdd(&total, float(values[blockIdx.x * blockDim.x + threadIdx.x] + k)); // HOT WORD
    __syncthreads();
    if (threadIdx.x == 0)
        sums[blockIdx.x] = total;
}

// The largest of all, as it is done where there is no such operation; and a flag that all read once.
__global__ void largest(const unsigned long long *__restrict__ values, unsigned long long *result, const int *flag) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (*flag) // READ ONCE
        return;
    unsigned long long old = *result, before;
    do {
        before = old;
        if (values[i] + i <= before)
            break;
    } while ((old = atomicCAS(result, before, values[i] + i)) != before); // ATTEMPTS
}

struct alignas(8) Pair {
    float strike, years;
};

__global__ void price(const Pair *__restrict__ options, float *__restrict__ prices) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    Pair option = options[i];
    float value = option.strike;
    for (int k = 0; k < 4; ++k)
        value = value * 0.97 + option.years * 0.25; // LITERALS
    prices[i] = value;
}

__global__ void copy(const float *in, float *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i];
}

class Buffer {
  public:
    explicit Buffer(size_t count) { cudaMalloc(&data_, count * sizeof(float)); }
    Buffer(Buffer &&other) noexcept : data_(other.data_) { other.data_ = nullptr; }
    ~Buffer() { cudaFree(data_); }
    float *data() const { return data_; }

  private:
    float *data_ = nullptr;
};

template <typename T> T *device(size_t count) {
    T *memory = nullptr;
    cudaMalloc(&memory, count * sizeof(T));
    cudaMemset(memory, 0, count * sizeof(T));
    return memory;
}

int main(int count, char **) {
    const int n = 1 << 18;
    float *floats = device<float>(n), *results = device<float>(n);
    if (count > 1)
        return cudaDeviceSynchronize();
    Image input{floats, 512, 512}, output{results, 512, 512};
    threshold<<<dim3(16, 16), dim3(32, 32)>>>(input, output);
    tile_sums<<<n / 1024, dim3(32, 4)>>>(floats, results);
    ring<<<n / 256, 256>>>(floats, results);
    int *ints = device<int>(n);
    unsigned *tail = device<unsigned>(1), *rgba = device<unsigned>(n);
    push<<<n / 4096, 256>>>(floats, ints, tail);
    float *rows = device<float>(64 * 6144);
    for (int row = 0; row < 64; ++row)
        scale_row<<<1, 256>>>(rows + row * 6144, 6144); // A LAUNCH PER ROW
    float *row = device<float>(6144);
    for (int turn = 0; turn < 64; ++turn)
        grow<<<1, 256>>>(row, 6144); // STEP BY STEP
    std::vector<uint8_t> spread(n);
    for (int i = 0; i < n; ++i)
        spread[i] = uint8_t(i * 7);
    uint8_t *indices = device<uint8_t>(n), *table = device<uint8_t>(size_t(n) * 32);
    cudaMemcpy(indices, spread.data(), n, cudaMemcpyHostToDevice);
    colourise<<<n / 256, 256>>>(indices, rgba);
    float *centroids = device<float>(256);
    assign<<<n / 256, 256>>>(floats, centroids, results);
    mark<<<n / 256, 256>>>(floats, table);
    std::vector<int> groups(n);
    for (int i = 0; i < n; ++i)
        groups[i] = i % 8;
    int *keys = device<int>(n);
    cudaMemcpy(keys, groups.data(), n * sizeof(int), cudaMemcpyHostToDevice);
    elect<<<n / 256, 256>>>(keys, results);
    int value = -1;
    for (int i = 0; i < 20; ++i)
        cudaMemcpy(&value, keys + (i < 3 ? 8 * i : i), sizeof value, cudaMemcpyDeviceToHost); // BY CHANCE
    scale_all<<<n / 256, 256>>>(floats, results, 0.5f);
    hot<<<n / 256, 256>>>(ints, results);
    largest<<<64, 256>>>(device<unsigned long long>(64 * 256), device<unsigned long long>(1), device<int>(1));
    price<<<n / 2 / 256, 256>>>(reinterpret_cast<Pair *>(floats), results);
    std::vector<Buffer> layers;
    for (int layer = 0; layer < 5; ++layer)
        layers.emplace_back(n); // LAYERS
    cudaMemset(layers[0].data(), 0, n * sizeof(float));
    for (int layer = 0; layer + 2 < 5; ++layer)
        copy<<<n / 256, 256>>>(layers[layer].data(), layers[layer + 1].data());
    float *pool = nullptr;
    cudaMalloc(&pool, 2 * n * sizeof(float)); // POOL
    warpline_name(pool, n * sizeof(float), "first half");
    warpline_name(pool + n, n * sizeof(float), "second half");
    copy<<<n / 256, 256>>>(pool, pool + n);
    return cudaDeviceSynchronize();
}

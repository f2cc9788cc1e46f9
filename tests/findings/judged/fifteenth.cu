// Cases of a seventeenth round of public programs (docs/design/findings.md); `// WORDS` mark lines. An argument runs a case alone.
#include <cstdio>
#include <cstring>
#include <vector>

// The mean of the points that lie near each one: in nearly each warp some do and some do not.
__global__ void near_ones(const float2 *points, const float *masses, float2 *means, int n, float radius) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float2 own = points[i], sum = {0.0f, 0.0f};
    float weights = 0.0f;
#pragma unroll 1
    for (int k = 0; k < n; k++) {
        float2 other = points[k];
        float x = own.x - other.x, y = own.y - other.y, distance = x * x + y * y;
        if (distance <= radius) { // MOST WARPS DIVERGE
            float weight = masses[k] * __expf(-distance * 3.0f) / (distance + 0.25f);
            sum.x += weight * other.x / (1.0f + weight);
            sum.y += weight * other.y;
            weights += weight;
        }
    }
    means[i] = {sum.x / weights, sum.y / weights};
}

// Sites that are not there yet, for many warps as a whole.
__global__ void sites(const int *candidates, int *nearest, int width, int none) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int best = i, x = i % width, y = i / width;
#pragma unroll 1
    for (int k = 0; k < 9; k++) {
        int site = candidates[i * 9 + k];
        if (site != none) { // WHOLE WARPS GO BY
            int row = site / width, column = site - row * width;
            int own_row = best / width, own_column = best - own_row * width;
            int distance = (x - column) * (x - column) + (y - row) * (y - row);
            int own = (x - own_column) * (x - own_column) + (y - own_row) * (y - own_row);
            best = distance < own ? site : best;
        }
    }
    nearest[i] = best;
}

// A formula, or a search of many steps.
__global__ void bounds(const float *values, float *roots) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float value = values[i], root;
    if (value < 0.4f) { // ONE SIDE IS LONG
        root = __expf(value) / (1.0f + value) + __logf(value + 2.0f) / (3.0f - value) + __sinf(value) / (value + 7.0f);
    } else {
        root = value;
#pragma unroll 1
        for (int step = 0; step < 400; step++) root = 0.5f * (root + value / (root + 0.01f)) + __expf(-root);
    }
    roots[i] = root;
}

__constant__ int around[8];

// A window of each element of columns that lie apart, a block for each column.
__global__ void windows(const float *columns, float *results, int height) {
    int at = (blockIdx.x + 4) * height + threadIdx.x + 22;
    float sum = 0.0f;
#pragma unroll 1
    for (int k = 0; k < 8; k++) sum += columns[at + around[k]]; // WINDOWS OF COLUMNS
    results[blockIdx.x * 256 + threadIdx.x] = sum;
}

// The same without the window.
__global__ void columns_of(const float *columns, float *results, int height) {
    results[blockIdx.x * 256 + threadIdx.x] = columns[(blockIdx.x + 4) * height + threadIdx.x + 22]; // COLUMNS
}

// Blocks that follow each other, of threads that fill no sectors.
__global__ void hundreds(const float *values, float *results) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    results[blockIdx.x * 256 + threadIdx.x] = values[i] * 2.0f; // BLOCKS OF A HUNDRED
}

__device__ int brightness(uchar4 pixel) {
    return (77 * pixel.x + 150 * pixel.y + 29 * pixel.z) >> 8;
}

__global__ void histogram(const uchar4 *pixels, unsigned *bins, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&bins[brightness(pixels[i])], 1u); // BINS OF ALL
}

__global__ void histogram_of_blocks(const uchar4 *pixels, unsigned *bins, int n) {
    __shared__ unsigned mine[256];
    mine[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&mine[brightness(pixels[i])], 1u); // BINS OF A BLOCK
    __syncthreads();
    atomicAdd(&bins[threadIdx.x], mine[threadIdx.x]);
}

// Updates of far more addresses than shared memory holds, some of them hot.
__global__ void large_histogram(const unsigned *keys, unsigned *counts, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&counts[keys[i]], 1u); // TOO LARGE TO COPY
}

// Each thread computes one element, and stores it in a row of its own.
__global__ void dilate(const float *image, float *dilated, int height, int width) {
    int number = blockIdx.x * blockDim.x + threadIdx.x;
    int i = number % height, j = number / height;
    float most = 0.0f;
#pragma unroll 1
    for (int k = -2; k <= 2; k++) most = fmaxf(most, image[max(0, min(j + k, width - 1)) * height + i]);
    dilated[i * width + j] = most; // STORED TRANSPOSED
}

// The end of the loop around the branch stands below it.
__global__ void steps(const float *values, const float *scales, float *results, int rounds) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, round = 0;
    float value = values[i], sum = 0.0f;
#pragma unroll 1
    do {
        value = value * 3.7f * (1.0f - value);
        if (value > 0.6f) { // WITHIN A DO
            float root = scales[round] * __expf(-value * 3.0f) / (value + 0.25f);
            sum += root / (1.0f + root) + __logf(root);
        }
        round++;
    } while (round < rounds && sum < 1e30f);
    results[i] = sum;
}

// The border of a box that is no multiple of the block, once for each thread.
__global__ void box(const float *values, float *results, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height) { // BORDER OF A BOX
        float value = values[y * width + x];
#pragma unroll 1
        for (int k = 0; k < 200; k++) value = value * 0.5f + __expf(-value);
        results[y * width + x] = value;
    }
}

// What flows over the faces of a mesh: three arrays that the same neighbours lead to.
__global__ void fluxes(const int *neighbours, const float *densities, const float *energies, const float *momenta, float *changes, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float change = 0.0f;
#pragma unroll 1
    for (int face = 0; face < 4; face++) {
        int other = neighbours[face * n + i];
        change += densities[other]; // DENSITY
        change += energies[other] * 0.5f; // ENERGY
        change -= momenta[other]; // MOMENTUM
    }
    changes[i] = change;
}

// Each thread stores two neighbours of a list that begins where data says.
__global__ void lists(const int *begins, const int *values, int *results) {
    int begin = begins[blockIdx.x], i = blockIdx.x * blockDim.x + threadIdx.x, value = values[i];
    results[begin + 2 * threadIdx.x] = value; // PAIRS OF A LIST
    results[begin + 2 * threadIdx.x + 1] = value * 3; // SECOND OF A LIST
}

// A number that counts through three dimensions, the wrong one first.
__global__ void layers(const float *values, float *results, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        int layer = i % 6, row = i / 6 % 24, column = i / 144 % 24;
        results[i] = values[(layer * 24 + row) * 24 + column]; // LAYERS FIRST
    }
}

// Each element takes a place in one of eight lists.
__global__ void sorted_into(const unsigned *kinds, unsigned *ends, unsigned *places, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) places[i] = atomicAdd(&ends[kinds[i] % 8], 1u); // PLACES IN LISTS
}

// What is to the right of each element: for those at the border of a tile in another array.
__global__ void borders(const float *values, float *results) {
    __shared__ float tile[16][16], right[16][16];
    int x = threadIdx.x, y = threadIdx.y, i = (blockIdx.x * 16 + y) * 32 + x;
    tile[y][x] = values[i];
    right[y][x] = values[i + 1];
    __syncthreads();
    float next;
    if (x == 15) next = right[y][x]; // BORDER IN ANOTHER
    else next = tile[y][x + 1]; // BORDER IN ANOTHER
    results[i] = next - tile[y][x]; // BORDER IN ANOTHER
}

// Each lane goes through a row of eight, as far as data says.
__global__ void entries(const int *lengths, const short *values, int *sums) {
    __shared__ short rows[256][8];
    for (int i = threadIdx.x; i < 2048; i += 32) rows[i / 8][i % 8] = values[i];
    __syncthreads();
    for (short row = threadIdx.x % 32; row < 256; row += 32) {
        int sum = 0;
#pragma unroll 1
        for (int k = 0; k < lengths[row]; k++) sum += rows[row][k]; // ENTRIES OF ROWS
        sums[row] = sum;
    }
}

// The same places as in several lists, of a block.
__global__ void sorted_in_block(const unsigned *kinds, unsigned *places, int n) {
    __shared__ unsigned ends[8];
    if (threadIdx.x < 8) ends[threadIdx.x] = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) places[i] = atomicAdd(&ends[kinds[i] % 8], 1u); // PLACES OF A BLOCK
}

// Each block goes through all weights, which the next launch has in new memory.
__global__ void weighted(const float *weights, float *results, int n) {
    float sum = 0.0f;
#pragma unroll 1
    for (int i = threadIdx.x; i < n; i += blockDim.x) sum += weights[i] * (i % 7 + blockIdx.x); // WEIGHTS OF A LAUNCH
    results[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

template <class T> T *fresh(size_t n) {
    T *memory;
    cudaMalloc(&memory, n * sizeof(T));
    cudaMemset(memory, 1, n * sizeof(T));
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
    auto runs = [&](const char *name) { return count < 2 || !strcmp(only, name); };
    const int n = 1 << 14;
    std::vector<float> values(n);
    for (int i = 0; i < n; i++) values[i] = i * 733 % n * (1.0f / n);
    if (runs("near")) {
        std::vector<float2> points(n);
        for (int i = 0; i < n; i++) points[i] = {mixed(i) % 1000 * 0.001f, mixed(i + 77777) % 1000 * 0.001f};
        near_ones<<<n / 128, 128>>>(filled(points), fresh<float>(n), fresh<float2>(n), 200, 0.16f);
    }
    if (runs("sites")) {
        std::vector<int> candidates(n * 9);
        for (int i = 0; i < n; i++)
            for (int k = 0; k < 9; k++) {
                int warp = i / 32 % 3;
                candidates[i * 9 + k] = warp == 0 || warp == 1 && mixed(i * 9 + k) % 2 ? -1 : int(mixed(i + k) % n);
            }
        sites<<<n / 128, 128>>>(filled(candidates), fresh<int>(n), 128, -1);
    }
    if (runs("bounds")) bounds<<<n / 128, 128>>>(filled(values), fresh<float>(n));
    if (runs("windows")) {
        const int offsets[8] = {1, 222, -219, 3, -5, 436, -441, 7};
        cudaMemcpyToSymbol(around, offsets, sizeof(offsets));
        windows<<<600, 175>>>(fresh<float>(219 * 640), fresh<float>(600 * 256), 219);
    }
    if (runs("columns")) columns_of<<<600, 175>>>(fresh<float>(219 * 640), fresh<float>(600 * 256), 219);
    if (runs("hundreds")) hundreds<<<600, 100>>>(fresh<float>(60000), fresh<float>(600 * 256));
    if (runs("bins") || runs("blocks")) {
        const int pixels = 640 * 360;
        std::vector<uchar4> image(pixels);
        for (int i = 0; i < pixels; i++) {
            unsigned value = mixed(i);
            image[i] = {(unsigned char)value, (unsigned char)(value >> 8), (unsigned char)(value >> 16), 255};
        }
        if (runs("bins")) histogram<<<108, 256>>>(filled(image), fresh<unsigned>(256), pixels);
        if (runs("blocks")) histogram_of_blocks<<<108, 256>>>(filled(image), fresh<unsigned>(256), pixels);
    }
    if (runs("large")) {
        std::vector<unsigned> keys(1 << 17);
        for (size_t i = 0; i < keys.size(); i++) keys[i] = mixed(i) % 4 ? mixed(i) % (1 << 16) : mixed(i) / 4 % 2;
        large_histogram<<<108, 256>>>(filled(keys), fresh<unsigned>(1 << 16), keys.size());
    }
    if (runs("dilate")) dilate<<<219 * 640 / 32, 32>>>(fresh<float>(219 * 640), fresh<float>(219 * 640), 219, 640);
    if (runs("steps")) steps<<<n / 128, 128>>>(filled(values), fresh<float>(n), fresh<float>(n), 200);
    if (runs("mesh")) {
        const int cells = 1 << 16;
        std::vector<int> neighbours(cells * 4);
        for (int i = 0; i < cells * 4; i++) neighbours[i] = mixed(i) % cells;
        fluxes<<<cells / 128, 128>>>(filled(neighbours), fresh<float>(cells), fresh<float>(cells), fresh<float>(cells), fresh<float>(cells), cells);
    }
    if (runs("lists")) {
        std::vector<int> begins(512);
        for (int i = 0; i < 512; i++) begins[i] = i * 259 + 1;
        lists<<<512, 128>>>(filled(begins), fresh<int>(512 * 128), fresh<int>(512 * 260));
    }
    if (runs("layers")) layers<<<54, 64>>>(fresh<float>(3456), fresh<float>(3456), 3456);
    if (runs("kinds")) {
        std::vector<unsigned> kinds(n);
        for (int i = 0; i < n; i++) kinds[i] = mixed(i) % 3;
        sorted_into<<<n / 128, 128>>>(filled(kinds), fresh<unsigned>(8), fresh<unsigned>(n), n);
    }
    if (runs("box")) box<<<dim3(2, 9), dim3(16, 16)>>>(fresh<float>(n), fresh<float>(n), 24, 129);
    if (runs("borders")) borders<<<32, dim3(16, 16)>>>(fresh<float>(n + 32), fresh<float>(n + 32));
    if (runs("entries")) {
        std::vector<int> lengths(256);
        for (int i = 0; i < 256; i++) lengths[i] = mixed(i) % 8;
        entries<<<1, 32>>>(filled(lengths), fresh<short>(2048), fresh<int>(256));
    }
    if (runs("places")) {
        std::vector<unsigned> kinds(n);
        for (int i = 0; i < n; i++) kinds[i] = mixed(i) % 8;
        sorted_in_block<<<1, 256>>>(filled(kinds), fresh<unsigned>(n), n);
    }
    if (runs("weights")) {
        float *results = fresh<float>(120 * 256);
        for (int launch = 0; launch < 4; launch++) {
            float *weights = fresh<float>(1 << 15);
            weighted<<<120, 256>>>(weights, results, 1 << 15);
            cudaFree(weights);
        }
    }
    cudaDeviceSynchronize();
    printf("%s\n", cudaGetErrorString(cudaGetLastError()));
    return 0;
}

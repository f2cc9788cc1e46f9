// More cases of an eleventh round of public programs (docs/design/findings.md); `// WORDS` mark lines.
#include <cstdio>
#include <vector>

// An elimination: each launch needs what the other kernel made of the one before.
__global__ void factors(float *m, const float *a, int size, int t) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < size - 1 - t) m[size * (i + t + 1) + t] = a[size * (i + t + 1) + t] / a[size * t + t];
}

__global__ void rows(const float *m, float *a, int size, int t) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < size - t && y < size - 1 - t) a[size * (y + t + 1) + x + t] -= m[size * (y + t + 1) + t] * a[size * t + x + t];
}

// Blocks share a border, so that each takes fewer elements than it has threads.
__global__ void step(const float *wall, float *sums, int columns, int turns) {
    __shared__ float row[256];
    int share = blockDim.x - 2 * turns, x = blockIdx.x * share - turns + threadIdx.x;
    row[threadIdx.x] = 0;
    for (int turn = 0; turn < turns; ++turn) {
        __syncthreads();
        if (x >= 0 && x < columns) row[threadIdx.x] += wall[turn * columns + x]; // SHARES
    }
    if (threadIdx.x >= turns && threadIdx.x < blockDim.x - turns && x < columns) sums[x] = row[threadIdx.x];
}

// Each thread adds to a row of its own, in which loaded data chooses the element.
__global__ void tally(const int *kinds, const float *cost, float *of_thread, int kinds_of_all, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float *own = of_thread + i * kinds_of_all;
    for (int k = 0; k < n; ++k) own[kinds[k * 1024 + i]] += cost[i]; // OWN ROWS
}

// Each thread writes what passes to its own part.
__global__ void part(const double *values, double *low, const int *begins, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int place = begins[i];
    for (int k = i; k < n; k += 1024) {
        double value = values[k];
        if (value < 0.5) low[place++] = value; // PARTED
    }
}

// Elements of a table that loaded data chooses.
__global__ void choose(const int *kinds, const float *weights, float *sums, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int k = i; k < n; k += 1024) sum += weights[kinds[k]]; // TABLE
    sums[i] = sum;
}

// An atomic operation that the GPU lacks, on rows that several threads share.
__global__ void scatter(const float *values, const int *index, float *out, int each, int columns, int rows, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int *place = (int *)(out + i / (each * columns) * rows * columns + index[i] * columns + i % columns);
    int old = *place, seen; // SCATTERED
    do {
        seen = old;
        old = atomicCAS(place, seen, __float_as_int(__int_as_float(seen) * values[i]));
    } while (old != seen);
}

// A warp adds up rows of eight elements.
__global__ void short_rows(const float *rows, const int *places, float *out, int length) {
    __shared__ float sums[64 * 8];
    __shared__ int place[256];
    int t = threadIdx.y * 32 + threadIdx.x;
    for (int i = t; i < 64 * length; i += 256) sums[i] = 0;
    place[t] = places[blockIdx.x * 256 + t];
    __syncthreads();
    for (int first = 0; first < 256; first += 8) {
        int row = first + threadIdx.y;
        for (int begin = 0; begin < length; begin += warpSize) {
            int column = begin + threadIdx.x;
            if (column < length) // SHORT ROWS
                atomicAdd(&sums[place[row] * length + column], rows[(blockIdx.x * 256 + row) * length + column]);
        }
    }
    __syncthreads();
    for (int i = t; i < 64 * length; i += 256) out[blockIdx.x * 512 + i] = sums[i];
}

int main() {
    const int size = 96, columns = 8000, turns = 5, n = 1 << 16;
    float *m, *a, *wall, *sums, *cost, *of_thread, *out;
    double *values, *low;
    int *kinds, *begins, *index;
    std::vector<float> host(size * size);
    for (int i = 0; i < size * size; ++i) host[i] = i % (size + 1) == 0 ? 1000.0f : i % 7;
    cudaMalloc(&m, size * size * sizeof(float));
    cudaMalloc(&a, size * size * sizeof(float));
    cudaMemcpy(a, host.data(), size * size * sizeof(float), cudaMemcpyHostToDevice);
    for (int t = 0; t < size - 1; ++t) {
        factors<<<1, 128>>>(m, a, size, t); // STEPS
        rows<<<dim3(3, 12), dim3(32, 8)>>>(m, a, size, t);
    }
    cudaMalloc(&wall, turns * columns * sizeof(float));
    cudaMalloc(&sums, columns * sizeof(float));
    cudaMemset(wall, 0, turns * columns * sizeof(float));
    step<<<(columns + 245) / 246, 256>>>(wall, sums, columns, turns);
    std::vector<int> numbers(n), starts(1024), places(n);
    std::vector<double> data(n);
    for (int i = 0; i < n; ++i) numbers[i] = i * 37 % 101, places[i] = i * 7919 % 30011, data[i] = i * 29 % 100 * 0.01;
    for (int i = 0; i < 1024; ++i) starts[i] = i * 64 + i % 3;
    cudaMalloc(&kinds, n * sizeof(int));
    cudaMemcpy(kinds, numbers.data(), n * sizeof(int), cudaMemcpyHostToDevice);
    cudaMalloc(&cost, 1024 * sizeof(float));
    cudaMemset(cost, 0, 1024 * sizeof(float));
    cudaMalloc(&of_thread, 1024 * 101 * sizeof(float));
    cudaMemset(of_thread, 0, 1024 * 101 * sizeof(float));
    tally<<<4, 256>>>(kinds, cost, of_thread, 101, 64);
    cudaMalloc(&begins, 1024 * sizeof(int));
    cudaMemcpy(begins, starts.data(), 1024 * sizeof(int), cudaMemcpyHostToDevice);
    cudaMalloc(&values, n * sizeof(double));
    cudaMemcpy(values, data.data(), n * sizeof(double), cudaMemcpyHostToDevice);
    cudaMalloc(&low, (n + 128) * sizeof(double));
    part<<<4, 256>>>(values, low, begins, n);
    choose<<<4, 256>>>(kinds, cost, sums, n);
    cudaMalloc(&index, n * sizeof(int));
    cudaMemcpy(index, places.data(), n * sizeof(int), cudaMemcpyHostToDevice);
    cudaMalloc(&out, 30011 * sizeof(float));
    cudaMemset(out, 0, 30011 * sizeof(float));
    scatter<<<n / 256, 256>>>(reinterpret_cast<float *>(kinds), index, out, n, 1, 30011, n);
    float *short_ones, *sums_of_rows;
    int *places_of_rows;
    cudaMalloc(&short_ones, 64 * 256 * 8 * sizeof(float));
    cudaMemset(short_ones, 0, 64 * 256 * 8 * sizeof(float));
    cudaMalloc(&sums_of_rows, 64 * 512 * sizeof(float));
    cudaMalloc(&places_of_rows, 64 * 256 * sizeof(int));
    cudaMemset(places_of_rows, 0, 64 * 256 * sizeof(int));
    short_rows<<<64, dim3(32, 8)>>>(short_ones, places_of_rows, sums_of_rows, 8);
    std::printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}

// Kernels as experts write them, with what is left to find in them; `// WORDS` mark lines.
#include <cstdio>
#include <vector>

// A warp adds up a row of a sparse matrix; columns of a row are three apart.
__global__ void sparse(const int *begins, const int *columns, const float *values, const float *x, float *y, int rows) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    float sum = 0;
    for (int k = begins[row] + lane; k < begins[row + 1]; k += 32)
        sum += values[k] *
               x[columns[k]]; // CHOSEN
    for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(~0u, sum, step);
    if (lane == 0) y[row] = sum;
}

// A block counts in shared memory, where the lanes of a warp meet on few addresses.
__global__ void clusters(const float *points, float *sums, int n) {
    __shared__ float of_cluster[8];
    if (threadIdx.x < 8) of_cluster[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&of_cluster[int(points[i]) & 7], points[i]); // CLUSTERS
    __syncthreads();
    if (threadIdx.x < 8) atomicAdd(&sums[threadIdx.x], of_cluster[threadIdx.x]);
}

// A bitonic sort of a block's elements: how far apart neighbouring lanes are changes from step to step.
__global__ void sort(unsigned *keys) {
    __shared__ unsigned part[512];
    unsigned *own = keys + blockIdx.x * 512;
    part[threadIdx.x] = own[threadIdx.x];
    part[threadIdx.x + 256] = own[threadIdx.x + 256];
    for (unsigned size = 2; size <= 512; size *= 2)
        for (unsigned stride = size / 2; stride > 0; stride /= 2) {
            __syncthreads();
            unsigned at = 2 * threadIdx.x - (threadIdx.x & (stride - 1));
            bool up = (threadIdx.x & (size / 2)) == 0;
            unsigned one = part[at]; // SORT
            unsigned other = part[at + stride];
            if ((one > other) == up) {
                part[at] = other;
                part[at + stride] = one;
            }
        }
    __syncthreads();
    own[threadIdx.x] = part[threadIdx.x];
    own[threadIdx.x + 256] = part[threadIdx.x + 256];
}

// Two threads of a warp load what lies beside a tile.
__global__ void blur(const float *in, float *out, int width, int height) {
    __shared__ float tile[16][18];
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    const float *row = in + y * width;
    tile[threadIdx.y][threadIdx.x + 1] = row[x];
    if (threadIdx.x == 0)
        tile[threadIdx.y][0] = row[x > 0 ? x - 1 : 0]; // HALO
    if (threadIdx.x == 15)
        tile[threadIdx.y][17] = row[x + 1 < width ? x + 1 : x]; // HALO
    __syncthreads();
    out[y * width + x] =
        tile[threadIdx.y][threadIdx.x] + tile[threadIdx.y][threadIdx.x + 1] + tile[threadIdx.y][threadIdx.x + 2];
}

int main() {
    const int rows = 8192, n = 1 << 19;
    std::vector<int> begins(rows + 1), columns;
    for (int row = 0; row < rows; ++row) {
        begins[row] = columns.size();
        for (int k = 0; k < 64; ++k) columns.push_back((row + 3 * k) % rows);
    }
    begins[rows] = columns.size();
    std::vector<float> ones(n);
    for (int i = 0; i < n; ++i) ones[i] = (i * 7919) % 8;
    int *first, *chosen;
    float *values, *x, *y, *sums;
    unsigned *keys;
    cudaMalloc(&first, begins.size() * sizeof(int));
    cudaMalloc(&chosen, columns.size() * sizeof(int));
    cudaMalloc(&values, n * sizeof(float));
    cudaMalloc(&x, rows * sizeof(float));
    cudaMalloc(&y, rows * sizeof(float));
    cudaMalloc(&sums, 8 * sizeof(float));
    cudaMalloc(&keys, n * sizeof(unsigned));
    cudaMemcpy(first, begins.data(), begins.size() * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(chosen, columns.data(), columns.size() * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(values, ones.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(x, ones.data(), rows * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemset(sums, 0, 8 * sizeof(float));
    cudaMemcpy(keys, ones.data(), n * sizeof(unsigned), cudaMemcpyHostToDevice);
    sparse<<<rows / 8, 256>>>(first, chosen, values, x, y, rows);
    clusters<<<160, 256>>>(values, sums, n);
    sort<<<n / 512, 256>>>(keys);
    float *blurred;
    cudaMalloc(&blurred, n * sizeof(float));
    blur<<<dim3(1024 / 16, n / 1024 / 16), dim3(16, 16)>>>(values, blurred, 1024, n / 1024);
    float result[8];
    cudaMemcpy(result, sums, sizeof result, cudaMemcpyDeviceToHost);
    std::printf("%f\n", result[1]);
}

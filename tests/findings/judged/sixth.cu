// Small cases of findings that were wrong or in pieces in a seventh round (docs/design/findings.md); `// WORDS` mark lines.
#include <cstdint>
#include <cstdio>
#include <vector>

// A field that kernels go through row by row, and a border that is a column of it.
__global__ void diffuse(const double *from, double *to, int width) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    to[i] = 0.5 * from[i] + 0.25 * width;
}

__global__ void border(double *to, int width, int height) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < height) to[row * width] = 1.0; // BORDER
    if (row < height) to[row * width + width - 1] = 2.0; // OTHER BORDER
}

// Fields of one colour of a board.
__global__ void board(float *out) {
    __shared__ float field[32][16];
    int x = threadIdx.x, y = 2 * threadIdx.y + x % 2;
    for (int k = threadIdx.y * 16 + x; k < 512; k += 256) field[k / 16][k % 16] = k;
    __syncthreads();
    float sum = 0;
    for (int turn = 0; turn < 64; ++turn) {
        sum += field[y][x] * turn; // COLOUR
        __syncthreads();
        field[y][x] = sum; // COLOUR
        __syncthreads();
    }
    out[blockIdx.x * 256 + threadIdx.y * 16 + x] = sum;
}

// Eight short numbers of each thread's own.
__global__ void codes(const uint16_t *in, int *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const volatile uint16_t *own = in + 8 * i;
    int sum = 0;
    for (int k = 0; k < 8; ++k) sum += own[k]; // CODES
    out[i] = sum;
}

// Places that ranks give.
__global__ void scatter(const int *rank, int *out) {
    __shared__ int keys[1024];
    int i = threadIdx.x;
    for (int turn = 0; turn < 32; ++turn) {
        keys[rank[blockIdx.x * 1024 + i]] = turn; // RANKS
        __syncthreads();
    }
    out[blockIdx.x * 1024 + i] = keys[i];
}

// A row of counters for each thread, as long as the caller says.
__global__ void counters(int *out, int kinds) {
    extern __shared__ int counts[];
    int i = threadIdx.x;
    for (int turn = 0; turn < 8; ++turn)
        for (int kind = 0; kind < kinds; ++kind) counts[i * kinds + kind] = turn + kind; // COUNTERS
    __syncthreads();
    out[blockIdx.x * blockDim.x + i] = counts[i];
}

// Any number of blocks does the work, whatever the step is called.
__global__ void stride(const float *in, float *out, size_t n) {
    size_t step = gridDim.x;
    step = step * blockDim.x;
    for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i = i + step) out[i] = in[i] * 2.0f;
}

int main() {
    const int width = 2048, n = 1 << 17;
    double *field, *next;
    int *ranks;
    cudaMalloc(&field, sizeof(double) * width * width);
    cudaMalloc(&next, sizeof(double) * width * width);
    cudaMemset(field, 0, sizeof(double) * width * width);
    diffuse<<<width * width / 256, 256>>>(field, next, width);
    for (int i = 0; i < 24; i++)
        border<<<width / 256, 256>>>(next, width, width); // SHORT
    float *colours;
    cudaMalloc(&colours, sizeof(float) * 256 * 128);
    board<<<128, dim3(16, 16)>>>(colours);
    uint16_t *shorts;
    int *sums;
    cudaMalloc(&shorts, 16 * n);
    cudaMalloc(&sums, sizeof(int) * n);
    cudaMemset(shorts, 1, 16 * n);
    codes<<<n / 256, 256>>>(shorts, sums, n);
    std::vector<int> order(1024 * 128);
    for (int i = 0; i < 1024 * 128; ++i) order[i] = i % 1024 / 256 + i % 256 * 4;
    cudaMalloc(&ranks, sizeof(int) * order.size());
    cudaMemcpy(ranks, order.data(), sizeof(int) * order.size(), cudaMemcpyHostToDevice);
    scatter<<<128, 1024>>>(ranks, sums);
    counters<<<128, 64, 64 * 32 * sizeof(int)>>>(sums, 32);
    stride<<<8, 256>>>(reinterpret_cast<float *>(field), reinterpret_cast<float *>(next), size_t(width) * width * 2); // STEPS
    cudaDeviceSynchronize();
    std::printf("done\n");
}

// Small cases of findings that were wrong in an eighth round (docs/design/findings.md); `// WORDS` mark lines.
#include <cstdio>
#include <vector>

// One thread of a block of two dimensions adds up what all have.
__global__ void first(const float *in, float *sums) {
    __shared__ float part[128];
    int own = threadIdx.y * blockDim.x + threadIdx.x;
    part[own] = in[blockIdx.x * 128 + own];
    __syncthreads();
    if (threadIdx.x == 0 && threadIdx.y == 0) { // FIRST
        float sum = 0;
        for (int i = 0; i < 128; ++i) sum += part[i] * part[i];
        sums[blockIdx.x] = sum;
    }
}

// Each thread goes along a row that data chooses.
__global__ void along(const float *rows, const int *chosen, float *sums, int columns) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float *row = rows + size_t(chosen[i]) * columns;
    float sum = 0;
    for (int k = 0; k < columns; ++k) sum += row[k]; // ROWS
    sums[i] = sum;
}

// A table in each thread's own memory.
__global__ void calendar(const int *month, int *length) {
    int days[12];
    days[0] = 31;
    days[1] = 28;
    days[2] = 31;
    days[3] = 30;
    days[4] = 31;
    days[5] = 30;
    days[6] = 31;
    days[7] = 31;
    days[8] = 30;
    days[9] = 31;
    days[10] = 30;
    days[11] = 31;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    length[i] = days[month[i]]; // TABLE
}

// Three coordinates of each point, and blocks of two dimensions.
__global__ void distances(const float *points, const float *weights, float *out) {
    int point = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int i = 0; i < 3; ++i) sum += points[point * 3 + i] * weights[threadIdx.y + 4 * i]; // POINTS
    out[(threadIdx.y * gridDim.x + blockIdx.x) * blockDim.x + threadIdx.x] = sum;
}

// Rows of a block in a cube, with and without its border.
__global__ void cube(const float *in, float *out, int limit) {
    __shared__ float field[16][16][16];
    int x = threadIdx.x, y = threadIdx.y, z = threadIdx.z;
    int i = ((blockIdx.x * 8 + z) * 8 + y) * 8 + x;
    int side = y / 4;
    field[z][y + side * 8][x + 4] = in[i]; // CUBE
    field[z + 4][y + 4][x] = in[i]; // CUBE
    __syncthreads();
    float sum = 0;
    for (int turn = 0; turn < 32; ++turn) {
        if (x < limit && y < limit) sum += field[z + 4][y + 4][x + turn % 4] * turn; // CUBE
        __syncthreads();
    }
    out[i] = sum;
}

// The row of each column that data chooses.
__global__ void entries(const float *table, const int *chosen, float *out, int columns) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = table[chosen[i] * columns + i]; // COLUMNS
}

struct Day {
    int serial, day, month, year;
};

// One array or the other.
__global__ void later(const Day *early, const Day *late, int *serial, int before) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    const Day *chosen = early[i].serial < before ? late : early;
    serial[i] = chosen[i].year; // CHOICE
}

// A ticket for each warp.
__global__ void tickets(int *next, int *of_warp) {
    int warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    for (int turn = 0; turn < 64; ++turn)
        if (threadIdx.x % 32 == 0) of_warp[warp] = atomicAdd(next, 3); // TICKET
}

int main() {
    const int n = 1 << 17, columns = 64;
    float *floats, *sums;
    int *chosen, *lengths, *next;
    Day *days;
    cudaMalloc(&floats, sizeof(float) * n * columns);
    cudaMalloc(&sums, sizeof(float) * n * 4);
    cudaMalloc(&chosen, sizeof(int) * n);
    cudaMalloc(&lengths, sizeof(int) * n);
    cudaMalloc(&days, sizeof(Day) * n * 2);
    cudaMalloc(&next, sizeof(int));
    cudaMemset(floats, 0, sizeof(float) * n * columns);
    cudaMemset(days, 0, sizeof(Day) * n * 2);
    cudaMemset(next, 0, sizeof(int));
    std::vector<int> order(n);
    for (int i = 0; i < n; ++i) order[i] = (i * 2654435761u >> 7) % n;
    cudaMemcpy(chosen, order.data(), sizeof(int) * n, cudaMemcpyHostToDevice);
    first<<<n / 128, dim3(32, 4)>>>(floats, sums);
    along<<<n / 8 / 256, 256>>>(floats, chosen, sums, columns);
    for (int i = 0; i < n; ++i) order[i] = i * 7 % 12;
    cudaMemcpy(chosen, order.data(), sizeof(int) * n, cudaMemcpyHostToDevice);
    entries<<<n / 256, 256>>>(floats, chosen, sums, n);
    calendar<<<n / 256, 256>>>(chosen, lengths);
    distances<<<n / 64, dim3(64, 4)>>>(floats, floats, sums);
    cube<<<n / 512, dim3(8, 8, 8)>>>(floats, sums, 8);
    later<<<n / 256, 256>>>(days, days + n, lengths, 5);
    tickets<<<n / 4096, 256>>>(next, lengths);
    cudaDeviceSynchronize();
    std::printf("done\n");
}

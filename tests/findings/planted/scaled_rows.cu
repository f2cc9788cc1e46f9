// Scales the cells of rows that also have weights. Planted: the loop goes one cell too far, so that the first weight of
// each row is scaled as well. Fixed: it ends at the last cell.
#include <cstdio>
#include <vector>

constexpr int width = 1024;
struct Row { float cells[width], weights[32]; };

#ifdef CURED
constexpr int last = width - 1;
#else
constexpr int last = width;
#endif

__global__ void scale(Row *rows, float factor) {
    Row &row = rows[blockIdx.x];
    for (int i = threadIdx.x; i <= last; i += blockDim.x) row.cells[i] *= factor; // PLANTED
}

int main() {
    const int n = 512;
    std::vector<Row> host(n);
    for (Row &row : host) {
        for (int i = 0; i < width; ++i) row.cells[i] = i;
        for (float &weight : row.weights) weight = 0.5f;
    }
    Row *rows;
    cudaMalloc(&rows, n * sizeof(Row));
    cudaMemcpy(rows, host.data(), n * sizeof(Row), cudaMemcpyHostToDevice);
    scale<<<n, 256>>>(rows, 3.0f);
    cudaMemcpy(host.data(), rows, n * sizeof(Row), cudaMemcpyDeviceToHost);
    std::printf("%g %g\n", host[1].cells[width - 1], host[1].weights[0]);
    cudaFree(rows);
}

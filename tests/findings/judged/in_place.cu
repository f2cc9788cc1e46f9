// A step that changes an array in place, and the sum of its squares by a kernel of its own, which reads what has just been written. Then the same
// the other way round: what is read comes from the host, and is changed afterwards. And a step that needs what another kernel has made anywhere.
#include <cstring>
#include <cuda_runtime.h>
#include <vector>

struct Scalars {
    float step, sum;
};

const int count = 8 << 20;

__global__ void advance(float *rest, const float *direction, const Scalars *scalars) {
    for (int at = blockIdx.x * blockDim.x + threadIdx.x; at < count; at += gridDim.x * blockDim.x)
        rest[at] -= scalars->step * direction[at];
}

__global__ void square(const float *rest, Scalars *scalars) {
    float sum = 0;
    for (int at = blockIdx.x * blockDim.x + threadIdx.x; at < count; at += gridDim.x * blockDim.x) sum += rest[at] * rest[at]; // READ BACK
    for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(~0u, sum, step);
    if (threadIdx.x % 32 == 0) atomicAdd(&scalars->sum, sum);
}

// Rows of a sparse matrix, by columns: element k of each row lies beside that of the next row.
__global__ void product(const float *values, const int *columns, const float *vector, float *result, int rows, int each) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < each; k++) sum += values[k * rows + row] * vector[columns[k * rows + row]]; // A MATRIX
    result[row] = sum;
}

__global__ void relax(float *vector, const float *result) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    vector[row] += 0.1f * (1 - result[row]);
}

static void sparse() {
    const int rows = 1 << 18, each = 48;
    std::vector<int> host(rows * each);
    for (size_t at = 0; at < host.size(); at++) host[at] = (at * 2654435761u >> 5) % rows;
    float *values, *vector, *result;
    int *columns;
    cudaMalloc(&values, rows * each * sizeof(float));
    cudaMalloc(&columns, rows * each * sizeof(int));
    cudaMalloc(&vector, rows * sizeof(float));
    cudaMalloc(&result, rows * sizeof(float));
    cudaMemset(values, 0, rows * each * sizeof(float));
    cudaMemset(vector, 0, rows * sizeof(float));
    cudaMemcpy(columns, host.data(), host.size() * sizeof(int), cudaMemcpyHostToDevice);
    for (int step = 0; step < 4; step++) {
        product<<<rows / 256, 256>>>(values, columns, vector, result, rows, each);
        relax<<<rows / 256, 256>>>(vector, result);
    }
}

int main(int, char **arguments) {
    if (!strcmp(arguments[1], "sparse")) {
        sparse();
        return cudaDeviceSynchronize() != cudaSuccess;
    }
    float *rest, *direction;
    Scalars *scalars;
    cudaMalloc(&rest, count * sizeof(float));
    cudaMalloc(&direction, count * sizeof(float));
    cudaMalloc(&scalars, sizeof(Scalars));
    cudaMemset(rest, 0, count * sizeof(float));
    cudaMemset(direction, 0, count * sizeof(float));
    cudaMemset(scalars, 0, sizeof(Scalars));
    if (!strcmp(arguments[1], "after")) square<<<432, 256>>>(rest, scalars);
    advance<<<432, 256>>>(rest, direction, scalars);
    if (!strcmp(arguments[1], "before")) square<<<432, 256>>>(rest, scalars);
    return cudaDeviceSynchronize() != cudaSuccess;
}

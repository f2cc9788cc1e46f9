// Power iteration. The host takes each product, gives it the length of one, and sends it back as the next vector: to other memory.
#include <cmath>
#include <vector>
#include <cuda_runtime.h>

const int rows = 1 << 16, row_length = 4;

__global__ void product(const float *vector, float *result) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int at = 0; at < row_length; at++) sum += vector[(row + at * 32) % rows] * (at + 1);
    result[row] = sum;
}

// The first vector goes there by the same line as the others.
static void send(float *vector, const std::vector<float> &host) {
    cudaMemcpy(vector, host.data(), rows * sizeof(float), cudaMemcpyHostToDevice);
}

int main() {
    std::vector<float> host(rows, 1.0f);
    float *vector, *result;
    cudaMalloc(&vector, rows * sizeof(float));
    cudaMalloc(&result, rows * sizeof(float));
    send(vector, host);
    for (int step = 0; step < 6; step++) {
        product<<<rows / 256, 256>>>(vector, result);
        cudaMemcpy(host.data(), result, rows * sizeof(float), cudaMemcpyDeviceToHost); // TO THE HOST
        double length = 0;
        for (float one : host) length += one * one;
        for (float &one : host) one = float(one / std::sqrt(length) + step);
        send(vector, host);
    }
    // A filter whose pictures come from the host, through one place: each launch has its own.
    for (int picture = 0; picture < 6; picture++) {
        for (float &one : host) one += picture;
        cudaMemcpy(vector, host.data(), rows * sizeof(float), cudaMemcpyHostToDevice);
        product<<<rows / 256, 256>>>(vector, result);
        cudaMemcpy(host.data(), result, rows * sizeof(float), cudaMemcpyDeviceToHost); // A PICTURE
    }
    return 0;
}

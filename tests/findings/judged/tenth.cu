// Planted problems that were not found, or told in part (docs/design/findings.md, twelfth round); `// WORDS` mark lines.
#include <cstdio>
#include <vector>

// Neighbours above and below in rows that begin anywhere: each of four accesses wastes a twentieth of the kernel's sectors.
__global__ void blur(const float *image, float *result, int width, int height, int pitch) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y + 1;
    if (x >= width || y >= height - 1) return;
    const float *row = image + y * pitch;
    result[y * pitch + x] = 0.25f * row[x - pitch] + 0.5f * row[x] + 0.25f * row[x + pitch]; // ROWS
}

// Constants that make doubles of floats.
__global__ void gamma_correct(float *pixels, int n, float gain) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float pixel = pixels[i];
    for (int k = 0; k < 32; ++k) pixel = pixel * 0.98 + gain * (1.0 - pixel) * 0.013; // LITERALS
    pixels[i] = pixel;
}

// Doubles that are wanted.
__global__ void polynomial(double *values, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double value = values[i];
    for (int k = 0; k < 32; ++k) value = value * 0.98 + (1.0 - value) * 0.013; // WANTED
    values[i] = value;
}

int main() {
    int width = 2048, height = 128, pitch = 2049, n = 1 << 18;
    float *image, *result, *pixels;
    double *values;
    cudaMalloc(&image, pitch * height * sizeof(float));
    cudaMalloc(&result, pitch * height * sizeof(float));
    cudaMalloc(&pixels, n * sizeof(float));
    cudaMalloc(&values, n * sizeof(double));
    cudaMemset(image, 0, pitch * height * sizeof(float));
    cudaMemset(pixels, 0, n * sizeof(float));
    cudaMemset(values, 0, n * sizeof(double));
    blur<<<dim3(width / 256, height - 2), 256>>>(image, result, width, height, pitch);
    gamma_correct<<<n / 256, 256>>>(pixels, n, 1.1f);
    polynomial<<<n / 256, 256>>>(values, n);
    bool good = cudaDeviceSynchronize() == cudaSuccess;
    puts(good ? "tenth: ok" : "tenth: failed");
    return !good;
}

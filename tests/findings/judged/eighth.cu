// Cases of an eleventh round of public programs (docs/design/findings.md); `// WORDS` mark lines.
#include <cstdio>
#include <vector>

// Neighbours in narrow pictures, held within the picture or taken from its other side: rows of a warp's threads begin anywhere.
__global__ void blur(const float *picture, float *blurred, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    float sum = 0;
    for (int step = -9; step <= 9; ++step)
        sum += picture[y * width + min(max(x + step, 0), width - 1)]; // CLAMPED
    blurred[y * width + x] = sum;
}

__global__ void ring(const float *picture, float *blurred, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    float sum = 0;
    for (int step = 1; step <= 9; ++step)
        sum += picture[y * width + (x + step) % width]; // ROUND
    blurred[y * width + x] = sum;
}

// A picture at another scale: the index is computed in floating point and held within the row.
__global__ void scale(const float *picture, float *scaled, int width, int scaled_width, float by) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    if (x >= scaled_width) return;
    int from = min(max(int(x * by), 0), width - 1);
    scaled[y * scaled_width + x] = picture[y * width + from]; // SCALED
}

// Each thread appends what passes to a list: the counter gives the places.
__global__ void append(const float *values, float *list, int *count, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && values[i] > 0.3f) {
        int place = atomicAdd(count, 3);
        list[place] = values[i]; // APPENDED
    }
}

// A row for each thread.
__global__ void sums(const float *rows, float *sum, int length) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    float s = 0;
    for (int k = 0; k < length; ++k)
        s += rows[row * length + k]; // ROW
    sum[row] = s;
}

// The warps walk a tree; all lanes of a warp take the same way.
__global__ void walk(const int *children, const float *mass, float *force) {
    int body = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int node = 0; node >= 0;) {
        sum += mass[node]; // WALK
        node = children[node]; // NEXT
    }
    force[body] = sum;
}

int main() {
    const int width = 28, height = 512, n = 1 << 16, nodes = 60000;
    float *wide, *scaled, *picture, *blurred, *values, *list, *rows, *sum, *mass, *force;
    int *count, *children;
    cudaMalloc(&picture, width * height * sizeof(float));
    cudaMalloc(&blurred, width * height * sizeof(float));
    cudaMemset(picture, 0, width * height * sizeof(float));
    blur<<<dim3(4, height / 32), dim3(8, 32)>>>(picture, blurred, width, height);
    ring<<<dim3(4, height / 32), dim3(8, 32)>>>(picture, blurred, width, height);
    cudaMalloc(&wide, 1024 * 64 * sizeof(float));
    cudaMemset(wide, 0, 1024 * 64 * sizeof(float));
    cudaMalloc(&scaled, 602 * 64 * sizeof(float));
    scale<<<dim3(3, 64), 256>>>(wide, scaled, 1024, 602, 1.7f);
    cudaMalloc(&values, n * sizeof(float));
    cudaMalloc(&list, 3 * n * sizeof(float));
    cudaMalloc(&count, sizeof(int));
    cudaMemset(count, 0, sizeof(int));
    std::vector<float> host(n);
    for (int i = 0; i < n; ++i) host[i] = i * 37 % 100 * 0.01f;
    cudaMemcpy(values, host.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    append<<<n / 256, 256>>>(values, list, count, n);
    cudaMalloc(&rows, 512 * 256 * sizeof(float));
    cudaMalloc(&sum, 512 * sizeof(float));
    cudaMemset(rows, 0, 512 * 256 * sizeof(float));
    sums<<<4, 128>>>(rows, sum, 256);
    cudaMalloc(&mass, nodes * sizeof(float));
    cudaMalloc(&force, 1024 * sizeof(float));
    cudaMalloc(&children, nodes * sizeof(int));
    std::vector<int> next(nodes);
    for (int i = 0; i < nodes; ++i) next[i] = i + 1 + i * 7 % 180 < nodes ? i + 1 + i * 7 % 180 : -1;
    cudaMemset(mass, 0, nodes * sizeof(float));
    cudaMemcpy(children, next.data(), nodes * sizeof(int), cudaMemcpyHostToDevice);
    walk<<<4, 256>>>(children, mass, force);
    std::printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}

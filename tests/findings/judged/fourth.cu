// Cases of a fourth round of judging (docs/design/findings.md); `// WORDS` mark lines.
#include <cstdint>
#include <cstring>
#include <cub/block/block_load.cuh>
#include <cub/block/block_store.cuh>
#include <cuda_runtime.h>
#include <thrust/device_ptr.h>
#include <thrust/reduce.h>
#include <vector>

// A structure that holds an array is no array of structures.
struct Tile {
  float cells[32 * 32];
  __device__ float& at(int row, int column) { return cells[row * 32 + column]; }
};

__global__ void transpose(const float* __restrict__ in, float* __restrict__ out, int n) {
  __shared__ Tile staging;
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int k = 0; k < 32; k += 8) staging.at(threadIdx.y + k, threadIdx.x) = in[(y + k) * n + x];
  __syncthreads();
  const int tx = blockIdx.y * 32 + threadIdx.x, ty = blockIdx.x * 32 + threadIdx.y;
  for (int k = 0; k < 32; k += 8)
    out[(ty + k) * n + tx] = staging.at(threadIdx.x, threadIdx.y + k);  // TILE OF A STRUCTURE
}

// threadIdx.x counts planes, and blockIdx.z what lies side by side.
__global__ void decay(float* cells, int nx, int ny, int nz) {
  int k = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y, i = blockIdx.z;
  if (i < nx && j < ny && k < nz) cells[(k * ny + j) * nx + i] *= 0.9f;  // PLANES
}

// CUB's direct algorithms, in a kernel of one's own.
__global__ void clamp_samples(const int* __restrict__ samples, int* __restrict__ clamped) {
  using Load = cub::BlockLoad<int, 128, 16, cub::BLOCK_LOAD_DIRECT>;
  using Store = cub::BlockStore<int, 128, 16, cub::BLOCK_STORE_DIRECT>;
  int items[16];
  Load().Load(samples + blockIdx.x * 2048, items);  // BLOCK LOAD
  for (int i = 0; i < 16; ++i) items[i] = min(max(items[i], 3), 200);
  Store().Store(clamped + blockIdx.x * 2048, items);  // BLOCK STORE
}

// All of a structure whose alignment keeps the compiler from one wide access.
struct Joint {
  float rotation[4];
};

__global__ void pose(const Joint* __restrict__ joints, float4* __restrict__ poses, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float4 q = *reinterpret_cast<const float4*>(joints[i].rotation);  // WHOLE JOINT
  poses[i] = make_float4(q.w, q.x, q.y, q.z);
}

// Places in a table that the data chooses, in a kernel that waits for DRAM.
__global__ void look_up(const uint8_t* __restrict__ symbols, float4* __restrict__ values, int n) {
  __shared__ float table[256];
  table[threadIdx.x] = threadIdx.x * 0.5f;
  __syncthreads();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float value = table[symbols[i]];  // TABLE
  if (i < n) values[i] = make_float4(value, value, value, value);
}

// Mapped host memory that caches hold while the emulation runs.
__global__ void correlate(const float* ring, float* lags, int head) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0.0f;
  for (int delay = 1; delay < 16; ++delay) sum += ring[((head + 16 - delay) % 16) * 4096 + i];  // DELAY LINE
  lags[i] += sum;
}

static void upload(int* queue, int turns) {
  int entries[64];
  for (int turn = 0; turn < turns; ++turn) {
    int first = turn % 20 == 1 ? turn - 1 : turn;  // now and then the same again
    for (int i = 0; i < 64; ++i) entries[i] = first + i;
    cudaMemcpy(queue, entries, sizeof(entries), cudaMemcpyHostToDevice);  // TWO WAYS
  }
}

// The numbers of blocks are written down: nothing goes on in steps of the grid.
__global__ void number(int* numbers) {
  int block = blockIdx.y * gridDim.x + blockIdx.x;
  for (int k = 0; k < 500; ++k) numbers[block] = numbers[block] / 3 + threadIdx.x;
}

// Nearly all lanes go on for long, a few have done.
__global__ void bisect(const float* targets, float* roots) {
  int i = threadIdx.x;
  float low = 0.0f, high = 4.0f, target = targets[i];
  for (int turn = 0; turn < 400; ++turn) {
    float middle = 0.5f * (low + high), value = 0.0f;
    for (int k = 0; k < 12; ++k) value = __fmaf_rn(value, 0.3f, middle);
    if (fabsf(value - target) <= 0.25f * (i % 32 < 3)) break;  // LEAVES
    if (value < target) low = middle;
    else high = middle;
  }
  roots[i] = low;
}

// A launch for each part of the data, which begins anywhere.
__global__ void shift(float* part, int n) {
  int i = threadIdx.x;
  if (i < n) part[i] += 1.0f;  // PART
}

static void few() {
  float *targets, *roots;
  cudaMalloc(&targets, 4096 * sizeof(float));
  cudaMalloc(&roots, 4096 * sizeof(float));
  std::vector<float> values(4096);
  for (int i = 0; i < 4096; ++i) values[i] = 1.0f + i % 7;
  cudaMemcpy(targets, values.data(), values.size() * sizeof(float), cudaMemcpyHostToDevice);
  number<<<dim3(2, 2), 32>>>(reinterpret_cast<int*>(roots));  // NUMBERED
  bisect<<<1, 256>>>(targets, roots);
  for (int begin = 1; begin < 3000; begin += 251) shift<<<1, 256>>>(targets + begin, 251);
  cudaDeviceSynchronize();
}

int main(int argc, char**) {
  if (argc > 1) {
    few();
    return 0;
  }

  const int n = 1024;
  float *source, *target;
  cudaMalloc(&source, n * n * sizeof(float));
  cudaMalloc(&target, n * n * sizeof(float));
  cudaMemset(source, 0, n * n * sizeof(float));
  transpose<<<dim3(n / 32, n / 32), dim3(32, 8)>>>(source, target, n);
  decay<<<dim3(2, 32, 128), dim3(32, 4)>>>(target, 128, 128, 64);
  clamp_samples<<<n * n / 2048, 128>>>(reinterpret_cast<int*>(source), reinterpret_cast<int*>(target));

  Joint* joints;
  float4* poses;
  cudaMalloc(&joints, 65536 * sizeof(Joint));
  cudaMalloc(&poses, 65536 * sizeof(float4));
  cudaMemset(joints, 0, 65536 * sizeof(Joint));
  pose<<<65536 / 128, 128>>>(joints, poses, 65536);

  std::vector<uint8_t> text(n * n / 4);
  uint32_t state = 7;
  for (auto& symbol : text) symbol = (state = state * 1664525u + 1013904223u) >> 24;
  uint8_t* symbols;
  cudaMalloc(&symbols, text.size());
  cudaMemcpy(symbols, text.data(), text.size(), cudaMemcpyHostToDevice);
  for (int i = 0; i < 8; ++i) look_up<<<text.size() / 256, 256>>>(symbols, reinterpret_cast<float4*>(target), text.size());

  float *samples, *ring, *lags;
  cudaHostAlloc(&samples, 65536 * sizeof(float), cudaHostAllocMapped);
  std::memset(samples, 0, 65536 * sizeof(float));
  cudaHostGetDevicePointer(&ring, samples, 0);
  cudaMalloc(&lags, 4096 * sizeof(float));
  cudaMemset(lags, 0, 4096 * sizeof(float));
  for (int head = 0; head < 8; ++head) correlate<<<64, 64>>>(ring, lags, head);

  int* queue;
  cudaMalloc(&queue, 256);
  upload(queue, 60);
  upload(queue, 40);

  float total = 0.0f;
  for (int turn = 0; turn < 11 + argc; ++turn)
    total += thrust::reduce(thrust::device_ptr<float>(lags), thrust::device_ptr<float>(lags + 4096));  // SCRATCH
  cudaDeviceSynchronize();
  return total == 1.0f;
}

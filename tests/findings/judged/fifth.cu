// Cases of a fifth round of judging (docs/design/findings.md); `// WORDS` mark lines.
#include <cuda_runtime.h>
#include <utility>
#include <vector>

// What a kernel takes of a structure elsewhere counts: all of it, behind the branch.
__global__ void overlaps(const float4* __restrict__ boxes, unsigned char* __restrict__ hits, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y;
  if (boxes[i].w < boxes[j].w) {  // ONE MEMBER FIRST
    const float4 one = boxes[i], other = boxes[j];
    hits[j * n + i] = one.x * other.y < one.z * other.x + one.y * other.z;
  }
}

// Steps of a scan: the distance between lanes doubles.
__global__ void scan_tiles(const int* __restrict__ in, int* __restrict__ out) {
  __shared__ int sums[512];
  const int t = threadIdx.x, base = blockIdx.x * 512;
  sums[t] = in[base + t];
  sums[t + 256] = in[base + t + 256];
  int offset = 1;
  for (int d = 256; d > 0; d >>= 1, offset <<= 1) {
    __syncthreads();
    if (t < d) sums[offset * (2 * t + 2) - 1] += sums[offset * (2 * t + 1) - 1];  // TREE
  }
  __syncthreads();
  out[base + t] = sums[t];
  out[base + t + 256] = sums[t + 256];
}

// A stack in shared memory: every second thread pushes, all of them pop.
struct Item {
  int a, b, c, d;
};

__global__ void stack(int* __restrict__ result) {
  __shared__ int top;
  __shared__ Item items[256];
  if (threadIdx.x == 0) top = 0;
  __syncthreads();
  const int half = threadIdx.x / 2;
  for (int turn = 0; turn < 64; ++turn) {
    if (threadIdx.x % 2 == 0) items[(half + 32 * turn) & 127].b = turn;  // EVERY SECOND
    __syncthreads();
  }
  if (threadIdx.x < 128) atomicAdd(&top, 1);
  __syncthreads();
  for (int turn = 0; turn < 64; ++turn) {
    int place = 0;
    if (threadIdx.x < 32) place = atomicAdd(&top, -1);  // POP
    if (place > 1000) result[threadIdx.x] = items[place & 127].b;
  }
  result[threadIdx.x] = items[half].b;
}

// One thread does it all: threads of its own, or another kernel's.
__global__ void alone(float* values, int n) {
  for (int i = 1; i < n; ++i) values[i] = values[i - 1] * 0.5f + values[i];
}

// A value whose address a function takes is no array.
__device__ __noinline__ bool next(int& value, int limit) {
  value = value * 5 + 1;  // ADDRESS
  return value < limit;
}

__global__ void walk(int* result, int limit) {
  int value = threadIdx.x;
  while (next(value, limit)) result[threadIdx.x] += value;
}

// Threads at a block's border load for the others and do no more: their names are given to the thread's number.
__global__ void border(const float* __restrict__ in, float* __restrict__ out, int n) {
  __shared__ float row[4][16];
  const int column = threadIdx.x;
  const int line = threadIdx.y;
  row[line][column] = in[(blockIdx.x * 4 + line) * 16 + column];
  __syncthreads();
  if (column > 2 && column < 13) {  // BORDER
    float sum = row[line][column];
    for (int k = 0; k < 200; ++k) sum = sum * 0.9f + row[line][column - 1] / (1.0f + sum * sum);
    out[(blockIdx.x * 4 + line) * 16 + column] = sum;
  }
}

// Which side a thread takes is read by its number, and is no number of a thread.
__global__ void sides(const int* __restrict__ kind, float* __restrict__ out, int n) {
  const int tid = blockIdx.x * blockDim.x + threadIdx.x;
  if (kind[tid] == 1) {  // KIND
    float sum = tid;
    for (int k = 0; k < 200; ++k) sum = sum * 0.9f + 1.0f / (1.0f + sum * sum);
    out[tid] = sum;
  } else {
    float sum = -tid;
    for (int k = 0; k < 200; ++k) sum = sum * 0.8f - 1.0f / (2.0f + sum * sum);
    out[tid] = sum;
  }
}

// New data in each turn, which one launch goes over once.
__global__ void total(const float* __restrict__ data, float* __restrict__ sums, int n) {
  float sum = 0.0f;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += data[i];  // NEW DATA
  sums[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

__global__ void smooth(const float* __restrict__ before, float* __restrict__ after, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i > 0 && i < n - 1) after[i] = 0.25f * before[i - 1] + 0.5f * before[i] + 0.25f * before[i + 1];
}

__global__ void fetch(cudaTextureObject_t image, float* __restrict__ out, int width) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  out[y * width + x] = tex2D<float>(image, y + 0.5f, (x * 37 + y * 11) % 256 + 0.5f);  // TEXTURE
}

__global__ void first(const char* __restrict__ data, char* __restrict__ out) { out[threadIdx.x] = data[threadIdx.x]; }

static void upload(const std::vector<char>& host, char* out) {
  char* d_mask;
  cudaMalloc(&d_mask, host.size());
  cudaMemcpy(d_mask, host.data(), host.size(), cudaMemcpyHostToDevice);  // MASK
  first<<<1, 128>>>(d_mask, out);
  cudaFree(d_mask);
}

int main(int argc, char** argv) {
  const int n = 1 << 20;
  std::vector<float> field(n);
  for (int i = 0; i < n; ++i) field[i] = i * 37 % 101;
  float *one, *other;
  cudaMalloc(&one, n * sizeof(float));
  cudaMalloc(&other, n * sizeof(float));
  cudaMemset(other, 0, n * sizeof(float));
  for (int turn = 0; turn < 6; ++turn) {
    field[turn] += argc;
    cudaMemcpy(one, field.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    total<<<32, 256>>>(one, other, n);
  }

  // The field goes back and forth, by way of the host.
  std::vector<float> part(n / 8);
  for (int i = 0; i < n / 8; ++i) part[i] = i * 41 % 103;
  float *now, *next;
  cudaMalloc(&now, n / 8 * sizeof(float));
  cudaMalloc(&next, n / 8 * sizeof(float));
  cudaMemset(next, 0, n / 8 * sizeof(float));
  for (int turn = 0; turn < 6; ++turn) {
    cudaMemcpy(now, part.data(), n / 8 * sizeof(float), cudaMemcpyHostToDevice);  // FORTH
    smooth<<<n / 8 / 256, 256>>>(now, next, n / 8);
    cudaMemcpy(part.data(), next, n / 8 * sizeof(float), cudaMemcpyDeviceToHost);
  }

  // Here the host changes what came back.
  std::vector<float> changed(n / 8);
  float* fields;
  cudaMalloc(&fields, n / 8 * sizeof(float));
  for (int turn = 0; turn < 6; ++turn) {
    changed[turn] += 1.0f;
    cudaMemcpy(now, changed.data(), n / 8 * sizeof(float), cudaMemcpyHostToDevice);  // CHANGED
    smooth<<<n / 8 / 256, 256>>>(now, fields, n / 8);
    cudaMemcpy(changed.data(), fields, n / 8 * sizeof(float), cudaMemcpyDeviceToHost);
  }

  overlaps<<<dim3(4, 1024), 256>>>(reinterpret_cast<const float4*>(one), reinterpret_cast<unsigned char*>(other), 1024);
  scan_tiles<<<512, 256>>>(reinterpret_cast<int*>(one), reinterpret_cast<int*>(other));
  stack<<<1, 256>>>(reinterpret_cast<int*>(other));
  alone<<<1, 1>>>(other, 20000);  // ALONE
  alone<<<1, 1>>>(other, argc > 9 ? n : 2);
  walk<<<64, 64>>>(reinterpret_cast<int*>(other), 100000);
  border<<<512, dim3(16, 4)>>>(one, other, n);
  std::vector<int> kinds(n / 16);
  for (int i = 0; i < n / 16; ++i) kinds[i] = i * 7919 >> 3 & 1;
  int* kind;
  cudaMalloc(&kind, n / 16 * sizeof(int));
  cudaMemcpy(kind, kinds.data(), n / 16 * sizeof(int), cudaMemcpyHostToDevice);
  sides<<<n / 16 / 256, 256>>>(kind, other, n / 16);

  cudaArray_t picture;
  cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaMallocArray(&picture, &format, 256, 256);
  cudaMemcpy2DToArray(picture, 0, 0, field.data(), 1024, 1024, 256, cudaMemcpyHostToDevice);
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = picture;
  cudaTextureDesc texture = {};
  cudaTextureObject_t image;
  cudaCreateTextureObject(&image, &resource, &texture, nullptr);
  fetch<<<dim3(8, 32), dim3(32, 8)>>>(image, other, 256);

  std::vector<char> mask(n);
  for (int turn = 0; turn < 3; ++turn) upload(mask, reinterpret_cast<char*>(other));
  upload(mask, reinterpret_cast<char*>(other));
  return cudaDeviceSynchronize();
}

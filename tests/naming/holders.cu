// Memory that is held by objects is called like the variables that these are.
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

template <class T> class DeviceBuffer {
  T *ptr_ = nullptr;
  size_t n_ = 0;

public:
  explicit DeviceBuffer(size_t n) : n_(n) { cudaMalloc(&ptr_, n * sizeof(T)); }
  DeviceBuffer(DeviceBuffer &&other) noexcept : ptr_(std::exchange(other.ptr_, nullptr)), n_(other.n_) {}
  DeviceBuffer(const DeviceBuffer &) = delete;
  ~DeviceBuffer() { cudaFree(ptr_); }
};

struct Growing {
  float *data = nullptr;
  void resize(size_t n) {
    cudaFree(data);
    cudaMalloc((void **)&data, n * 4);
  }
};

struct Layer {
  DeviceBuffer<float> weights, bias;
  explicit Layer(size_t n) : weights(n), bias(n + 1) {}
};

struct Net {
  std::vector<Layer> layers;
  DeviceBuffer<float> scratch{3};
};

// Not its memory alone, although it has one pointer only.
struct Solver {
  int nx;
  double *velocity;
  explicit Solver(int nx) : nx(nx) { cudaMalloc(&velocity, nx * sizeof(double)); }
};

struct Free {
  void operator()(float *memory) const { cudaFree(memory); }
};

// Other units may call these.
std::unique_ptr<float, Free> make_device(size_t n) {
  float *raw = nullptr;
  cudaMalloc(&raw, n * 4);
  return std::unique_ptr<float, Free>(raw);
}

float *allocate_floats(size_t n) {
  float *fresh = nullptr;
  if (n)
    cudaMalloc(&fresh, n * 4);
  return fresh;
}

float *(*volatile through_pointer)(size_t) = allocate_floats;

int main() {
  DeviceBuffer<float> temperature(1);
  std::vector<DeviceBuffer<float>> many;
  many.emplace_back(20);
  many.emplace_back(21);
  auto smart = make_device(30);
  auto heap = std::make_unique<DeviceBuffer<float>>(40);
  auto shared = std::make_shared<DeviceBuffer<float>>(50);
  auto *bare = new DeviceBuffer<float>(55);
  Net net;
  net.layers.emplace_back(60);
  Growing grown;
  grown.resize(70);
  std::map<std::string, DeviceBuffer<float>> table;
  table.emplace("alpha", 80);
  Solver solver(90);
  float *none = allocate_floats(0);
  float *direct = nullptr;
  cudaMalloc(&direct, 100 * 4);
  float *plain = allocate_floats(110);
  float *indirect = through_pointer(120);
  for (float *memory : {none, direct, plain, indirect, grown.data})
    cudaFree(memory);
  cudaFree(solver.velocity);
  delete bare;
  puts("done");
}

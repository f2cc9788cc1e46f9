// What a temporary allocates is called like the variable that takes it over.
#include "cuda.h"

class Buffer {
public:
  Buffer() = default;
  explicit Buffer(size_t n) : size_(n) { cudaMalloc(&p_, n); }
  Buffer &operator=(Buffer &&other) {
    float *kept = p_;
    p_ = other.p_;
    other.p_ = kept;
    size_ = other.size_;
    return *this;
  }
  ~Buffer();

private:
  float *p_ = nullptr;
  size_t size_ = 0;
};

struct Market {
  Buffer close_, volume_;
  Market(size_t n) { close_ = Buffer(n); }
};

void use(void *);

void assigned(size_t n) {
  Buffer prices;
  prices = Buffer(n);
  Market market(n);
  market.volume_ = Buffer(n);
  use(&prices);
  use(&market);
}

// CHECK-LABEL: define {{.*}} @_Z8assignedm(
// CHECK: call void @__warpline_name(ptr nonnull @__warpline_text.prices)
// CHECK: {{call|invoke}} {{.*}} @cudaMalloc(
// CHECK: call void @__warpline_name(ptr nonnull @__warpline_text.market.close_)
// CHECK: {{call|invoke}} {{.*}} @cudaMalloc(
// CHECK: call void @__warpline_name(ptr nonnull @__warpline_text.market.volume_)
// CHECK: {{call|invoke}} {{.*}} @cudaMalloc(

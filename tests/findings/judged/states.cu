// Objects that own memory and are copied by each call that takes them, and three arrays that launches sweep together, a step each.
#include <cstring>
#include <cuda_runtime.h>
#include <utility>

template <class T> class Owned {
    T *data_ = nullptr;
    int size_ = 0;

public:
    explicit Owned(int size) : size_(size) { cudaMalloc(&data_, size * sizeof(T)); } // ALLOCATED
    Owned(const Owned &other) : Owned(other.size_) {
        cudaMemcpy(data_, other.data_, size_ * sizeof(T), cudaMemcpyDeviceToDevice);
    }
    Owned(Owned &&other) noexcept : data_(std::exchange(other.data_, nullptr)), size_(other.size_) {}
    ~Owned() { cudaFree(data_); }
    T *data() const { return data_; }
    int size() const { return size_; }
};

__global__ void difference(const float *have, const float *want, float *out, int count) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at < count) out[at] = want[at] - have[at];
}

static void compare(Owned<float> have, const Owned<float> &want, Owned<float> &out) {
    difference<<<have.size() / 256, 256>>>(have.data(), want.data(), out.data(), have.size());
}

static void by_value() {
    const int count = 1 << 16;
    Owned<float> have(count), want(count), out(count);
    cudaMemset(have.data(), 0, count * sizeof(float));
    cudaMemset(want.data(), 0, count * sizeof(float));
    for (int step = 0; step < 12; step++) compare(have, want, out); // HANDED BY VALUE
}

static Owned<float> differences(const Owned<float> &have, const Owned<float> &want) {
    Owned<float> out(have.size()); // RETURNED
    difference<<<have.size() / 256, 256>>>(have.data(), want.data(), out.data(), have.size());
    return out;
}

static void returned() {
    const int count = 1 << 16;
    Owned<float> have(count), want(count);
    cudaMemset(have.data(), 0, count * sizeof(float));
    cudaMemset(want.data(), 0, count * sizeof(float));
    for (int step = 0; step < 12; step++) differences(have, want);
}

__global__ void decay(float *parents, float *daughters, float *stable, float rate, int count) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= count) return;
    float parent = parents[at], daughter = daughters[at]; // SWEPT TOGETHER
    parents[at] = parent - rate * parent;
    daughters[at] = daughter + rate * parent - rate * daughter;
    stable[at] += rate * daughter; // SWEPT WITH THEM
}

static void swept() {
    const int count = 4 << 20;
    Owned<float> parents(count), daughters(count), stable(count);
    for (auto *one : {&parents, &daughters, &stable}) cudaMemset(one->data(), 0, count * sizeof(float));
    for (int step = 0; step < 6; step++)
        decay<<<count / 256, 256>>>(parents.data(), daughters.data(), stable.data(), 0.01f, count);
}

int main(int, char **arguments) {
    if (!strcmp(arguments[1], "by_value")) by_value();
    if (!strcmp(arguments[1], "returned")) returned();
    if (!strcmp(arguments[1], "swept")) swept();
    return cudaDeviceSynchronize() != cudaSuccess;
}

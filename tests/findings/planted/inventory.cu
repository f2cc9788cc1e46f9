// Books the sales of a shop day by day. Planted: each day makes and gives back its own buffer. Fixed: one buffer for all days.
#include <cstdio>
#include <memory>
#include <vector>

template <class T>
struct DeviceBuffer {
    T *data = nullptr;
    explicit DeviceBuffer(size_t count) { cudaMalloc(&data, count * sizeof(T)); }
    ~DeviceBuffer() { cudaFree(data); }
};

__global__ void book(const int *sold, int *stock, int goods) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < goods) stock[i] -= sold[i];
}

int main() {
    const int goods = 1 << 14, days = 24;
    int *stock;
    cudaMalloc(&stock, goods * sizeof(int));
    cudaMemset(stock, 0, goods * sizeof(int));
    std::vector<int> sales(goods);
#ifdef CURED
    DeviceBuffer<int> sold(goods);
#endif
    for (int day = 0; day < days; ++day) {
        for (int i = 0; i < goods; ++i) sales[i] = (i * 7 + day) % 11;
#ifndef CURED
        DeviceBuffer<int> sold(goods); // PLANTED
#endif
        cudaMemcpy(sold.data, sales.data(), goods * sizeof(int), cudaMemcpyHostToDevice);
        book<<<goods / 256, 256>>>(sold.data, stock, goods);
    }
    cudaMemcpy(sales.data(), stock, goods * sizeof(int), cudaMemcpyDeviceToHost);
    std::printf("%d\n", sales[1]);
}

// Mixes channels of sound. Planted: the kernel takes two members of a record that has twelve. Fixed: an array for each member.
#include <cstdio>
#include <vector>

struct Frame {
    float left, right, gain, pan, low, mid, high, reverb, delay, chorus, drive, width;
};

#ifdef CURED
__global__ void mix(const float *left, const float *right, float *out, int frames) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < frames) out[i] = 0.5f * (left[i] + right[i]);
}
#else
__global__ void mix(const Frame *desk, float *out, int frames) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < frames) out[i] = 0.5f * (desk[i].left + desk[i].right); // PLANTED
}
#endif

int main() {
    const int frames = 1 << 20;
    float *out;
    cudaMalloc(&out, frames * sizeof(float));
#ifdef CURED
    std::vector<float> side(frames, 0.25f);
    float *left, *right;
    cudaMalloc(&left, frames * sizeof(float));
    cudaMalloc(&right, frames * sizeof(float));
    cudaMemcpy(left, side.data(), frames * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(right, side.data(), frames * sizeof(float), cudaMemcpyHostToDevice);
    mix<<<frames / 256, 256>>>(left, right, out, frames);
#else
    std::vector<Frame> host(frames, Frame{0.25f, 0.25f});
    Frame *desk;
    cudaMalloc(&desk, frames * sizeof(Frame));
    cudaMemcpy(desk, host.data(), frames * sizeof(Frame), cudaMemcpyHostToDevice);
    mix<<<frames / 256, 256>>>(desk, out, frames);
#endif
    std::vector<float> mixed(frames);
    cudaMemcpy(mixed.data(), out, frames * sizeof(float), cudaMemcpyDeviceToHost);
    std::printf("%f\n", mixed[77]);
}

// Pixels of one byte are brightened. Planted: a thread takes one pixel. Fixed: a thread takes four in one access.
#include <cstdio>

#ifdef CURED
__device__ unsigned brighter(unsigned value) { return value > 239 ? 255 : value + 16; }
__global__ void brighten(const uchar4 *in, uchar4 *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n / 4) return;
    uchar4 p = in[i];
    out[i] = make_uchar4(brighter(p.x), brighter(p.y), brighter(p.z), brighter(p.w));
}
#else
__global__ void brighten(const unsigned char *in, unsigned char *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int value = in[i];                                                 // PLANTED
    out[i] = static_cast<unsigned char>(value > 239 ? 255 : value + 16); // PLANTED
}
#endif

int main() {
    const int n = 1 << 20;
    unsigned char *in, *out, first;
    cudaMalloc(&in, n);
    cudaMalloc(&out, n);
    cudaMemset(in, 7, n);
#ifdef CURED
    brighten<<<n / 1024, 256>>>(reinterpret_cast<uchar4 *>(in), reinterpret_cast<uchar4 *>(out), n);
#else
    brighten<<<n / 256, 256>>>(in, out, n);
#endif
    cudaMemcpy(&first, out, 1, cudaMemcpyDeviceToHost);
    cudaFree(in);
    cudaFree(out);
    std::printf("%d\n", first);
}

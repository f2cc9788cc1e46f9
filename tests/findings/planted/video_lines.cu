// Blends the lines of a picture with those before. Planted: a line has 1921 floats, so that lines begin anywhere. Fixed: its memory
// has a pitch of 1984.
#include <cstdio>
#include <vector>

__global__ void blend(const float *picture, float *blended, int width, int pitch) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    if (x < width) blended[y * pitch + x] = 0.25f * picture[y * pitch + x]; // PLANTED
}

int main() {
    const int width = 1921, height = 512;
#ifdef CURED
    const int pitch = 1984;
#else
    const int pitch = width;
#endif
    std::vector<float> film(pitch * height, 0.5f);
    float *picture, *blended;
    cudaMalloc(&picture, film.size() * sizeof(float));
    cudaMalloc(&blended, film.size() * sizeof(float));
    cudaMemset(blended, 0, film.size() * sizeof(float));
    cudaMemcpy(picture, film.data(), film.size() * sizeof(float), cudaMemcpyHostToDevice);
    blend<<<dim3((width + 255) / 256, height), 256>>>(picture, blended, width, pitch);
    cudaMemcpy(film.data(), blended, film.size() * sizeof(float), cudaMemcpyDeviceToHost);
    std::printf("%f\n", film[4]);
}

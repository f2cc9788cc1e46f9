// Moves stars over the sky. Planted: constants make the arithmetic double on a GPU that has little of it. Fixed: constants are floats.
#include <cstdio>
#include <vector>

#ifdef CURED
#define PRECESSION 0.0139697f
#define HALF 0.5f
#else
#define PRECESSION 0.0139697
#define HALF 0.5
#endif

__global__ void track(const float *ascension, float *moved, int stars, int years) {
    int star = blockIdx.x * blockDim.x + threadIdx.x;
    if (star >= stars) return;
    float angle = ascension[star];
    for (int year = 0; year < years; ++year) angle = angle + PRECESSION * (angle * HALF + 1.0f); // PLANTED
    moved[star] = angle;
}

int main() {
    const int stars = 1 << 16;
    std::vector<float> sky(stars, 0.25f);
    float *ascension, *moved;
    cudaMalloc(&ascension, stars * sizeof(float));
    cudaMalloc(&moved, stars * sizeof(float));
    cudaMemcpy(ascension, sky.data(), stars * sizeof(float), cudaMemcpyHostToDevice);
    track<<<stars / 256, 256>>>(ascension, moved, stars, 50);
    cudaMemcpy(sky.data(), moved, stars * sizeof(float), cudaMemcpyDeviceToHost);
    std::printf("%f\n", sky[8]);
}

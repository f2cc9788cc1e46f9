// Texture references that `references.cpp` binds by the driver API.
texture<float, 2, cudaReadModeElementType> picture;
texture<unsigned char, 1, cudaReadModeNormalizedFloat> levels;
texture<int, 1, cudaReadModeElementType> numbers;
__device__ long long eight;

extern "C" __global__ void look(float *out, int width, int shift)
{
    int x = threadIdx.x;
    out[x] = tex2D(picture, x % width + 0.5f, x / width + 0.5f);
    out[32 + x] = tex1Dfetch(levels, x);
    out[64 + x] = tex1Dfetch(numbers, x + shift);
}

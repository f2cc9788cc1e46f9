// Texture objects: linear, pitched and array memory, address and read modes, filtering, layers and cubes.
#include "test.h"

template <typename T>
static cudaTextureObject_t texture_of(const cudaResourceDesc &resource, cudaTextureAddressMode mode, bool linear,
                                      bool normalized, bool floats)
{
    cudaTextureDesc desc = {};
    for (auto &one : desc.addressMode) {
        one = mode;
    }
    desc.filterMode = linear ? cudaFilterModeLinear : cudaFilterModePoint;
    desc.readMode = floats ? cudaReadModeNormalizedFloat : cudaReadModeElementType;
    desc.normalizedCoords = normalized;
    cudaTextureObject_t object = 0;
    CHECK(cudaCreateTextureObject(&object, &resource, &desc, nullptr));
    return object;
}

static cudaResourceDesc of_array(cudaArray_t array)
{
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    return resource;
}

template <typename T>
static cudaResourceDesc of_memory(T *pointer, size_t count)
{
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear.devPtr = pointer;
    resource.res.linear.desc = cudaCreateChannelDesc<T>();
    resource.res.linear.sizeInBytes = count * sizeof(T);
    return resource;
}

template <typename T>
__global__ void fetch_1d(cudaTextureObject_t texture, T *out, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        out[i] = tex1Dfetch<T>(texture, i - 4);
    }
}

template <typename T>
static void linear_memory(const std::vector<T> &values)
{
    const int count = values.size() + 8;
    Device<T> memory(values), out(count);
    auto texture = texture_of<T>(of_memory(memory.pointer, values.size()), cudaAddressModeClamp, false, false, false);
    fetch_1d<T><<<1, 128>>>(texture, out, count);
    auto found = out.read();
    for (int i = 0; i < count; ++i) {
        T want = {};
        if (i >= 4 && i < count - 4) {
            want = values[i - 4];
        }
        EXPECT(std::memcmp(&found[i], &want, sizeof(T)) == 0);
    }
    CHECK(cudaDestroyTextureObject(texture));
}

__global__ void sample_2d(cudaTextureObject_t texture, float *out, int width, int height, float step, float from)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height) {
        out[y * width + x] = tex2D<float>(texture, from + x * step, from + y * step);
    }
}

static int place(int i, int size, cudaTextureAddressMode mode)
{
    if (mode == cudaAddressModeClamp) {
        return i < 0 ? 0 : i >= size ? size - 1 : i;
    }
    if (mode == cudaAddressModeBorder) {
        return i < 0 || i >= size ? -1 : i;
    }
    if (mode == cudaAddressModeWrap) {
        return ((i % size) + size) % size;
    }
    int turn = ((i % (2 * size)) + 2 * size) % (2 * size);
    return turn < size ? turn : 2 * size - 1 - turn;
}

static void two_dimensions()
{
    const int width = 32, height = 16, out_width = 90, out_height = 70;
    std::vector<float> texels(width * height);
    for (size_t i = 0; i < texels.size(); ++i) {
        texels[i] = (i * 37 % 101) - 50.0f;
    }
    auto format = cudaCreateChannelDesc<float>();
    cudaArray_t array;
    CHECK(cudaMallocArray(&array, &format, width, height));
    CHECK(cudaMemcpy2DToArray(array, 0, 0, texels.data(), width * 4, width * 4, height, cudaMemcpyHostToDevice));
    // The same in pitched memory.
    float *rows;
    size_t pitch;
    CHECK(cudaMallocPitch(&rows, &pitch, width * 4, height));
    CHECK(cudaMemcpy2D(rows, pitch, texels.data(), width * 4, width * 4, height, cudaMemcpyHostToDevice));
    cudaResourceDesc pitched = {};
    pitched.resType = cudaResourceTypePitch2D;
    pitched.res.pitch2D.devPtr = rows;
    pitched.res.pitch2D.desc = format;
    pitched.res.pitch2D.width = width;
    pitched.res.pitch2D.height = height;
    pitched.res.pitch2D.pitchInBytes = pitch;
    Device<float> out(out_width * out_height);
    for (auto &resource : {of_array(array), pitched}) {
        for (auto mode : {cudaAddressModeWrap, cudaAddressModeClamp, cudaAddressModeMirror, cudaAddressModeBorder}) {
            for (bool linear : {false, true}) {
                bool normalized = mode == cudaAddressModeWrap || mode == cudaAddressModeMirror;
                // 32 and 16 texels: a step is exact in both directions.
                float step = normalized ? 1.0f / 64 : 0.75f, from = normalized ? -0.5f : -9.0f;
                auto texture = texture_of<float>(resource, mode, linear, normalized, false);
                sample_2d<<<dim3(6, 18), dim3(16, 4)>>>(texture, out, out_width, out_height, step, from);
                auto found = out.read();
                int wrong = 0;
                for (int y = 0; y < out_height; ++y) {
                    for (int x = 0; x < out_width; ++x) {
                        auto texel = [&](int i, int j) {
                            i = place(i, width, mode);
                            j = place(j, height, mode);
                            return i < 0 || j < 0 ? 0.0 : texels[j * width + i];
                        };
                        double u = (from + x * step) * (normalized ? width : 1);
                        double v = (from + y * step) * (normalized ? height : 1);
                        double want;
                        if (linear) {
                            u -= 0.5, v -= 0.5;
                            int i = std::floor(u), j = std::floor(v);
                            double a = u - i, b = v - j;
                            want = (1 - a) * (1 - b) * texel(i, j) + a * (1 - b) * texel(i + 1, j) +
                                   (1 - a) * b * texel(i, j + 1) + a * b * texel(i + 1, j + 1);
                        } else {
                            want = texel(std::floor(u), std::floor(v));
                        }
                        wrong += found[y * out_width + x] != static_cast<float>(want);
                    }
                }
                if (wrong) {
                    std::fprintf(stderr, "mode %d, linear %d: %d wrong\n", mode, linear, wrong);
                    ++failures;
                }
                CHECK(cudaDestroyTextureObject(texture));
            }
        }
    }
    CHECK(cudaFreeArray(array));
    CHECK(cudaFree(rows));
}

__global__ void normalized(cudaTextureObject_t bytes, cudaTextureObject_t shorts, float4 *out)
{
    out[threadIdx.x] = tex1D<float4>(bytes, threadIdx.x + 0.5f);
    float2 pair = tex1D<float2>(shorts, threadIdx.x + 0.5f);
    out[threadIdx.x + 32] = make_float4(pair.x, pair.y, 0, 0);
}

static void read_modes()
{
    std::vector<uchar4> bytes(32);
    std::vector<short2> shorts(32);
    for (int i = 0; i < 32; ++i) {
        bytes[i] = make_uchar4(i, 2 * i, 255 - i, 8 * i);
        shorts[i] = make_short2(i * 1000, -32768 + i);
    }
    auto byte_format = cudaCreateChannelDesc<uchar4>();
    auto short_format = cudaCreateChannelDesc<short2>();
    cudaArray_t byte_array, short_array;
    CHECK(cudaMallocArray(&byte_array, &byte_format, 32));
    CHECK(cudaMallocArray(&short_array, &short_format, 32));
    CHECK(cudaMemcpy2DToArray(byte_array, 0, 0, bytes.data(), 128, 128, 1, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy2DToArray(short_array, 0, 0, shorts.data(), 128, 128, 1, cudaMemcpyHostToDevice));
    auto of_bytes = texture_of<uchar4>(of_array(byte_array), cudaAddressModeClamp, false, false, true);
    auto of_shorts = texture_of<short2>(of_array(short_array), cudaAddressModeClamp, false, false, true);
    Device<float4> out(64);
    normalized<<<1, 32>>>(of_bytes, of_shorts, out);
    auto found = out.read();
    for (int i = 0; i < 32; ++i) {
        float4 color = found[i], pair = found[i + 32];
        EXPECT(color.x == i / 255.0f && color.y == 2 * i / 255.0f && color.z == (255 - i) / 255.0f &&
               color.w == 8 * i / 255.0f);
        EXPECT(pair.x == i * 1000 / 32767.0f && pair.y == std::max(-1.0f, (-32768 + i) / 32767.0f));
    }
    cudaTextureDesc desc = {};
    desc.filterMode = cudaFilterModeLinear;
    auto resource = of_array(byte_array);
    cudaTextureObject_t object = 0;
    EXPECT_ERROR(cudaCreateTextureObject(&object, &resource, &desc, nullptr), cudaErrorInvalidFilterSetting);
    cudaGetLastError();
    cudaResourceDesc back = {};
    CHECK(cudaGetTextureObjectResourceDesc(&back, of_bytes));
    EXPECT(back.resType == cudaResourceTypeArray && back.res.array.array == byte_array);
    CHECK(cudaDestroyTextureObject(of_bytes));
    CHECK(cudaDestroyTextureObject(of_shorts));
    CHECK(cudaFreeArray(byte_array));
    CHECK(cudaFreeArray(short_array));
}

__global__ void volumes(cudaTextureObject_t volume, cudaTextureObject_t layers, cudaTextureObject_t cube, float *out)
{
    int i = threadIdx.x;
    int x = i % 4, y = i / 4 % 4, z = i / 16;
    out[i] = tex3D<float>(volume, x + 0.5f, y + 0.5f, z + 0.5f);
    out[i + 96] = tex2DLayered<float>(layers, x + 0.5f, y + 0.5f, z);
    float s = (x + 0.5f) / 2 - 1, t = (y + 0.5f) / 2 - 1;
    float3 to = z == 0   ? make_float3(1, -t, -s)
                : z == 1 ? make_float3(-1, -t, s)
                : z == 2 ? make_float3(s, 1, t)
                : z == 3 ? make_float3(s, -1, -t)
                : z == 4 ? make_float3(s, -t, 1)
                         : make_float3(-s, -t, -1);
    out[i + 192] = texCubemap<float>(cube, to.x, to.y, to.z);
}

static void slices()
{
    std::vector<float> texels(96);
    for (int i = 0; i < 96; ++i) {
        texels[i] = 3 * i + 1;
    }
    auto format = cudaCreateChannelDesc<float>();
    const unsigned flags[] = {0, cudaArrayLayered, cudaArrayCubemap};
    cudaArray_t arrays[3];
    cudaTextureObject_t textures[3];
    for (int i = 0; i < 3; ++i) {
        CHECK(cudaMalloc3DArray(&arrays[i], &format, make_cudaExtent(4, 4, 6), flags[i]));
        cudaMemcpy3DParms copy = {};
        copy.srcPtr = make_cudaPitchedPtr(texels.data(), 16, 4, 4);
        copy.dstArray = arrays[i];
        copy.extent = make_cudaExtent(4, 4, 6);
        copy.kind = cudaMemcpyHostToDevice;
        CHECK(cudaMemcpy3D(&copy));
        textures[i] = texture_of<float>(of_array(arrays[i]), cudaAddressModeClamp, false, i == 2, false);
    }
    cudaChannelFormatDesc desc;
    cudaExtent extent;
    unsigned got = 9;
    CHECK(cudaArrayGetInfo(&desc, &extent, &got, arrays[1]));
    EXPECT(desc.x == 32 && extent.width == 4 && extent.depth == 6 && got == cudaArrayLayered);
    Device<float> out(288);
    volumes<<<1, 96>>>(textures[0], textures[1], textures[2], out);
    auto found = out.read();
    for (int i = 0; i < 288; ++i) {
        expect_equal("slices", found[i], texels[i % 96]);
    }
    for (int i = 0; i < 3; ++i) {
        CHECK(cudaDestroyTextureObject(textures[i]));
        CHECK(cudaFreeArray(arrays[i]));
    }
}

__global__ void gather(cudaTextureObject_t texture, float4 *out)
{
    if (threadIdx.x & 1) { // half of the lanes
        out[threadIdx.x] = tex2Dgather<float4>(texture, threadIdx.x % 8 + 1.0f, threadIdx.x / 8 + 1.0f, 0);
    } else {
        out[threadIdx.x] = make_float4(tex2DLod<float>(texture, 2.5f, 1.5f, 0.0f), 0, 0, 0);
    }
}

static void other_fetches()
{
    std::vector<float> texels(64);
    for (int i = 0; i < 64; ++i) {
        texels[i] = i;
    }
    auto format = cudaCreateChannelDesc<float>();
    cudaArray_t array;
    CHECK(cudaMallocArray(&array, &format, 8, 8, cudaArrayTextureGather));
    CHECK(cudaMemcpyToArray(array, 0, 0, texels.data(), 256, cudaMemcpyHostToDevice));
    auto texture = texture_of<float>(of_array(array), cudaAddressModeClamp, false, false, false);
    Device<float4> out(32);
    gather<<<1, 32>>>(texture, out);
    auto found = out.read();
    for (int i = 0; i < 32; ++i) {
        if (i & 1) {
            int x = i % 8, y = i / 8, right = std::min(x + 1, 7);
            EXPECT(found[i].x == texels[8 * (y + 1) + x] && found[i].y == texels[8 * (y + 1) + right] &&
                   found[i].z == texels[8 * y + right] && found[i].w == texels[8 * y + x]);
        } else {
            expect_equal("level", found[i].x, 10.0f);
        }
    }
    std::vector<float> back(64);
    CHECK(cudaMemcpyFromArray(back.data(), array, 0, 0, 256, cudaMemcpyDeviceToHost));
    expect_equal("back", back, texels);
    CHECK(cudaDestroyTextureObject(texture));
    CHECK(cudaFreeArray(array));
}

int main()
{
    std::vector<float> floats(100);
    std::vector<int4> quads(100);
    std::vector<unsigned char> bytes(100);
    std::vector<short> shorts(100);
    for (int i = 0; i < 100; ++i) {
        floats[i] = i * 0.25f - 3;
        quads[i] = make_int4(i, -i, i * i, 7);
        bytes[i] = 255 - i;
        shorts[i] = 50 - 300 * i;
    }
    linear_memory(floats);
    linear_memory(quads);
    linear_memory(bytes);
    linear_memory(shorts);
    two_dimensions();
    read_modes();
    slices();
    other_fetches();
    return done("textures");
}

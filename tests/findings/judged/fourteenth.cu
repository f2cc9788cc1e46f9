// Cases of a sixteenth round of public programs (docs/design/findings.md); `// WORDS` mark lines. An argument runs a case alone.
#include <cstdio>
#include <cstring>
#include <vector>

// A search in a thousand bounds, which a texture brings.
__global__ void classes(cudaTextureObject_t bounds, const float *values, int *results) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float value = values[i];
    int at = 512;
#pragma unroll 1
    for (int step = 256; step > 0; step /= 2) {
        at += value < tex1Dfetch<float>(bounds, at) ? -step : step; // TABLE OF A TEXTURE
    }
    results[i] = at;
}

// Each thread merges two lists of its own: a texture brings them, and the results follow each other.
__global__ void merges(cudaTextureObject_t lists, const int *begins, float *merged, int length) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, part = i / 4, place = i % 4;
    int begin = begins[part] + place * length, middle = begin + length / 2;
    int end = middle + part % 5 * 3;
    float *results = merged + begin;
    int one = begin, other = middle, count = 0;
    float held = tex1Dfetch<float>(lists, one);
    while (true) {
        float first = tex1Dfetch<float>(lists, one + 1), second = tex1Dfetch<float>(lists, other); // LISTS OF A TEXTURE
        results[count++] = held; // OWN PART
        bool has_first = one + 1 < middle, has_second = other < end;
        if (has_first) {
            if (has_second && second < first) {
                held = second;
                other++;
            } else {
                held = first;
                one++;
            }
        } else {
            if (has_second) {
                held = second;
                other++;
            } else {
                break;
            }
        }
    }
}

// An image at half its scale.
__global__ void halve(cudaTextureObject_t image, float *halved, int width) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    halved[y * width + x] = tex2D<float>(image, 2 * x + 1, 2 * y + 1); // HALF SCALE
}

// An image whose texels lie somewhere near each thread's own.
__global__ void warp_image(const float *image, const float2 *offsets, float *results, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float2 by = offsets[y * width + x];
    int column = max(min(int(floorf(x + by.x)), width - 1), 0), row = max(min(int(floorf(y + by.y)), height - 1), 0);
    results[y * width + x] = image[row * width + column]; // SAMPLED
}

// One block of many has work, and loads what L1 does not hold again and again.
__global__ void one_of_many(const float *values, float *sums, int n, int target) {
    if (blockIdx.x != target) return;
    float sum = 0.0f;
    for (int round = 0; round < 12; round++) {
        for (int i = threadIdx.x; i < n; i += blockDim.x) sum += values[i] * round; // AGAIN BY ONE
    }
    sums[threadIdx.x] = sum;
}

struct Link {
    Link *next;
};

// One thread follows links.
__global__ void chase(Link *first, Link **last, int steps, int target) {
    if (blockIdx.x != target) return;
    Link *at = first;
    for (int i = 0; i < steps; i++) at = at->next; // CHASE
    *last = at;
}

// Eight lanes sum up a row; the first of them has the result.
__global__ void rows_of_eight(const float *values, float *results, float scale) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 7;
    float sum = values[i];
#pragma unroll
    for (int step = 4; step > 0; step /= 2) sum += __shfl_xor_sync(~0u, sum, step);
    if (lane == 0) { // LEADER OF EIGHT
        float root = sqrtf(sum) * scale, power = root;
#pragma unroll
        for (int k = 0; k < 12; k++) power = power * root + scale;
        results[i / 8] = power;
    }
}

// Cells with one material, and cells with a list of them.
__global__ void materials(const int *cells, const int *begins, const int *kinds, const float *shares, float *results, int wanted) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, cell = cells[i];
    float sum = 0.0f;
    if (cell <= 0) { // LOOP ON A SIDE
#pragma unroll 1
        for (int k = begins[-cell]; k < begins[-cell + 1]; k++) {
            if (kinds[k] == wanted) {
                sum += shares[k]; // FOUND ON ITS WAY
                break;
            }
        }
    } else {
        sum = cell == wanted ? 1.0f : 0.0f;
    }
    results[i] = sum;
}

// A few values of a step need a long way.
__global__ void rare(const float *values, float *results, int steps) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0.0f;
#pragma unroll 1
    for (int k = 0; k < steps; k++) {
        float value = values[k * gridDim.x * blockDim.x + i];
        if (value > 0.995f) { // RARE IN A STEP
            for (int j = 0; j < 60; j++) value = sqrtf(value + sum) * value;
        }
        sum += value;
    }
    results[i] = sum;
}

// Of each group, half of the lanes find their flags raised; the others wait until the second warp has raised them.
__global__ void waits(volatile int *done, float *values) {
    int t = threadIdx.x;
    volatile int *of_block = done + 32 * blockIdx.x;
    float value = t;
    if (t >= 32) {
        for (int k = 0; k < 40; k++) value = value * 0.5f + k;
        of_block[t - 32] = value > 0.0f;
    } else {
        while (of_block[t] == 0) { // WAITED FOR
            value += 1.0f;
        }
    }
    values[blockIdx.x * 64 + t] = value;
}

struct Exchange {
    int items[128];
};

// Four items of a thread, which neighbouring threads take turns to read.
__global__ void stripe(const int4 *from, int *to) {
    __shared__ Exchange exchanges[2];
    int lane = threadIdx.x & 31;
    Exchange &own = exchanges[threadIdx.x / 32];
    int4 four = from[blockIdx.x * blockDim.x + threadIdx.x];
    int items[] = {four.x, four.y, four.z, four.w};
    for (int k = 0; k < 4; k++) {
        own.items[4 * lane + k] = items[k] * 3; // FOUR ITEMS
        __syncwarp();
    }
    for (int k = 0; k < 4; k++) to[(blockIdx.x * 4 + k) * blockDim.x + threadIdx.x] = own.items[32 * k + lane];
}

// Each block has memory of its own, and no barrier between what it writes and reads.
__global__ void own_memory(int **memory, int *results) {
    int *own = memory[blockIdx.x], t = threadIdx.x;
    own[t] = t * 3; // IN EACH MEMORY
    results[blockIdx.x * blockDim.x + t] = own[blockDim.x - 1 - t];
}

// Rows of an odd length of three arrays.
__global__ void odd_rows(const float *words, const float *places, float *sums, int length) {
    for (int k = threadIdx.x; k < length; k += blockDim.x) {
        int at = blockIdx.x * length + k;
        sums[at] = words[at] + places[at]; // THREE ARRAYS
    }
}

// A sum of each block, and a block that adds them up.
__global__ void partial_sums(const float *values, float *sums) {
    __shared__ float part[256];
    int t = threadIdx.x;
    part[t] = values[blockIdx.x * 256 + t];
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if (t < half) part[t] += part[t + half];
        __syncthreads();
    }
    if (t == 0) sums[blockIdx.x] = part[0];
}

__global__ void last_sum(const float *sums, float *result, int count) {
    __shared__ float part[256];
    int t = threadIdx.x;
    float sum = 0.0f;
    for (int i = t; i < count; i += 256) sum += sums[i];
    part[t] = sum;
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if (t < half) part[t] += part[t + half];
        __syncthreads();
    }
    if (t == 0) *result = part[0];
}

struct Eight {
    unsigned char values[8];
};

// Rows of a matrix with a vector: the second index is the row's, which only the result has side by side.
__global__ void products(const Eight *matrix, const float4 *vector, float *results, int width) {
    int row = blockIdx.x * blockDim.y + threadIdx.y;
    float sum = 0.0f;
    for (int j = threadIdx.x; j < width / 8; j += blockDim.x) {
        float4 first = vector[2 * j]; // TWO OF EACH
        float4 second = vector[2 * j + 1];
        Eight eight = matrix[row * (width / 8) + j];
        sum += first.x * eight.values[0] + first.y * eight.values[1] + first.z * eight.values[2] + first.w * eight.values[3];
        sum += second.x * eight.values[4] + second.y * eight.values[5] + second.z * eight.values[6] + second.w * eight.values[7];
    }
    for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(~0u, sum, step);
    if (threadIdx.x == 0) results[row] = sum;
}

// The first tile, in place, which the next kernel takes.
__global__ void first_tile(float *matrix, int width) {
    __shared__ float tile[16 * 16];
    int t = threadIdx.x, at = t / 16 * width + t % 16;
    tile[t] = matrix[at];
    __syncthreads();
    for (int k = 0; k < 200; k++) {
        float sum = tile[t / 16 * 16 + k % 16] + tile[k % 16 * 16 + t % 16];
        __syncthreads();
        tile[t] = fminf(tile[t], sum);
        __syncthreads();
    }
    matrix[at] = tile[t];
}

__global__ void other_tiles(float *matrix, int width) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    matrix[i] = fminf(matrix[i], 1.0f * width);
}

struct Counter {
    int left, length;
    unsigned bits;
};

// The one bucket in which the wanted element lies: the compiler loads what it may change before it knows which thread has it.
__global__ void choose(const int *sums, unsigned *results, int wanted) {
    __shared__ Counter counter;
    if (threadIdx.x == 0) counter.bits = 0;
    __syncthreads();
    for (int pass = 0; pass < 2; pass++) {
        for (int i = threadIdx.x; i < 512; i += blockDim.x) {
            int before = i == 0 ? 0 : sums[i - 1], now = sums[i];
            if (before < wanted && now >= wanted) {
                counter.left = wanted - before;
                counter.length = now - before;
                unsigned bucket = i;
                counter.bits |= bucket << 9 * pass; // EARLY LOAD
            }
        }
        __syncthreads();
    }
    results[blockIdx.x * blockDim.x + threadIdx.x] = counter.bits + counter.left + counter.length;
}

// What each launch finds, if anything.
__global__ void match(const int *values, char *found, int wanted) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (values[i] == wanted) found[i] = 1;
}

__global__ void three_values(const float *values, float *results) {
    if (threadIdx.x < 3) results[threadIdx.x] = values[threadIdx.x] * 2.0f; // THREE VALUES
}

__global__ void add_up(const int *values, int *sums, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    sums[i] = values[i] + values[n - 1 - i];
}

template <class T> T *fresh(size_t n) {
    T *memory;
    cudaMalloc(&memory, n * sizeof(T));
    cudaMemset(memory, 1, n * sizeof(T));
    return memory;
}

template <class T> T *filled(const std::vector<T> &values) {
    T *memory = fresh<T>(values.size());
    cudaMemcpy(memory, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice);
    return memory;
}

cudaTextureObject_t texture_of(float *memory, size_t n) {
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear.devPtr = memory;
    resource.res.linear.desc = cudaCreateChannelDesc<float>();
    resource.res.linear.sizeInBytes = n * sizeof(float);
    cudaTextureDesc how = {};
    cudaTextureObject_t texture;
    cudaCreateTextureObject(&texture, &resource, &how, nullptr);
    return texture;
}

cudaTextureObject_t image_of(float *memory, int width, int height) {
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypePitch2D;
    resource.res.pitch2D.devPtr = memory;
    resource.res.pitch2D.desc = cudaCreateChannelDesc<float>();
    resource.res.pitch2D.width = width;
    resource.res.pitch2D.height = height;
    resource.res.pitch2D.pitchInBytes = width * sizeof(float);
    cudaTextureDesc how = {};
    how.filterMode = cudaFilterModeLinear;
    cudaTextureObject_t texture;
    cudaCreateTextureObject(&texture, &resource, &how, nullptr);
    return texture;
}

int main(int count, char **arguments) {
    const char *only = count > 1 ? arguments[1] : "";
    auto runs = [&](const char *name) { return count < 2 || !strcmp(only, name); };
    const int n = 1 << 14;
    std::vector<float> mixed(n);
    for (int i = 0; i < n; i++) mixed[i] = i * 733 % n * (1.0f / n);
    if (runs("bounds")) {
        std::vector<float> bounds(1024);
        for (int i = 0; i < 1024; i++) bounds[i] = i / 1024.0f;
        classes<<<n / 128, 128>>>(texture_of(filled(bounds), 1024), filled(mixed), fresh<int>(n));
    }
    if (runs("lists") || runs("parts")) {
        const int length = 32, threads = 1024;
        std::vector<float> lists((threads + 8) * length);
        for (size_t i = 0; i < lists.size(); i++) lists[i] = i % (length / 2) + (i * 2654435761u >> 28) * 0.6f;
        std::vector<int> begins(threads / 4);
        for (unsigned i = 0; i < begins.size(); i++) begins[i] = (i * 4 + (i * 2654435761u >> 31)) * length + i % 3;
        merges<<<threads / 128, 128>>>(texture_of(filled(lists), lists.size()), filled(begins), fresh<float>(lists.size()), length);
    }
    if (runs("halve")) halve<<<dim3(2, 8), dim3(32, 8)>>>(image_of(fresh<float>(n), 128, 128), fresh<float>(n / 4), 64);
    if (runs("sampled")) {
        std::vector<float2> offsets(n);
        for (unsigned i = 0; i < n; i++) offsets[i] = {(i * 2654435761u >> 27) * 1.0f, (i * 40503u >> 3 & 15) * 1.0f};
        warp_image<<<dim3(4, 16), dim3(32, 8)>>>(fresh<float>(n), filled(offsets), fresh<float>(n), 128, 128);
    }
    if (runs("again")) {
        float *values = fresh<float>(1 << 17);
        for (int i = 0; i < 2; i++) one_of_many<<<32, 128>>>(values, fresh<float>(128), 1 << 17, i);
    }
    if (runs("chase")) {
        const int links = 1 << 16;
        Link *all = fresh<Link>(links);
        std::vector<Link> ring(links);
        for (int i = 0; i < links; i++) ring[i].next = all + (i + 16) % links;
        cudaMemcpy(all, ring.data(), links * sizeof(Link), cudaMemcpyHostToDevice);
        for (int i = 0; i < 2; i++) chase<<<128, 1>>>(all, fresh<Link *>(1), links, i);
    }
    if (runs("eight")) rows_of_eight<<<n / 128, 128>>>(filled(mixed), fresh<float>(n / 8), 0.5f);
    if (runs("materials") || runs("found")) {
        std::vector<int> cells(n), begins(1), kinds;
        for (unsigned i = 0; i < 4096; i++) {
            for (unsigned k = 0; k < 1 + (i * 2654435761u >> 31); k++) kinds.push_back((i + k) % 7);
            begins.push_back(kinds.size());
        }
        for (unsigned i = 0; i < n; i++) cells[i] = (i * 2654435761u >> 31) ? int(i % 5) + 1 : -int(i * 40503u >> 4 & 4095);
        std::vector<float> shares(kinds.size(), 0.25f);
        materials<<<n / 128, 128>>>(filled(cells), filled(begins), filled(kinds), filled(shares), fresh<float>(n), 3);
    }
    if (runs("rare")) rare<<<8, 128>>>(filled(mixed), fresh<float>(1024), n / 1024);
    if (runs("waits")) {
        std::vector<int> raised(32 * 32);
        for (int i = 0; i < 32 * 32; i++) raised[i] = i % 2;
        waits<<<32, 64>>>(filled(raised), fresh<float>(32 * 64));
    }
    if (runs("stripe")) stripe<<<n / 64, 64>>>(fresh<int4>(n), fresh<int>(n * 4));
    if (runs("memory")) {
        std::vector<int *> memory(4);
        for (int *&one : memory) one = fresh<int>(128);
        own_memory<<<4, 128>>>(filled(memory), fresh<int>(4 * 128));
    }
    if (runs("rows")) odd_rows<<<256, 128>>>(fresh<float>(256 * 301), fresh<float>(256 * 301), fresh<float>(256 * 301), 301);
    if (runs("sums")) {
        float *sums = fresh<float>(1 << 12);
        partial_sums<<<1 << 6, 256>>>(filled(mixed), sums);
        last_sum<<<1, 256>>>(sums, sums, 1 << 12); // LAST STEP
    }
    if (runs("products")) products<<<64, dim3(32, 8)>>>(fresh<Eight>(512 * 64), fresh<float4>(128), fresh<float>(512), 512);
    if (runs("tiles")) {
        float *matrix = fresh<float>(128 * 128);
        first_tile<<<1, 256>>>(matrix, 128); // FIRST STEP
        other_tiles<<<64, 256>>>(matrix, 128);
    }
    if (runs("choose")) {
        std::vector<int> sums(512);
        for (int i = 0; i < 512; i++) sums[i] = i * 3;
        choose<<<8, 256>>>(filled(sums), fresh<unsigned>(8 * 256), 700);
    }
    if (runs("copies")) {
        // A part of what is there for the largest image.
        int *image = fresh<int>(1 << 21);
        std::vector<int> picture(1 << 18, 3);
        for (int i = 0; i < 4; i++) {
            picture[i] = i;
            cudaMemcpy(image, picture.data(), picture.size() * sizeof(int), cudaMemcpyHostToDevice); // PART COPIED AGAIN
            add_up<<<picture.size() / 128, 128>>>(image, fresh<int>(picture.size()), picture.size());
        }
    }
    if (runs("matches")) {
        char *found = fresh<char>(1024), results[1024];
        cudaMemset(found, 0, 1024);
        std::vector<int> values(1024, 7);
        int *on_device = filled(values);
        for (int i = 0; i < 20; i++) {
            match<<<8, 128>>>(on_device, found, i);
            cudaMemcpy(results, found, 1024, cudaMemcpyDeviceToHost); // RESULTS OF EACH
        }
    }
    if (runs("three")) {
        for (int i = 0; i < 8; i++) three_values<<<1, 32>>>(fresh<float>(3), fresh<float>(3));
    }
    cudaDeviceSynchronize();
    printf("%s\n", cudaGetErrorString(cudaGetLastError()));
    return 0;
}

// A library's own merge, and how it moves a structure (docs/design/findings.md); `// WORDS` mark lines.
#include <thrust/device_vector.h>
#include <thrust/host_vector.h>
#include <thrust/sort.h>

struct Item {
    int key;
    float value;

    __host__ __device__ bool operator<(const Item &other) const { return key < other.key; }
};

int main() {
    const int n = 1 << 14;
    thrust::host_vector<Item> filled(n);
    for (int i = 0; i < n; i++) filled[i] = {int(i * 2654435761u >> 9), i * 1.0f};
    thrust::device_vector<Item> items = filled;
    thrust::sort(items.begin(), items.end()); // SORTED STRUCTURES
    return Item(items[0]).value < 0.0f;
}

// What a library's algorithm puts into another order itself (docs/design/findings.md); `// WORDS` mark lines.
#include <thrust/device_vector.h>
#include <thrust/random.h>
#include <thrust/sequence.h>
#include <thrust/shuffle.h>

int main() {
    thrust::device_vector<int> order(1 << 13);
    thrust::sequence(order.begin(), order.end());
    thrust::shuffle(order.begin(), order.end(), thrust::default_random_engine(7)); // SHUFFLED
    return order[0] == order[1];
}

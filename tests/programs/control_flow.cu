// Control flow: switches with fall-through, loops with several exits, goto, nested break and
// continue, early return, short circuits; each checked against the same code on the host.
#include "test.h"

__host__ __device__ int with_switch(int value)
{
    int result = 0;
    switch (value % 9) {
    case 0:
        result += 1;
        // fall through
    case 1:
    case 2:
        result += 10;
        break;
    case 3:
        return -value;
    case 7:
        result += 1000;
        // fall through
    default:
        result += 100;
        if (value & 1) {
            break;
        }
        result += 7;
        // fall through
    case 5:
        result *= 2;
    }
    return result + value;
}

__host__ __device__ int sparse_switch(int value)
{
    switch (value) {
    case -100000: return 1;
    case -3: return 22;
    case 0: return 3;
    case 17: return 44;
    case 1000: return 5;
    case 1 << 30: return 66;
    default: return value / 2;
    }
}

__host__ __device__ int several_exits(int value, int limit)
{
    int steps = 0;
    for (int i = 0; i < limit; ++i) {
        value = value % 2 ? 3 * value + 1 : value / 2;
        ++steps;
        if (value == 1) {
            break;
        }
        if (value > 5000) {
            return -steps;
        }
        if (value % 7 == 0) {
            ++i;
            continue;
        }
        steps += value % 5 == 0;
    }
    return steps * 3 + value % 3;
}

__host__ __device__ int nested(int a, int b)
{
    int sum = 0;
    for (int i = 0; i < a; ++i) {
        for (int j = i; j < b; ++j) {
            if ((i + j) % 5 == 4) {
                continue;
            }
            if (i * j > 40) {
                break;
            }
            int k = j;
            do {
                sum += k;
                if (sum % 11 == 3) {
                    goto next_row;
                }
                k -= 2;
            } while (k > i);
            if (sum > 3000) {
                return sum;
            }
        }
    next_row:
        sum += 1;
    }
    return sum;
}

// A loop that is entered in two places.
__host__ __device__ int irreducible(int value)
{
    int steps = 0;
    if (value & 1) {
        goto middle;
    }
top:
    value += 3;
    ++steps;
    if (value > 200) {
        return steps;
    }
middle:
    value += value / 4 + 1;
    steps += 100;
    if (steps < 4000) {
        goto top;
    }
    return -1;
}

__host__ __device__ bool counted(int *calls, bool result)
{
    ++*calls;
    return result;
}

__host__ __device__ int short_circuit(int value)
{
    int calls = 0;
    bool a = counted(&calls, value & 1) && counted(&calls, value & 2) && counted(&calls, value & 4);
    bool b = counted(&calls, value & 8) || counted(&calls, value & 16);
    int chosen = a ? (b ? 1 : 2) : b ? 3 : 4;
    return 10 * calls + chosen;
}

__host__ __device__ unsigned binary_search(const int *sorted, int n, int value)
{
    int low = 0, high = n;
    while (low < high) {
        int middle = (low + high) / 2;
        if (sorted[middle] == value) {
            return middle;
        }
        if (sorted[middle] < value) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return 100000 + low;
}

// A small interpreter: a loop round a switch.
__host__ __device__ int interpret(const int *program, int input)
{
    int stack[8], depth = 0, at = 0;
    stack[depth++] = input;
    for (int fuel = 0; fuel < 200; ++fuel) {
        switch (program[at++]) {
        case 0: stack[depth] = stack[depth - 1], ++depth; break;
        case 1: stack[depth++] = program[at++]; break;
        case 2: --depth, stack[depth - 1] += stack[depth]; break;
        case 3: --depth, stack[depth - 1] -= stack[depth]; break;
        case 4: --depth, stack[depth - 1] *= stack[depth]; break;
        case 5: at = stack[--depth] > 0 ? program[at] : at + 1; break;
        case 6: return stack[depth - 1];
        }
    }
    return -777;
}

constexpr int KINDS = 9, COUNT = 300;

__host__ __device__ void evaluate(int i, const int *sorted, const int *program, int *results)
{
    results[0 * COUNT + i] = with_switch(i);
    results[1 * COUNT + i] = sparse_switch(i % 4 == 0 ? -3 : i % 4 == 1 ? 1 << 30 : i % 4 == 2 ? 17 : i);
    results[2 * COUNT + i] = several_exits(i + 1, 40 + i % 7);
    results[3 * COUNT + i] = nested(i % 13, i % 17);
    results[4 * COUNT + i] = irreducible(i);
    results[5 * COUNT + i] = short_circuit(i);
    results[6 * COUNT + i] = static_cast<int>(binary_search(sorted, 64, i));
    results[7 * COUNT + i] = interpret(program, i % 9 + 1);
    if (i % 5 == 2) {
        return;
    }
    if (i % 3 == 1) {
        results[8 * COUNT + i] = 1;
        return;
    }
    for (int j = 0;; ++j) {
        if (j * j > i) {
            results[8 * COUNT + i] = j;
            return;
        }
    }
}

__global__ void evaluate_all(const int *sorted, const int *program, int *results)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < COUNT) {
        evaluate(i, sorted, program, results);
    }
}

int main()
{
    std::vector<int> sorted(64);
    for (int i = 0; i < 64; ++i) {
        sorted[i] = i * 9 / 2;
    }
    // Triples the input, counts it down to zero, adds 42.
    std::vector<int> program{1, 3, 4, /* 3: */ 1, 1, 3, 0, 5, 3, 1, 42, 2, 6};
    std::vector<int> want(KINDS * COUNT, 0);
    for (int i = 0; i < COUNT; ++i) {
        evaluate(i, sorted.data(), program.data(), want.data());
    }
    Device<int> d_sorted(sorted), d_program(program), results(KINDS * COUNT);
    evaluate_all<<<3, 128>>>(d_sorted, d_program, results);
    std::vector<int> got = results.read();
    const char *names[KINDS] = {"switch", "sparse switch", "several exits", "nested", "irreducible",
                                "short circuit", "binary search", "interpreter", "early return"};
    for (int kind = 0; kind < KINDS; ++kind) {
        expect_equal(names[kind], got.data() + kind * COUNT, want.data() + kind * COUNT, COUNT);
    }
    return done("control_flow");
}

// Inline assembly whose operands and results are known: tests/end_to_end/operations.rs computes them again.
#include <cstdio>

__global__ void mix(const int *n, int *m, unsigned *sum) {
    int i = threadIdx.x, x, y, first, second;
    asm volatile("ld.global.u32 %0, [%1];" : "=r"(x) : "l"(n + i));
    asm volatile("ld.global.s32 %0, [%1];" : "=r"(y) : "l"(n + i + 64));
    asm volatile("{\n\t.reg .s32 t;\n\tmul.lo.s32 t, %1, %2;\n\tsub.s32 %0, t, 7;\n\t}" : "=r"(first) : "r"(x), "r"(y));
    asm volatile("{\n\t.reg .pred p;\n\tsetp.lt.s32 p, %1, 20;\n\tmov.u32 %0, 0;\n\t@p mad.lo.s32 %0, %1, 3, %2;\n\t}"
                 : "=r"(second) : "r"(x), "r"(y));
    unsigned long long wide, old;
    float number;
    asm volatile("mul.wide.u32 %0, %1, %2;" : "=l"(wide) : "r"(x), "r"(y));
    asm volatile("cvt.rn.f32.s32 %0, %1;" : "=f"(number) : "r"(x));
    asm volatile("{\n\t.reg .u32 t;\n\tatom.global.add.u32 t, [%1], %2;\n\tcvt.u64.u32 %0, t;\n\t}"
                 : "=l"(old) : "l"(sum), "r"(x));
    asm volatile("st.global.u32 [%0], %1;" :: "l"(m + i), "r"(first + second));
    if (number < 0 || old + wide == 1) m[i] = 0;
}

int main() {
    int *n, *m, hn[128], hm[64], bad = 0;
    unsigned *sum, total = 0;
    for (int i = 0; i < 64; i++) {
        hn[i] = i;
        hn[i + 64] = 100 - i;
    }
    cudaMalloc(&n, sizeof hn);
    cudaMalloc(&m, sizeof hm);
    cudaMalloc(&sum, 4);
    cudaMemset(sum, 0, 4);
    cudaMemcpy(n, hn, sizeof hn, cudaMemcpyHostToDevice);
    mix<<<1, 64>>>(n, m, sum);
    cudaMemcpy(&total, sum, 4, cudaMemcpyDeviceToHost);
    cudaMemcpy(hm, m, sizeof hm, cudaMemcpyDeviceToHost);
    for (int i = 0; i < 64; i++) bad += hm[i] != i * (100 - i) - 7 + (i < 20 ? 3 * i + 100 - i : 0);
    printf("%s\n", total == 63 * 64 / 2 && bad == 0 ? "PASS assembly" : "FAIL assembly");
    return 0;
}

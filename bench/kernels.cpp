// SPDX-License-Identifier: Apache-2.0
// The loops that measure what a core can do. They choose their instructions when they run, so the
// program itself needs no more than the compiler's baseline.
#include "machine.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace bench::kernels {

namespace {

// Enough independent chains to hide the latency of a multiply-add on two units.
constexpr int chains = 12;
constexpr int steps = 1 << 19;

#if defined(__x86_64__)

__attribute__((target("avx512f"))) double fma_avx512() {
    __m512 sum[chains];
    for (auto &s : sum) {
        s = _mm512_set1_ps(1e-9f);
    }
    const auto a = _mm512_set1_ps(0.999f), b = _mm512_set1_ps(1e-7f);
    for (int i = 0; i < steps; ++i) {
        for (auto &s : sum) {
            s = _mm512_fmadd_ps(s, a, b);
            asm volatile("" : "+v"(s));
        }
    }
    return 2.0 * 16 * chains * steps;
}

__attribute__((target("avx2,fma"))) double fma_avx2() {
    __m256 sum[chains];
    for (auto &s : sum) {
        s = _mm256_set1_ps(1e-9f);
    }
    const auto a = _mm256_set1_ps(0.999f), b = _mm256_set1_ps(1e-7f);
    for (int i = 0; i < steps; ++i) {
        for (auto &s : sum) {
            s = _mm256_fmadd_ps(s, a, b);
            asm volatile("" : "+x"(s));
        }
    }
    return 2.0 * 8 * chains * steps;
}

__attribute__((target("avx2,fma"))) void triad_avx2(float *out, const float *x, const float *y,
                                                    size_t count) {
    const auto scale = _mm256_set1_ps(3);
    size_t i = 0;
    for (; i + 8 <= count; i += 8) {
        _mm256_storeu_ps(out + i,
                         _mm256_fmadd_ps(_mm256_loadu_ps(y + i), scale, _mm256_loadu_ps(x + i)));
    }
    for (; i < count; ++i) {
        out[i] = x[i] + 3 * y[i];
    }
}

__attribute__((target("avx512f"))) void triad_avx512(float *out, const float *x, const float *y,
                                                     size_t count) {
    const auto scale = _mm512_set1_ps(3);
    size_t i = 0;
    for (; i + 16 <= count; i += 16) {
        _mm512_storeu_ps(out + i,
                         _mm512_fmadd_ps(_mm512_loadu_ps(y + i), scale, _mm512_loadu_ps(x + i)));
    }
    for (; i < count; ++i) {
        out[i] = x[i] + 3 * y[i];
    }
}

bool has_avx512() { return __builtin_cpu_supports("avx512f") > 0; }
bool has_avx2() { return __builtin_cpu_supports("avx2") > 0 && __builtin_cpu_supports("fma") > 0; }

#endif

// Vectors that every target of GCC and clang has.
double fma_generic() {
    typedef float Vector __attribute__((vector_size(16)));
    Vector sum[chains] = {};
    const Vector a = {0.999f, 0.999f, 0.999f, 0.999f}, b = {1e-7f, 1e-7f, 1e-7f, 1e-7f};
    for (int i = 0; i < steps; ++i) {
        for (auto &s : sum) {
            s = s * a + b;
        }
    }
    volatile float keep = 0;
    for (const auto &s : sum) {
        keep = keep + s[0];
    }
    return 2.0 * 4 * chains * steps;
}

void triad_generic(float *out, const float *x, const float *y, size_t count) {
    for (size_t i = 0; i < count; ++i) {
        out[i] = x[i] + 3 * y[i];
    }
}

struct Level {
    const char *name;
    double (*fma)();
    void (*triad)(float *, const float *, const float *, size_t);
};

Level choose() {
#if defined(__x86_64__)
    if (has_avx512()) {
        return {"AVX-512", fma_avx512, triad_avx512};
    }
    if (has_avx2()) {
        return {"AVX2", fma_avx2, triad_avx2};
    }
#endif
    return {"generic", fma_generic, triad_generic};
}

const Level &level() {
    static const Level chosen = choose();
    return chosen;
}

}// namespace

double fma_loop() { return level().fma(); }
void triad(float *out, const float *x, const float *y, size_t count) {
    level().triad(out, x, y, count);
}
const char *vector_name() { return level().name; }

}// namespace bench::kernels

// SPDX-License-Identifier: Apache-2.0
#include "reference.h"

#include <cmath>
#include <limits>

#ifdef __AVX512F__
#include <immintrin.h>
#endif
#include <mpfr.h>

namespace luisa::tile::math {

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();

double sigmoid(double x) {
    return x >= 0 ? 1 / (1 + std::exp(-x)) : std::exp(x) / (1 + std::exp(x));
}

double softplus(double x) { return std::fmax(x, 0.0) + std::log1p(std::exp(-std::fabs(x))); }

double gelu_tanh(double x) {
    double u = std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x);
    return x * sigmoid(2 * u);
}

/// The limits of x * (something that vanishes) at -inf, and NaN.
template<class F> double product(double x, F f) {
    return std::isnan(x) ? x : x == -inf ? -0.0 : x == inf ? x : f(x);
}

using Scalar1 = double (*)(double);

constexpr Scalar1 scalar_references[function_count] = {
    [](double x) { return std::exp(x); },
    [](double x) { return std::exp2(x); },
    [](double x) { return std::expm1(x); },
    [](double x) { return std::log(x); },
    [](double x) { return std::log2(x); },
    [](double x) { return std::log10(x); },
    [](double x) { return std::log1p(x); },
    [](double x) { return std::sin(x); },
    [](double x) { return std::cos(x); },
    [](double x) { return std::tan(x); },
    [](double x) { return std::tanh(x); },
    [](double x) { return std::erf(x); },
    [](double x) { return std::erfc(x); },
    [](double x) { return 1 / std::sqrt(x); },
    nullptr,
    [](double x) { return std::isnan(x) ? x : sigmoid(x); },
    [](double x) { return product(x, [](double a) { return a * sigmoid(a); }); },
    [](double x) {
        return product(x, [](double a) { return 0.5 * a * std::erfc(-a * M_SQRT1_2); });
    },
    [](double x) { return product(x, gelu_tanh); },
    [](double x) { return std::isnan(x) ? x : softplus(x); },
    [](double x) { return std::cbrt(x); },
};

#ifdef __AVX512F__
extern "C" {
__m512d _ZGVeN8v_exp(__m512d);
__m512d _ZGVeN8v_exp2(__m512d);
__m512d _ZGVeN8v_expm1(__m512d);
__m512d _ZGVeN8v_log(__m512d);
__m512d _ZGVeN8v_log2(__m512d);
__m512d _ZGVeN8v_log10(__m512d);
__m512d _ZGVeN8v_log1p(__m512d);
__m512d _ZGVeN8v_sin(__m512d);
__m512d _ZGVeN8v_cos(__m512d);
__m512d _ZGVeN8v_tan(__m512d);
__m512d _ZGVeN8v_tanh(__m512d);
__m512d _ZGVeN8v_erf(__m512d);
__m512d _ZGVeN8v_erfc(__m512d);
__m512d _ZGVeN8v_cbrt(__m512d);
__m512d _ZGVeN8vv_pow(__m512d, __m512d);
}

using V = __m512d;
V splat(double x) { return _mm512_set1_pd(x); }
V half_line(V x) { return _ZGVeN8v_exp(-_mm512_abs_pd(x)); }
V select(__mmask8 m, V a, V b) { return _mm512_mask_blend_pd(m, b, a); }
__mmask8 negative(V x) { return _mm512_cmp_pd_mask(x, splat(0), _CMP_LT_OQ); }
V sigmoid_v(V x) {
    V e = half_line(x);
    return select(negative(x), e, splat(1)) / (splat(1) + e);
}
V scaled_v(V x, V factor) {
    V y = select(_mm512_cmp_pd_mask(x, splat(inf), _CMP_EQ_OQ), x, x * factor);
    return select(_mm512_cmp_pd_mask(x, splat(-inf), _CMP_EQ_OQ), splat(-0.0), y);
}

using Vector1 = V (*)(V);

constexpr Vector1 vector_references[function_count] = {
    _ZGVeN8v_exp,
    _ZGVeN8v_exp2,
    _ZGVeN8v_expm1,
    _ZGVeN8v_log,
    _ZGVeN8v_log2,
    _ZGVeN8v_log10,
    _ZGVeN8v_log1p,
    _ZGVeN8v_sin,
    _ZGVeN8v_cos,
    _ZGVeN8v_tan,
    _ZGVeN8v_tanh,
    _ZGVeN8v_erf,
    _ZGVeN8v_erfc,
    [](V x) { return splat(1) / _mm512_sqrt_pd(x); },
    nullptr,
    sigmoid_v,
    [](V x) { return scaled_v(x, sigmoid_v(x)); },
    [](V x) { return scaled_v(x, splat(0.5) * _ZGVeN8v_erfc(x * splat(-M_SQRT1_2))); },
    [](V x) {
        V u = splat(2 * std::sqrt(2 / M_PI)) * (x + splat(0.044715) * x * x * x);
        return scaled_v(x, sigmoid_v(u));
    },
    [](V x) {
        V positive = select(negative(x), splat(0), x);
        return positive + _ZGVeN8v_log1p(half_line(x));
    },
    _ZGVeN8v_cbrt,
};
#endif

using Mpfr1 = int (*)(mpfr_t, const mpfr_t, mpfr_rnd_t);

int mpfr_sigmoid(mpfr_t r, const mpfr_t x, mpfr_rnd_t m) {
    mpfr_neg(r, x, m);
    mpfr_exp(r, r, m);
    mpfr_add_ui(r, r, 1, m);
    return mpfr_ui_div(r, 1, r, m);
}

int mpfr_silu(mpfr_t r, const mpfr_t x, mpfr_rnd_t m) {
    mpfr_sigmoid(r, x, m);
    return mpfr_mul(r, r, x, m);
}

int mpfr_gelu(mpfr_t r, const mpfr_t x, mpfr_rnd_t m) {
    mpfr_sqrt_ui(r, 2, m);
    mpfr_div(r, x, r, m);
    mpfr_neg(r, r, m);
    mpfr_erfc(r, r, m);
    mpfr_mul(r, r, x, m);
    return mpfr_div_ui(r, r, 2, m);
}

int mpfr_gelu_tanh(mpfr_t r, const mpfr_t x, mpfr_rnd_t m) {
    mpfr_t u, c;
    mpfr_inits2(300, u, c, nullptr);
    mpfr_set_str(c, "0.044715", 10, m);
    mpfr_pow_ui(u, x, 3, m);
    mpfr_fma(u, u, c, x, m);
    mpfr_const_pi(c, m);
    mpfr_ui_div(c, 8, c, m);
    mpfr_sqrt(c, c, m);
    mpfr_mul(u, u, c, m);
    mpfr_sigmoid(r, u, m);
    mpfr_clears(u, c, nullptr);
    return mpfr_mul(r, r, x, m);
}

int mpfr_softplus(mpfr_t r, const mpfr_t x, mpfr_rnd_t m) {
    if (mpfr_cmp_ui(x, 100000) > 0) {
        return mpfr_set(r, x, m);// exp(x) would leave the range of MPFR
    }
    mpfr_exp(r, x, m);
    return mpfr_log1p(r, r, m);
}

constexpr Mpfr1 mpfr_references[function_count] = {
    mpfr_exp, mpfr_exp2,    mpfr_expm1, mpfr_log,  mpfr_log2,      mpfr_log10,    mpfr_log1p,
    mpfr_sin, mpfr_cos,     mpfr_tan,   mpfr_tanh, mpfr_erf,       mpfr_erfc,     mpfr_rec_sqrt,
    nullptr,  mpfr_sigmoid, mpfr_silu,  mpfr_gelu, mpfr_gelu_tanh, mpfr_softplus, mpfr_cbrt,
};

}// namespace

double reference(Function function, const double *a) {
    return function == Function::POW ? std::pow(a[0], a[1])
                                     : scalar_references[static_cast<size_t>(function)](a[0]);
}

void reference8(Function function, const double *x, const double *y, double *out) {
#ifdef __AVX512F__
    V a = _mm512_loadu_pd(x);
    V r = function == Function::POW ? _ZGVeN8vv_pow(a, _mm512_loadu_pd(y))
                                    : vector_references[static_cast<size_t>(function)](a);
    _mm512_storeu_pd(out, r);
#else
    for (int i = 0; i < 8; i++) {
        double a[2] = {x[i], y[i]};
        out[i] = reference(function, a);
    }
#endif
}

double reference_mpfr(Function function, const double *a) {
    mpfr_t x, y, r;
    mpfr_inits2(300, x, y, r, nullptr);
    mpfr_set_d(x, a[0], MPFR_RNDN);
    if (function == Function::POW) {
        mpfr_set_d(y, a[1], MPFR_RNDN);
        mpfr_pow(r, x, y, MPFR_RNDN);
    } else {
        mpfr_references[static_cast<size_t>(function)](r, x, MPFR_RNDN);
    }
    double value = mpfr_get_d(r, MPFR_RNDN);
    mpfr_clears(x, y, r, nullptr);
    return value;
}

double ulp_error_f64(Function function, double x, double got) {
    return ulp_error_f64(function, &x, got);
}

double ulp_error_f64(Function function, const double *arguments, double got) {
    mpfr_t a, y, r;
    mpfr_inits2(300, a, y, r, nullptr);
    mpfr_set_d(a, arguments[0], MPFR_RNDN);
    if (function == Function::POW) {
        mpfr_set_d(y, arguments[1], MPFR_RNDN);
        mpfr_pow(r, a, y, MPFR_RNDN);
    } else {
        mpfr_references[static_cast<size_t>(function)](r, a, MPFR_RNDN);
    }
    double nearest = mpfr_get_d(r, MPFR_RNDN), error = inf;
    if (std::isnan(nearest) || std::isnan(got)) {
        error = std::isnan(nearest) && std::isnan(got) ? 0 : inf;
    } else if (std::isinf(nearest) || std::isinf(got) || mpfr_zero_p(r)) {
        error = nearest == got ? 0 : inf;
    } else {
        long exponent = mpfr_get_exp(r) - 1;
        mpfr_sub_d(r, r, got, MPFR_RNDN);
        mpfr_mul_2si(r, r, 52 - (exponent < -1022 ? -1022 : exponent), MPFR_RNDN);
        error = std::fabs(mpfr_get_d(r, MPFR_RNDN));
    }
    mpfr_clears(a, y, r, nullptr);
    return error;
}

}// namespace luisa::tile::math

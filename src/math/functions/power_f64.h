// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "math/functions/exponential_f64.h"
#include "math/functions/logarithm_f64.h"

namespace luisa::tile::math {

/// |x|^y without the special cases: exp(y log |x|). NaN where the product is 0 * inf.
template<class L> typename L::F64 pow_magnitude_f64(typename L::F64 x, typename L::F64 y) {
    using F = typename L::F64;
    F a = abs(x);
    auto log = log_pair<L>(a);
    auto regular = (a > F(0.0)) & (a < F(infinity<double>));
    log.high = select(regular, log.high,
                      select(a == F(0.0), F(-infinity<double>), F(infinity<double>)));
    F product = y * log.high;
    F low = fma(y, log.high, -product) + y * log.low;
    // Beyond these the result is 0 or inf already, and the low part may be no number.
    F bounded = at_most(at_least(product, F(-750.0)), F(750.0));
    auto e = exp_pair<L>({bounded, select(bounded == product, low, F(0.0))});
    return scale(value_of(e.mantissa), e.exponent);
}

struct PowF64 {
    template<class L> static typename L::F64 apply(typename L::F64 x, typename L::F64 y) {
        using F = typename L::F64;
        using I = typename L::I64;
        F magnitude = pow_magnitude_f64<L>(x, y);
        auto infinite = abs(y) == F(infinity<double>);
        F half = y * F(0.5);
        auto integral = rint(y) == y;
        auto odd = integral & (floor(half) != half);
        I sign = select(odd, as_int(x) & I(INT64_MIN), I(0));
        F z = as_float(as_int(magnitude) | sign);
        auto undefined = (x < F(0.0)) & (x > F(-infinity<double>)) & ~integral;
        auto nan = (x != x) | (y != y) | undefined;
        z = select(nan, F(not_a_number<double>), z);
        auto one = (y == F(0.0)) | (x == F(1.0)) | ((x == F(-1.0)) & infinite);
        return select(one, F(1.0), z);
    }
};

/// |x| = 8^n m with 1/2 <= m < 4: a polynomial for the root of m, a Halley and a Newton step, the
/// residual of the last without rounding error.
struct CbrtF64 {
    template<class L> static typename L::F64 apply(typename L::F64 x) {
        using F = typename L::F64;
        using I = typename L::I64;
        F a = abs(x);
        auto tiny = a < F(0x1p-1022);
        I bits = as_int(select(tiny, a * F(0x1p54), a));
        I exponent = (bits >> I(52)) - I(1023);
        I n = to_int(rint(to_float(exponent) * F(1.0 / 3.0)));
        F m = as_float(bits - ((n * I(3)) << I(52)));
        F r = horner(
            m, F(-9.63448381129148220279702186735448777e-4),
            1.46508000588319291929151333420122683e-2, -9.1434775813135568678369224926427705e-2,
            0.30602967934141267480896431152359582, -0.61771910130199399254601485381499514915,
            0.94868015350600043422701901363325305, 0.44102630573254064660915219064918346703);
        F cube = r * r * r;
        r = r * ((cube + (m + m)) / (cube + cube + m));
        auto square = product_of(r, r);
        F residual = fma(square.low, r, fma(square.high, r, -m));
        r = r - residual / (square.high * F(3.0));
        I shift = n - select(tiny, I(18), I(0));
        F y = copy_sign<L>(as_float(as_int(r) + (shift << I(52))), x);
        auto regular = (a < F(infinity<double>)) & (x != F(0.0));
        return select(regular, y, x + x);
    }
};

}// namespace luisa::tile::math

// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "math/functions/exponential_f64.h"
#include "math/functions/logarithm_f64.h"
#include "math/functions/power.h"

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
        using I = typename L::I64;
        return signed_power<double>(pow_magnitude_f64<L>(x, y), x, y, I(INT64_MIN));
    }
};

/// |x| = 8^n m: the root of m, then a Newton step whose residual has no rounding error.
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
        F r = cbrt_of_mantissa(m);
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

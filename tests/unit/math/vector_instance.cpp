// SPDX-License-Identifier: Apache-2.0
#include "vector_lanes.h"

#include "math/functions/all.h"

#include "vector_instance.h"

namespace luisa::tile::math {

namespace {

template<class Text, int Arity = 1>
void one(const Vector<float> &x, const Vector<float> &y, Vector<float> &out) {
    if constexpr (Arity == 1) {
        out = Text::template apply<VectorLanes>(x);
    } else {
        out = Text::template apply<VectorLanes>(x, y);
    }
}

// In the order of `Function`.
constexpr void (*instances[])(const Vector<float> &, const Vector<float> &, Vector<float> &) = {
    one<ExpF32>,     one<Exp2F32>,  one<Expm1F32>,     one<LogF32>,       one<Log2F32>,
    one<Log10F32>,   one<Log1pF32>, one<SinF32<true>>, one<CosF32<true>>, one<TanF32<true>>,
    one<TanhF32>,    one<ErfF32>,   one<ErfcF32>,      one<RsqrtF32>,     one<PowF32, 2>,
    one<SigmoidF32>, one<SiluF32>,  one<GeluF32>,      one<GeluTanhF32>,  one<SoftplusF32>,
    one<CbrtF32>,
};

}// namespace

void evaluate8(Function function, const float *x, const float *y, float *out) {
    Vector<float> a, b, r;
    __builtin_memcpy(&a, x, sizeof a);
    __builtin_memcpy(&b, y, sizeof b);
    instances[static_cast<size_t>(function)](a, b, r);
    __builtin_memcpy(out, &r, sizeof r);
}

}// namespace luisa::tile::math

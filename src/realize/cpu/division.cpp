// SPDX-License-Identifier: Apache-2.0
#include "realize/cpu/lowering.h"

namespace luisa::tile::cpu {

using ir::Opcode;

namespace {

/// Where the quotient by multiplication is exact. Dividends lie in [2^-dividend, 2^dividend) or are +0, divisors in
/// [2^-divisor, 2^divisor], in magnitude: then nothing over- or underflows and the remainder has its last bit
/// inside the range.
struct FloatFormat {
    ScalarType bits;///< the unsigned integer of this size
    int mantissa, bias;
    int dividend, divisor;

    [[nodiscard]] uint64_t power_of_two(int exponent) const {
        return static_cast<uint64_t>(exponent + bias) << mantissa;
    }
    [[nodiscard]] uint64_t sign() const {
        return uint64_t{1} << (bits == ScalarType::UINT32 ? 31 : 63);
    }
};
constexpr FloatFormat f32_format{ScalarType::UINT32, 23, 127, 100, 24};
constexpr FloatFormat f64_format{ScalarType::UINT64, 52, 1023, 900, 100};

}// namespace

/// With r = RN(1 ÷ d), q = RN(x · r) and e = RN(x - q · d), RN(q + e · r) = RN(x ÷ d): docs/numerics.md has the argument.
/// That is three instructions where a division takes 10 to 24 cycles. Vectors with other elements divide.
ir::Value *Lowering::divide_by_invariant(ir::Value *x, ir::Value *d) {
    const auto &format = x->scalar() == ScalarType::FLOAT32 ? f32_format : f64_format;
    auto lanes = x->type()->lanes;
    auto *integers = lanes ? _b.module().vector(format.bits, lanes)
                           : _b.module().scalar(format.bits);
    auto bits = [&](uint64_t value) { return _b.splat(_b.constant(format.bits, value), lanes); };
    auto encoding = [&](ir::Value *value) {
        return _b.pure(Opcode::BITCAST, {value}, ir::None{}, integers);
    };
    auto magnitude = [&](ir::Value *value) {
        return _b.pure(Opcode::AND, {encoding(value), bits(format.sign() - 1)});
    };
    // Both comparisons of a range are one without a sign. A divisor out of range lets no dividend through.
    auto *divisor = _b.pure(Opcode::SUB,
                            {magnitude(d), bits(format.power_of_two(-format.divisor))});
    auto *usable = _b.pure(Opcode::LE, {divisor, bits(format.power_of_two(format.divisor) -
                                                      format.power_of_two(-format.divisor))});
    auto *span = select(
        usable, bits(format.power_of_two(format.dividend) - format.power_of_two(-format.dividend)),
        bits(0));
    // Beside the range, +0 passes; with such a divisor a NaN does in its place, for which any formula is right.
    auto *also = select(usable, bits(0), bits(format.sign() | (format.sign() - 1)));
    auto *one = _b.splat(_b.constant(x->scalar(), format.power_of_two(0)), lanes);
    auto *reciprocal = _b.pure(Opcode::DIV, {one, d});
    auto *dividend = _b.pure(Opcode::SUB,
                             {magnitude(x), bits(format.power_of_two(-format.dividend))});
    auto *outside = _b.pure(Opcode::AND, {_b.pure(Opcode::GE, {dividend, span}),
                                          _b.pure(Opcode::NE, {encoding(x), also})});
    auto *any = lanes ? _b.pure(Opcode::REDUCE_LANES, {outside},
                                ir::LaneReducePayload{Reducer::LOGICAL_OR},
                                _b.module().scalar(ScalarType::BOOL))
                      : outside;
    auto divide = [&] { return Values{_b.pure(Opcode::DIV, {x, d})}; };
    auto multiply = [&] {
        auto *quotient = _b.pure(Opcode::MUL, {x, reciprocal});
        auto *negative = _b.pure(Opcode::NEG, {quotient});
        auto *remainder = _b.pure(Opcode::FMA, {negative, d, x});
        return Values{_b.pure(Opcode::FMA, {remainder, reciprocal, quotient})};
    };
    return _b.branch(any, divide, multiply).front();
}

}// namespace luisa::tile::cpu

// SPDX-License-Identifier: Apache-2.0
#include "realize/cpu/reducers.h"

#include "core/internal_error.h"
#include "types/arith.h"
#include "types/convert.h"

#include <limits>

namespace luisa::tile::cpu {

namespace {

uint64_t number(ScalarType type, double value) { return arith::from_double(type, value); }

uint64_t all_ones(ScalarType type) {
    return type == ScalarType::BOOL ? 1
           : size_of(type) == 8     ? ~uint64_t{0}
                                    : (uint64_t{1} << (8 * size_of(type))) - 1;
}

uint64_t extreme(ScalarType type, bool high) {
    return high ? arith::highest(type) : arith::lowest(type);
}

}// namespace

ir::Opcode reducer_opcode(Reducer reducer) {
    using ir::Opcode;
    switch (reducer) {
        case Reducer::ADD: return Opcode::ADD;
        case Reducer::MULTIPLY: return Opcode::MUL;
        case Reducer::MINIMUM: return Opcode::MINIMUM;
        case Reducer::MAXIMUM: return Opcode::MAXIMUM;
        case Reducer::FMIN: return Opcode::FMIN;
        case Reducer::FMAX: return Opcode::FMAX;
        case Reducer::LOGICAL_AND:
        case Reducer::BIT_AND: return Opcode::AND;
        case Reducer::LOGICAL_OR:
        case Reducer::BIT_OR: return Opcode::OR;
        case Reducer::BIT_XOR: return Opcode::XOR;
        default: internal_error("argmin and argmax have no elementwise form");
    }
}

uint64_t seed_bits(Reducer reducer, ScalarType type) {
    switch (reducer) {
        case Reducer::ADD:
        case Reducer::LOGICAL_OR:
        case Reducer::BIT_OR:
        case Reducer::BIT_XOR: return 0;
        case Reducer::MULTIPLY: return number(type, 1);
        case Reducer::MINIMUM:
        case Reducer::FMIN: return extreme(type, true);
        case Reducer::MAXIMUM:
        case Reducer::FMAX: return extreme(type, false);
        case Reducer::LOGICAL_AND: return 1;
        case Reducer::BIT_AND: return all_ones(type);
        default: return static_cast<uint64_t>(-1);
    }
}

Reducer effective_reducer(const ir::ReducePayload &payload) {
    bool ignores = payload.nan == NanPolicy::IGNORE;
    return ignores && payload.reducer == Reducer::MINIMUM   ? Reducer::FMIN
           : ignores && payload.reducer == Reducer::MAXIMUM ? Reducer::FMAX
                                                            : payload.reducer;
}

uint64_t identity_bits(Reducer reducer, ScalarType type) {
    if (is_float(type) && reducer == Reducer::ADD) {
        return number(type, -0.0);
    }
    if (is_float(type) && (reducer == Reducer::FMIN || reducer == Reducer::FMAX)) {
        // Both 8-bit formats write NaN with all bits but the sign.
        return size_of(type) == 1 ? 0x7f : number(type, std::numeric_limits<double>::quiet_NaN());
    }
    return seed_bits(reducer, type);
}

}// namespace luisa::tile::cpu

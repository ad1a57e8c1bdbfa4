// SPDX-License-Identifier: Apache-2.0
#include <bit>
#include <cmath>

#include "math/program.h"
#include "math/scalar_lanes.h"

namespace luisa::tile::math {

namespace {

using B = ScalarLanes::B;

template<class T> T unpack(uint64_t bits) {
    using E = decltype(T::v);
    if constexpr (std::is_same_v<E, bool>) {
        return T{bits != 0};
    } else if constexpr (sizeof(E) == 4) {
        return T{std::bit_cast<E>(static_cast<uint32_t>(bits))};
    } else {
        return T{std::bit_cast<E>(bits)};
    }
}

template<class T> uint64_t pack(T value) {
    using E = decltype(T::v);
    if constexpr (std::is_same_v<E, bool>) {
        return value.v;
    } else if constexpr (sizeof(E) == 4) {
        return std::bit_cast<uint32_t>(value.v);
    } else {
        return std::bit_cast<uint64_t>(value.v);
    }
}

/// Operations whose operands and result are floats of type T.
template<class T> uint64_t run_float(Op op, const uint64_t *o) {
    T a = unpack<T>(o[0]), b = unpack<T>(o[1]);
    switch (op) {
        case Op::ADD: return pack(a + b);
        case Op::SUB: return pack(a - b);
        case Op::MUL: return pack(a * b);
        case Op::DIV: return pack(a / b);
        case Op::FMA: return pack(fma(a, b, unpack<T>(o[2])));
        case Op::SQRT: return pack(sqrt(a));
        case Op::NEG: return pack(-a);
        case Op::ABS: return pack(abs(a));
        case Op::RINT: return pack(rint(a));
        case Op::FLOOR: return pack(floor(a));
        case Op::SCALE:
        case Op::SCALE_DOWN: return pack(scale(a, b));
        default: return 0;
    }
}

/// Operations whose operands and result are integers of type T.
template<class T> uint64_t run_integer(Op op, const uint64_t *o) {
    T a = unpack<T>(o[0]), b = unpack<T>(o[1]);
    switch (op) {
        case Op::ADD: return pack(a + b);
        case Op::SUB: return pack(a - b);
        case Op::MUL: return pack(a * b);
        case Op::AND: return pack(a & b);
        case Op::OR: return pack(a | b);
        case Op::XOR: return pack(a ^ b);
        case Op::NOT: return pack(~a);
        case Op::SHL: return pack(a << b);
        case Op::SHR_LOGICAL: return pack(shr_logical(a, b));
        case Op::SHR_ARITHMETIC: return pack(a >> b);
        default: return 0;
    }
}

template<class T> uint64_t run_compare(Op op, const uint64_t *o) {
    T a = unpack<T>(o[0]), b = unpack<T>(o[1]);
    switch (op) {
        case Op::LT: return pack(a < b);
        case Op::LE: return pack(a <= b);
        case Op::GT: return pack(a > b);
        case Op::GE: return pack(a >= b);
        case Op::EQ: return pack(a == b);
        default: return pack(a != b);
    }
}

uint64_t run_bool(Op op, const uint64_t *o) {
    switch (op) {
        case Op::AND: return o[0] & o[1];
        case Op::OR: return o[0] | o[1];
        case Op::XOR: return o[0] ^ o[1];
        default: return o[0] ^ 1u;
    }
}

uint64_t run_convert(Op op, Kind to, uint64_t bits) {
    using L = ScalarLanes;
    switch (op) {
        case Op::BITCAST: return bits;
        case Op::TO_INT:
            return to == Kind::I32 ? pack(to_int(unpack<L::F32>(bits)))
                                   : pack(to_int(unpack<L::F64>(bits)));
        case Op::TO_FLOAT:
            return to == Kind::F32 ? pack(to_float(unpack<L::I32>(bits)))
                                   : pack(to_float(unpack<L::I64>(bits)));
        case Op::WIDEN:
            return to == Kind::F64 ? pack(widen(unpack<L::F32>(bits)))
                                   : pack(widen(unpack<L::I32>(bits)));
        default:
            return to == Kind::F32 ? pack(narrow(unpack<L::F64>(bits)))
                                   : pack(narrow(unpack<L::I64>(bits)));
    }
}

uint64_t run_kind(Op op, Kind kind, const uint64_t *o) {
    using L = ScalarLanes;
    switch (kind) {
        case Kind::F32: return run_float<L::F32>(op, o);
        case Kind::F64: return run_float<L::F64>(op, o);
        case Kind::I32: return run_integer<L::I32>(op, o);
        case Kind::I64: return run_integer<L::I64>(op, o);
        case Kind::BOOL: return run_bool(op, o);
    }
    return 0;
}

uint64_t run_compare_kind(Op op, Kind kind, const uint64_t *o) {
    using L = ScalarLanes;
    switch (kind) {
        case Kind::F32: return run_compare<L::F32>(op, o);
        case Kind::F64: return run_compare<L::F64>(op, o);
        case Kind::I32: return run_compare<L::I32>(op, o);
        default: return run_compare<L::I64>(op, o);
    }
}

}// namespace

uint64_t run(const Program &program, const uint64_t *arguments) {
    std::vector<uint64_t> values(program.instructions.size());
    for (size_t i = 0; i < values.size(); i++) {
        const Instruction &in = program.instructions[i];
        uint64_t o[3];
        for (int k = 0; k < 3; k++) {
            o[k] = k < operand_count(in.op) ? values[in.operands[k]] : 0;
        }
        if (in.op == Op::ARGUMENT) {
            values[i] = arguments[in.immediate];
        } else if (in.op == Op::CONSTANT) {
            values[i] = in.immediate;
        } else if (in.op == Op::SELECT) {
            values[i] = o[0] ? o[1] : o[2];
        } else if (in.op == Op::TABLE) {
            values[i] = program.tables[in.immediate].at(static_cast<uint32_t>(o[0]));
        } else if (in.op >= Op::LT && in.op <= Op::NE) {
            values[i] = run_compare_kind(in.op, program.instructions[in.operands[0]].kind, o);
        } else if (in.op >= Op::BITCAST && in.op <= Op::NARROW) {
            values[i] = run_convert(in.op, in.kind, o[0]);
        } else {
            values[i] = run_kind(in.op, in.kind, o);
        }
    }
    return values[program.result];
}

}// namespace luisa::tile::math

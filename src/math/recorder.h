// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <bit>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "math/program.h"

namespace luisa::tile::math {

/// Collects the program while the text of a function runs on `RecorderLanes`. Equal operations are
/// shared, and operations that the result does not need are dropped.
class Recorder {
public:
    Recorder();
    ~Recorder();
    Recorder(const Recorder &) = delete;
    Recorder &operator=(const Recorder &) = delete;

    /// The recorder of this thread; operations append to it.
    [[nodiscard]] static Recorder &current();

    uint16_t emit(Op op, Kind kind, uint16_t a = 0, uint16_t b = 0, uint16_t c = 0,
                  uint64_t immediate = 0);
    uint16_t table(const std::vector<uint32_t> &table, uint16_t index);
    /// The finished program whose result is value `result`.
    [[nodiscard]] Program finish(uint16_t result) const;

private:
    Program _program;
    std::vector<const void *> _tables;
    Recorder *_previous;
};

/// A lane value that stands for instruction `id`; `E` is the C++ type of its constants.
template<Kind K, class E> struct Traced {
    uint16_t id{};

    struct FromId {};
    Traced(FromId, uint16_t value) : id{value} {}
    Traced(E constant)
        : id{Recorder::current().emit(Op::CONSTANT, K, 0, 0, 0, bits_of(constant))} {}

    static uint64_t bits_of(E value) {
        if constexpr (std::is_same_v<E, bool>) {
            return value;
        } else if constexpr (sizeof(E) == 8) {
            return std::bit_cast<uint64_t>(value);
        } else {
            return std::bit_cast<uint32_t>(value);
        }
    }
    static Traced emit(Op op, uint16_t a, uint16_t b = 0, uint16_t c = 0) {
        return {FromId{}, Recorder::current().emit(op, K, a, b, c)};
    }
    static Traced argument(int number) {
        return {FromId{},
                Recorder::current().emit(Op::ARGUMENT, K, 0, 0, 0, static_cast<uint64_t>(number))};
    }
    using Bool = Traced<Kind::BOOL, bool>;

    friend Traced operator+(Traced a, Traced b) { return emit(Op::ADD, a.id, b.id); }
    friend Traced operator-(Traced a, Traced b) { return emit(Op::SUB, a.id, b.id); }
    friend Traced operator*(Traced a, Traced b) { return emit(Op::MUL, a.id, b.id); }
    friend Traced operator/(Traced a, Traced b) { return emit(Op::DIV, a.id, b.id); }
    friend Traced operator-(Traced a) { return emit(Op::NEG, a.id); }
    friend Traced operator&(Traced a, Traced b) { return emit(Op::AND, a.id, b.id); }
    friend Traced operator|(Traced a, Traced b) { return emit(Op::OR, a.id, b.id); }
    friend Traced operator^(Traced a, Traced b) { return emit(Op::XOR, a.id, b.id); }
    friend Traced operator~(Traced a) { return emit(Op::NOT, a.id); }
    friend Traced operator<<(Traced a, Traced n) { return emit(Op::SHL, a.id, n.id); }
    friend Traced operator>>(Traced a, Traced n) { return emit(Op::SHR_ARITHMETIC, a.id, n.id); }
    friend Traced shr_logical(Traced a, Traced n) { return emit(Op::SHR_LOGICAL, a.id, n.id); }
    friend Bool operator<(Traced a, Traced b) { return Bool::emit(Op::LT, a.id, b.id); }
    friend Bool operator<=(Traced a, Traced b) { return Bool::emit(Op::LE, a.id, b.id); }
    friend Bool operator>(Traced a, Traced b) { return Bool::emit(Op::GT, a.id, b.id); }
    friend Bool operator>=(Traced a, Traced b) { return Bool::emit(Op::GE, a.id, b.id); }
    friend Bool operator==(Traced a, Traced b) { return Bool::emit(Op::EQ, a.id, b.id); }
    friend Bool operator!=(Traced a, Traced b) { return Bool::emit(Op::NE, a.id, b.id); }
    friend Traced select(Bool c, Traced a, Traced b) { return emit(Op::SELECT, c.id, a.id, b.id); }
    friend Traced fma(Traced a, Traced b, Traced c) { return emit(Op::FMA, a.id, b.id, c.id); }
    friend Traced sqrt(Traced a) { return emit(Op::SQRT, a.id); }
    friend Traced abs(Traced a) { return emit(Op::ABS, a.id); }
    friend Traced rint(Traced a) { return emit(Op::RINT, a.id); }
    friend Traced floor(Traced a) { return emit(Op::FLOOR, a.id); }
    friend Traced scale(Traced a, Traced n) { return emit(Op::SCALE, a.id, n.id); }
    friend Traced scale_down(Traced a, Traced n) { return emit(Op::SCALE_DOWN, a.id, n.id); }
};

struct RecorderLanes {
    using F32 = Traced<Kind::F32, float>;
    using F64 = Traced<Kind::F64, double>;
    using I32 = Traced<Kind::I32, int32_t>;
    using I64 = Traced<Kind::I64, int64_t>;
    using B = Traced<Kind::BOOL, bool>;
};

inline RecorderLanes::I32 as_int(RecorderLanes::F32 a) {
    return RecorderLanes::I32::emit(Op::BITCAST, a.id);
}
inline RecorderLanes::I64 as_int(RecorderLanes::F64 a) {
    return RecorderLanes::I64::emit(Op::BITCAST, a.id);
}
inline RecorderLanes::F32 as_float(RecorderLanes::I32 a) {
    return RecorderLanes::F32::emit(Op::BITCAST, a.id);
}
inline RecorderLanes::F64 as_float(RecorderLanes::I64 a) {
    return RecorderLanes::F64::emit(Op::BITCAST, a.id);
}
inline RecorderLanes::I32 to_int(RecorderLanes::F32 a) {
    return RecorderLanes::I32::emit(Op::TO_INT, a.id);
}
inline RecorderLanes::I64 to_int(RecorderLanes::F64 a) {
    return RecorderLanes::I64::emit(Op::TO_INT, a.id);
}
inline RecorderLanes::F32 to_float(RecorderLanes::I32 a) {
    return RecorderLanes::F32::emit(Op::TO_FLOAT, a.id);
}
inline RecorderLanes::F64 to_float(RecorderLanes::I64 a) {
    return RecorderLanes::F64::emit(Op::TO_FLOAT, a.id);
}
inline RecorderLanes::F64 widen(RecorderLanes::F32 a) {
    return RecorderLanes::F64::emit(Op::WIDEN, a.id);
}
inline RecorderLanes::I64 widen(RecorderLanes::I32 a) {
    return RecorderLanes::I64::emit(Op::WIDEN, a.id);
}
inline RecorderLanes::F32 narrow(RecorderLanes::F64 a) {
    return RecorderLanes::F32::emit(Op::NARROW, a.id);
}
inline RecorderLanes::I32 narrow(RecorderLanes::I64 a) {
    return RecorderLanes::I32::emit(Op::NARROW, a.id);
}
inline RecorderLanes::I32 look_up(const std::vector<uint32_t> &table, RecorderLanes::I32 i) {
    return {RecorderLanes::I32::FromId{}, Recorder::current().table(table, i.id)};
}

}// namespace luisa::tile::math

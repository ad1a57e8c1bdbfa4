// SPDX-License-Identifier: Apache-2.0
#include "frontend/ordering_keys.h"

#include <bit>

namespace luisa::tile::core {

namespace {

/// The unsigned integer of an element's width.
ScalarType unsigned_like(ScalarType type) {
    switch (size_of(type)) {
        case 1: return ScalarType::UINT8;
        case 2: return ScalarType::UINT16;
        case 4: return ScalarType::UINT32;
        default: return ScalarType::UINT64;
    }
}

int value_bits(ScalarType type) {
    return type == ScalarType::BOOL ? 1 : static_cast<int>(info(type).bits);
}
uint64_t low_mask(int bits) { return bits >= 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1; }
uint64_t sign_bit(ScalarType type) { return uint64_t{1} << (info(type).bits - 1); }

/// Unsigned bits of x that ascend with its value; NaN in the place that the policy names.
Value *ordered_bits(const KeyFormat &format, Value *x, const Scalars &s) {
    auto type = format.element;
    auto all = low_mask(value_bits(type));
    bool down = format.order == SortOrder::DESCENDING;
    auto turned = [&](Value *u) { return down ? s.op("xor", u, all) : u; };
    if (type == ScalarType::BOOL) {
        return turned(cast(x, ScalarType::UINT8, s.loc));
    }
    auto *u = is_integer(type) && !is_signed(type) ? x : bitcast(x, unsigned_like(type), s.loc);
    if (!is_float(type)) {
        return turned(is_signed(type) ? s.op("xor", u, sign_bit(type)) : u);
    }
    auto sign = sign_bit(type);
    // Larger magnitudes of negative numbers are smaller; both zeros become the middle.
    auto *negative = s.op("ge", u, sign);
    auto *flipped = s.op("xor", u,
                         s.choose(negative, constant_bits(u->scalar(), all, s.loc),
                                  constant_bits(u->scalar(), sign, s.loc)));
    auto *magnitude = s.op("and", u, all ^ sign);
    auto *zero = s.op("eq", magnitude, uint64_t{0});
    auto *bits = turned(s.choose(zero, constant_bits(u->scalar(), sign, s.loc), flipped));
    if (format.carries_zero) {
        return bits;
    }
    bool first = format.nan == NanPlace::FIRST;
    return s.choose(s.op("ne", x, x), constant_bits(u->scalar(), first ? 0 : all, s.loc), bits);
}

}// namespace

KeyFormat KeyFormat::of(const Value *x, const SortRequest &request, int64_t places) {
    KeyFormat f;
    f.element = x->scalar();
    f.order = request.order;
    f.nan = request.options.nan;
    f.carries_zero = request.options.algorithm == SortAlgorithm::PACKED_FP32;
    int bits = value_bits(f.element);
    // Equal integers cannot be told apart: without indices their places need not be known.
    if (request.options.indices || is_float(f.element)) {
        f.low_bits = static_cast<int>(std::bit_width(static_cast<uint64_t>(places - 1))) +
                     (f.carries_zero ? 1 : 0);
    }
    f.wide = bits + f.low_bits > 64;
    if (f.wide) {
        f.low_bits = 0;
        f.carries_zero = false;
    }
    f.word = bits + f.low_bits <= 32 ? ScalarType::UINT32 : ScalarType::UINT64;
    return f;
}

KeyWords KeyFormat::encode(Value *x, Value *valid, Value *at, SourceLoc loc) const {
    Scalars s{loc};
    auto *bits = cast(ordered_bits(*this, x, s), word, loc);
    auto last = low_mask(low_bits == 0 && !wide ? static_cast<int>(info(word).bits)
                                                : value_bits(element));
    if (valid) {
        bits = s.choose(valid, bits, constant_bits(word, last, loc));
    }
    if (wide) {
        return {bits, at};
    }
    if (low_bits == 0) {
        return {bits, nullptr};
    }
    auto *low = cast(at, word, loc);
    if (carries_zero) {
        auto *negative = s.op("shr", bitcast(x, ScalarType::UINT32, loc), uint64_t{31});
        auto *is_zero = s.op("eq", s.op("and", bitcast(x, ScalarType::UINT32, loc), 0x7fffffffu),
                             uint64_t{0});
        auto *sign = s.choose(is_zero, negative, constant_bits(ScalarType::UINT32, 0, loc));
        low = s.op("or", s.op("shl", low, uint64_t{1}), cast(sign, word, loc));
    }
    return {s.op("or", s.op("shl", bits, static_cast<uint64_t>(low_bits)), low), nullptr};
}

KeyWords KeyFormat::behind(SourceLoc loc) const {
    return {constant_bits(word, low_mask(info(word).bits), loc),
            wide ? constant_bits(ScalarType::INT64, INT64_MAX, loc) : nullptr};
}

Value *KeyFormat::place(const KeyWords &words, SourceLoc loc) const {
    if (wide) {
        return words.index;
    }
    Scalars s{loc};
    auto *low = s.op("and", words.key, low_mask(low_bits));
    return cast(carries_zero ? s.op("shr", low, uint64_t{1}) : low, ScalarType::INT64, loc);
}

Value *KeyFormat::value(const KeyWords &words, SourceLoc loc) const {
    Scalars s{loc};
    auto type = element;
    auto *u = words.key;
    if (low_bits > 0) {
        u = s.op("shr", u, static_cast<uint64_t>(low_bits));
    }
    u = cast(u, unsigned_like(type), loc);
    if (order == SortOrder::DESCENDING) {
        u = s.op("xor", u, low_mask(value_bits(type)));
    }
    if (type == ScalarType::BOOL) {
        return s.op("ne", u, uint64_t{0});
    }
    if (!is_float(type)) {
        return is_signed(type) ? bitcast(s.op("xor", u, sign_bit(type)), type, loc) : u;
    }
    auto sign = sign_bit(type);
    auto *positive = s.op("ge", u, sign);
    auto *turned = s.op("xor", u,
                        s.choose(positive, constant_bits(u->scalar(), sign, loc),
                                 constant_bits(u->scalar(), low_mask(32), loc)));
    auto *zero_sign = s.op(
        "shl", cast(s.op("and", words.key, uint64_t{1}), ScalarType::UINT32, loc), uint64_t{31});
    return bitcast(s.op("or", turned, zero_sign), type, loc);
}

}// namespace luisa::tile::core

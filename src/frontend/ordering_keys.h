// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <luisa/tile/sort.h>

#include "frontend/element_maps.h"

// Elements as unsigned integers that compare in the order asked for, with the place of each behind its bits
// where both fit in one word.

namespace luisa::tile::core {

/// Scalar operations recorded at one source line.
struct Scalars {
    SourceLoc loc;

    Value *op(const char *name, Value *a, Value *b) const { return elementwise(name, {a, b}, loc); }
    Value *choose(Value *condition, Value *yes, Value *no) const {
        return elementwise("ite", {condition, yes, no}, loc);
    }
    /// An operation with a constant of the type of `a`.
    Value *op(const char *name, Value *a, uint64_t bits) const {
        return op(name, a, constant_bits(a->scalar(), bits, loc));
    }
    Value *number(int64_t value) const {
        return constant_bits(ScalarType::INT64, static_cast<uint64_t>(value), loc);
    }
};

/// A key: one word, or two that compare one after the other.
struct KeyWords {
    Value *key = nullptr, *index = nullptr;
};

struct KeyFormat {
    ScalarType element = ScalarType::FLOAT32;
    SortOrder order = SortOrder::ASCENDING;
    NanPlace nan = NanPlace::LAST;
    ScalarType word = ScalarType::UINT64;///< UINT32 or UINT64
    int low_bits = 0;         ///< bits below the value: the place and, for `carries_zero`, a sign
    bool wide = false;        ///< the place is a word of its own
    bool carries_zero = false;///< the lowest bit is the sign of a zero, so that values come back

    /// The narrowest format for places below `places`.
    static KeyFormat of(const Value *x, const SortRequest &request, int64_t places);

    /// Whether an element can be made of its key, without the source.
    [[nodiscard]] bool keeps_value() const noexcept { return carries_zero || !is_float(element); }
    /// The key of scalar `x` at the i64 `place`; of something behind all elements where `valid` is false
    /// (null: nowhere).
    [[nodiscard]] KeyWords encode(Value *x, Value *valid, Value *place, SourceLoc loc) const;
    /// A key that none of an element is after.
    [[nodiscard]] KeyWords behind(SourceLoc loc) const;
    /// The place that a key holds, as i64.
    [[nodiscard]] Value *place(const KeyWords &words, SourceLoc loc) const;
    /// The element that a key was made of, if the format keeps it.
    [[nodiscard]] Value *value(const KeyWords &words, SourceLoc loc) const;
};

}// namespace luisa::tile::core

// SPDX-License-Identifier: Apache-2.0
#include <luisa/tile/scalar_type.h>

#include <iterator>

namespace luisa::tile {

namespace {

// In the order of the enumerators. bool is no integer: it has logic and comparisons, and counting
// truth values takes a cast that the author writes.
constexpr ScalarTypeInfo scalar_types[] = {
    // name     bits  float  signed integer computes
    {"bool", 8, false, false, false, true}, {"i8", 8, false, true, true, true},
    {"i16", 16, false, true, true, true},   {"i32", 32, false, true, true, true},
    {"i64", 64, false, true, true, true},   {"u8", 8, false, false, true, true},
    {"u16", 16, false, false, true, true},  {"u32", 32, false, false, true, true},
    {"u64", 64, false, false, true, true},  {"f16", 16, true, true, false, true},
    {"bf16", 16, true, true, false, true},  {"f32", 32, true, true, false, true},
    {"f64", 64, true, true, false, true},   {"e4m3fn", 8, true, true, false, false},
    {"e5m2", 8, true, true, false, false},
};
static_assert(std::size(scalar_types) == scalar_type_count);

}// namespace

const ScalarTypeInfo &info(ScalarType type) noexcept {
    return scalar_types[static_cast<size_t>(type)];
}

bool parse_scalar_type(std::string_view name, ScalarType &out) noexcept {
    for (auto i = size_t{0}; i < scalar_type_count; i++) {
        if (name == scalar_types[i].name) {
            out = static_cast<ScalarType>(i);
            return true;
        }
    }
    return false;
}

}// namespace luisa::tile

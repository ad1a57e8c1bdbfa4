// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <luisa/tile/types.h>

// The element types that arithmetic is done in, as values and as C++ types.

namespace luisa::tile::test {

inline const ScalarType computing_types[] = {
    ScalarType::BOOL,   ScalarType::INT8,    ScalarType::INT16,    ScalarType::INT32,
    ScalarType::INT64,  ScalarType::UINT8,   ScalarType::UINT16,   ScalarType::UINT32,
    ScalarType::UINT64, ScalarType::FLOAT16, ScalarType::BFLOAT16, ScalarType::FLOAT32,
    ScalarType::FLOAT64};

/// Calls `f` with the C++ type of `t`, one of computing_types.
template<class F> void with_type(ScalarType t, const F &f) {
    switch (t) {
        case ScalarType::BOOL: return f.template operator()<bool>();
        case ScalarType::INT8: return f.template operator()<int8_t>();
        case ScalarType::INT16: return f.template operator()<int16_t>();
        case ScalarType::INT32: return f.template operator()<int32_t>();
        case ScalarType::INT64: return f.template operator()<int64_t>();
        case ScalarType::UINT8: return f.template operator()<uint8_t>();
        case ScalarType::UINT16: return f.template operator()<uint16_t>();
        case ScalarType::UINT32: return f.template operator()<uint32_t>();
        case ScalarType::UINT64: return f.template operator()<uint64_t>();
        case ScalarType::FLOAT16: return f.template operator()<half>();
        case ScalarType::BFLOAT16: return f.template operator()<bfloat16>();
        case ScalarType::FLOAT32: return f.template operator()<float>();
        default: return f.template operator()<double>();
    }
}

}// namespace luisa::tile::test

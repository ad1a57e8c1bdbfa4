// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <luisa/tile/scalar_type.h>

#include "ir/payload.h"

#include <cstdint>
#include <string>
#include <vector>

namespace luisa::tile::ir {

/// Extents and strides that only the launch knows.
inline constexpr int64_t runtime_value = INT64_MIN;

/// One axis of a view. Equal names of runtime extents are one extent.
struct ViewAxis {
    int64_t extent = 0;
    std::string name;///< of a runtime extent
    friend bool operator==(const ViewAxis &, const ViewAxis &) = default;
};

enum class TypeKind : uint8_t {
    TILE,   ///< value with dimensions; without any it is a scalar
    VIEW,   ///< kernel parameter over memory
    VECTOR, ///< Machine form: `lanes` elements
    POINTER,///< Machine form: a byte address
};

/// Interned in its module: equal types are one object, so compare pointers.
struct Type {
    TypeKind kind = TypeKind::TILE;
    ScalarType scalar = ScalarType::FLOAT32;
    bool read_only = false;      ///< VIEW
    uint16_t lanes = 0;          ///< VECTOR
    std::vector<DimExtent> dims; ///< TILE, in order
    std::vector<ViewAxis> axes;  ///< VIEW
    std::vector<int64_t> strides;///< VIEW, in elements; empty means dense row-major

    [[nodiscard]] bool is_scalar() const noexcept { return kind == TypeKind::TILE && dims.empty(); }
    [[nodiscard]] bool is_tile() const noexcept { return kind == TypeKind::TILE; }
    [[nodiscard]] bool is_view() const noexcept { return kind == TypeKind::VIEW; }
    [[nodiscard]] bool is_vector() const noexcept { return kind == TypeKind::VECTOR; }
    [[nodiscard]] bool is_pointer() const noexcept { return kind == TypeKind::POINTER; }
    [[nodiscard]] size_t rank() const noexcept {
        return kind == TypeKind::VIEW ? axes.size() : dims.size();
    }
    /// Position of `dim` among the dimensions, or -1.
    [[nodiscard]] int find(Dim dim) const noexcept;
    /// Number of elements of a tile. Saturates at INT64_MAX.
    [[nodiscard]] int64_t element_count() const noexcept;
    friend bool operator==(const Type &, const Type &) = default;
};

/// "[128, 32]": how messages show the extents of a type.
[[nodiscard]] std::string extents_text(const Type &type);

/// "[m:128, 32]": the same of a tile with the names of its dimensions, where equal extents may differ in them.
[[nodiscard]] std::string dims_text(const Type &type);

}// namespace luisa::tile::ir

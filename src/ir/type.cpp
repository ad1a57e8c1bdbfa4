// SPDX-License-Identifier: Apache-2.0
#include "ir/type.h"

namespace luisa::tile::ir {

int Type::find(Dim dim) const noexcept {
    for (size_t i = 0; i < dims.size(); ++i) {
        if (dims[i].dim == dim) {
            return static_cast<int>(i);
        }
    }
    return -1;
}

int64_t Type::element_count() const noexcept {
    int64_t count = 1;
    bool overflow = false;
    for (const auto &d : dims) {
        if (d.extent == 0) {
            return 0;
        }
        overflow |= __builtin_mul_overflow(count, d.extent, &count);
    }
    return overflow ? INT64_MAX : count;
}

std::string extents_text(const Type &type) {
    std::string text = "[";
    auto add = [&](int64_t extent, const std::string &name) {
        if (text.size() > 1) {
            text += ", ";
        }
        text += extent == runtime_value ? name : std::to_string(extent);
    };
    for (const auto &d : type.dims) {
        add(d.extent, "");
    }
    for (const auto &a : type.axes) {
        add(a.extent, a.name);
    }
    return text + "]";
}

std::string dims_text(const Type &type) {
    std::string text = "[";
    for (const auto &d : type.dims) {
        text += text.size() > 1 ? ", " : "";
        text += *d.dim.label ? std::string{d.dim.label} + ":" : "";
        text += std::to_string(d.extent);
    }
    return text + "]";
}

}// namespace luisa::tile::ir

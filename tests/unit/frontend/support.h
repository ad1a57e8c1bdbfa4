// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <luisa/tile.h>

#include "frontend/kernel_access.h"
#include "ir/module.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace luisa::tile::test {

using Matrix = TensorView<float, 2>;
using Vector = TensorView<float, 1>;

/// The canonical text of a kernel over one 8 × 8 view.
template<class F> std::string text_of(F f) {
    return tile_kernel(f, {.name = "k"}).capture(tensor_shape(8, 8)).ir_text();
}

inline size_t count(const std::string &text, const std::string &what) {
    size_t n = 0;
    for (auto at = text.find(what); at != std::string::npos;
         at = text.find(what, at + what.size())) {
        ++n;
    }
    return n;
}

/// The message of the error that capturing `f` over one 8 × 8 view throws; "" if it throws none.
template<class F> std::string error_of(F f) {
    try {
        (void)text_of(f);
    } catch (const Error &e) {
        return std::string{luisa::tile::to_string(e.kind())} + ": " + e.message();
    }
    return "";
}

}// namespace luisa::tile::test

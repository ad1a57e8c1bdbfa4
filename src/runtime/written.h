// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "runtime/device.h"

#include <string>
#include <vector>

namespace luisa::tile::runtime {

/// The elements of a view in row-major order.
struct ViewContents {
    ScalarType type = ScalarType::FLOAT32;
    int argument = 0;///< its number
    std::vector<std::byte> bytes;
};

/// The contents that the views which a kernel may write have when this is made: they come back with `restore`, and at
/// the end.
class WrittenViews {
public:
    WrittenViews(const ShaderImpl &shader, const Argument *arguments);
    WrittenViews(const WrittenViews &) = delete;
    WrittenViews &operator=(const WrittenViews &) = delete;
    ~WrittenViews() { restore(); }
    /// What the views hold now.
    [[nodiscard]] std::vector<ViewContents> contents() const;
    void restore() const noexcept;

private:
    const Argument *_arguments;
    std::vector<int> _written;///< numbers of arguments
    std::vector<ViewContents> _before;
};

/// How `got` differs from `expected`, or an empty text. Floating-point numbers may differ by `tolerance` times the
/// view's largest finite |expected|; NaN equals NaN, infinities and other types must be equal.
[[nodiscard]] std::string difference(const std::vector<ViewContents> &expected,
                                     const std::vector<ViewContents> &got, double tolerance);

}// namespace luisa::tile::runtime

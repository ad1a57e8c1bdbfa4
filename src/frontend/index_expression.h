// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ir/operation.h"

#include <optional>
#include <vector>

namespace luisa::tile::core {

/// The coefficients of a coordinate, the result of a `map`, when it is affine in the coordinates of the map's
/// space of this rank; what it adds besides is the same at all points. Nothing when it is not affine.
[[nodiscard]] std::optional<std::vector<int64_t>> affine_row(const ir::Value *coordinate,
                                                             size_t rank);

/// A coordinate made ready to be evaluated at host points, up to a term that is the same at all of them.
class IndexExpression {
public:
    explicit IndexExpression(const ir::Value *coordinate);
    /// Whether nothing in it is known at launch only.
    [[nodiscard]] bool is_known() const noexcept { return _known; }
    [[nodiscard]] int64_t evaluate(const std::vector<int64_t> &at) const;

private:
    struct Step {
        const ir::Operation *op = nullptr;///< null: coordinate `argument` of the point
        size_t argument = 0;
        std::vector<size_t> operands;///< earlier steps
    };
    struct Term {
        size_t step;
        bool negative;
    };
    struct Builder;
    std::vector<Step> _steps;
    std::vector<Term> _terms;
    bool _known = true;
};

}// namespace luisa::tile::core

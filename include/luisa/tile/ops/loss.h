// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <luisa/tile/ops/softmax.h>

namespace luisa::tile::ops {

/// log Σ exp(logits) - logits[label] along `axis`, the negative logarithm of the softmax at the label: one loss for
/// each group, over the dimensions of the logits beside the axis and those of `label`. Zero where the label is
/// `ignored`; NaN where it is no position of the axis. Logits that are ignored may hold anything. Computes in f32
/// for half and bf16; the loss is of that type.
template<class T>
[[nodiscard]] Tile<Compute<T>> cross_entropy(const Tile<T> &logits, const Tile<int64_t> &label,
                                             const Axis &axis, int64_t ignored = -100,
                                             SourceLoc loc = SourceLoc::current()) {
    static_assert(is_floating_element<T>, "cross_entropy needs floating-point logits");
    using C = Compute<T>;
    auto total = log_sum_exp(widen(logits, loc), axis, loc);
    auto picked = widen(
        gather(logits, label, axis, static_cast<T>(std::numeric_limits<float>::quiet_NaN()), loc),
        loc);
    return ite(label == ignored, C(0), total - picked, loc);
}

}// namespace luisa::tile::ops

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
    (void)count_along("cross_entropy", logits, {axis.dim}, loc);
    auto total = log_sum_exp(widen(logits, loc), axis, loc);
    auto picked = widen(
        gather(logits, label, axis, static_cast<T>(std::numeric_limits<float>::quiet_NaN()), loc),
        loc);
    return ite(label == ignored, C(0), total - picked, loc);
}

/// log(1 + exp(x)) - x·target with x a logit: the negative logarithm of the likelihood of a yes of probability
/// `target`, elementwise over the join. Computed as max(x, 0) - x·target + log1p(exp(-|x|)), which does not overflow.
/// Computes in f32 for half and bf16; the loss is of that type.
template<class T>
[[nodiscard]] Tile<Compute<T>> binary_cross_entropy(const Tile<T> &logit,
                                                    const std::type_identity_t<Tile<T>> &target,
                                                    SourceLoc loc = SourceLoc::current()) {
    static_assert(is_floating_element<T>, "binary_cross_entropy needs floating-point logits");
    using C = Compute<T>;
    auto x = widen(logit, loc);
    auto linear = maximum(x, C(0), loc) - multiply(x, widen(target, loc), loc);
    return add(linear, log1p(exp(-abs(x, loc), loc), loc), loc);
}

/// (x - y)², elementwise over the join. Computes in f32 for half and bf16; the loss is of that type.
template<class T>
[[nodiscard]] Tile<Compute<T>> squared_error(const Tile<T> &x,
                                             const std::type_identity_t<Tile<T>> &y,
                                             SourceLoc loc = SourceLoc::current()) {
    static_assert(is_floating_element<T>, "squared_error needs floating-point operands");
    auto difference = widen(x, loc) - widen(y, loc);
    return multiply(difference, difference, loc);
}

/// Huber's loss, 1964: ½·d² where |d| ≤ delta, else delta·(|d| - ½·delta), with d = x - y, elementwise over the join.
/// Computes in f32 for half and bf16; the loss is of that type.
template<class T>
[[nodiscard]] Tile<Compute<T>> huber(const Tile<T> &x, const std::type_identity_t<Tile<T>> &y,
                                     double delta = 1.0, SourceLoc loc = SourceLoc::current()) {
    static_assert(is_floating_element<T>, "huber needs floating-point operands");
    auto d = abs(widen(x, loc) - widen(y, loc), loc);
    return ite(d <= delta, d * d * 0.5, (d - 0.5 * delta) * delta, loc);
}

/// Σ exp(p)·(p - q) over `axes` of log-probabilities: the divergence of Kullback and Leibler, 1951, of q from p. Where p is
/// -inf the term is zero. Computes in f32 for half and bf16; the loss is of that type.
template<class T>
[[nodiscard]] Tile<Compute<T>> kl_divergence(const Tile<T> &log_p,
                                             const std::type_identity_t<Tile<T>> &log_q,
                                             const ReduceAxes &axes,
                                             SourceLoc loc = SourceLoc::current()) {
    static_assert(is_floating_element<T>, "kl_divergence needs floating-point operands");
    using C = Compute<T>;
    (void)count_along("kl_divergence", log_p, axes.dims, loc);
    auto p = widen(log_p, loc);
    auto weight = exp(p, loc);
    auto term = multiply(weight, p - widen(log_q, loc), loc);
    return reduce(ite(weight == C(0), C(0), term, loc), axes, add, loc);
}

}// namespace luisa::tile::ops

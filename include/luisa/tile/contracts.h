// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <luisa/tile/nest.h>

#include <limits>

// Contracts that come with the language, and their states.

namespace luisa::tile {

/// Count, mean and sum of squared deviations of what was pushed, without the cancellation of sums of
/// squares.
template<class T> struct WelfordState {
    Tile<T> count, mean, m2;
    LUISA_TILE_STATE(WelfordState, count, mean, m2)

    /// The state of nothing.
    [[nodiscard]] static WelfordState identity() {
        return {Scalar<T>{0}, Scalar<T>{0}, Scalar<T>{0}};
    }
    /// The population variance: m2 / count; 0 of nothing.
    [[nodiscard]] Tile<T> variance() const {
        return ite(count > 0, m2 / maximum(count, 1), full<T>(count.shape(), 0));
    }
};

/// The state of nothing, of any element type: `full<WelfordState<float>>(shape, welford_identity)`.
struct WelfordIdentity {
    template<class T> operator WelfordState<T>() const { return WelfordState<T>::identity(); }
};
inline constexpr WelfordIdentity welford_identity{};

/// `state` after one more value.
template<class T>
[[nodiscard]] WelfordState<T> welford_push(const WelfordState<T> &state, const Tile<T> &value) {
    Tile<T> count = state.count + 1;
    Tile<T> delta = value - state.mean;
    Tile<T> mean = state.mean + delta / count;
    Tile<T> m2 = state.m2 + delta * (value - mean);
    return {count, mean, m2};
}
template<class T>
[[nodiscard]] WelfordState<T> welford_push(const WelfordState<T> &state, const Scalar<T> &value) {
    return welford_push(state, Tile<T>{value});
}

/// Merges `WelfordState`s of two parts of the data.
struct WelfordContract {
    using states = std::tuple<WelfordState<float>, WelfordState<double>>;
    static constexpr bool commutative = true;
    static constexpr bool shipped_with_luisa_tile = true;
    /// The state that merges to the other one.
    template<class State> [[nodiscard]] State identity() const { return State::identity(); }
    /// The state of both sets of values.
    template<class T>
    [[nodiscard]] WelfordState<T> merge(const WelfordState<T> &lhs,
                                        const WelfordState<T> &rhs) const {
        Tile<T> count = lhs.count + rhs.count;
        Tile<T> share = rhs.count / maximum(count, 1);
        Tile<T> delta = rhs.mean - lhs.mean;
        Tile<T> mean = lhs.mean + delta * share;
        Tile<T> m2 = lhs.m2 + rhs.m2 + delta * delta * lhs.count * share;
        return {count, mean, m2};
    }
    /// The state of one value.
    template<class T> [[nodiscard]] WelfordState<T> lift(const Tile<T> &value) const {
        return welford_push(WelfordState<T>::identity(), value);
    }
};
inline constexpr WelfordContract welford{};

/// The largest score so far and the sum of exp(score - largest): the denominator of a softmax in one pass.
template<class T> struct SoftmaxState {
    Tile<T> largest, sum;
    LUISA_TILE_STATE(SoftmaxState, largest, sum)

    /// The state of no scores: a maximum of -inf and a sum of 0.
    [[nodiscard]] static SoftmaxState identity() {
        return {Scalar<T>{-std::numeric_limits<T>::infinity()}, Scalar<T>{0}};
    }
    /// log of the sum of exp of all scores; -inf of nothing.
    [[nodiscard]] Tile<T> log_sum_exp() const { return largest + log(sum); }
    /// What the softmax gives a score that was among the pushed ones.
    [[nodiscard]] Tile<T> weight(const Tile<T> &score) const { return exp(score - largest) / sum; }
};

namespace core {
/// exp(x - largest), 1 where both are the same infinity.
template<class T> Tile<T> scaled_exp(const Tile<T> &x, const Tile<T> &largest) {
    return ite(x == largest, 1, exp(x - largest));
}
}// namespace core

/// `state` after one more score.
template<class T>
[[nodiscard]] SoftmaxState<T> softmax_push(const SoftmaxState<T> &state, const Tile<T> &score) {
    Tile<T> largest = maximum(state.largest, score);
    Tile<T> sum = state.sum * core::scaled_exp(state.largest, largest) +
                  core::scaled_exp(score, largest);
    return {largest, sum};
}
template<class T>
[[nodiscard]] SoftmaxState<T> softmax_push(const SoftmaxState<T> &state, const Scalar<T> &score) {
    return softmax_push(state, Tile<T>{score});
}

/// Merges `SoftmaxState`s of two parts of the scores: online softmax and log-sum-exp.
struct SoftmaxContract {
    using states = std::tuple<SoftmaxState<float>, SoftmaxState<double>>;
    static constexpr bool commutative = true;
    static constexpr bool shipped_with_luisa_tile = true;
    /// The state that merges to the other one.
    template<class State> [[nodiscard]] State identity() const { return State::identity(); }
    /// The state of both sets of scores, rescaled to the larger maximum.
    template<class T>
    [[nodiscard]] SoftmaxState<T> merge(const SoftmaxState<T> &lhs,
                                        const SoftmaxState<T> &rhs) const {
        Tile<T> largest = maximum(lhs.largest, rhs.largest);
        Tile<T> sum = lhs.sum * core::scaled_exp(lhs.largest, largest) +
                      rhs.sum * core::scaled_exp(rhs.largest, largest);
        return {largest, sum};
    }
    /// The state of one score.
    template<class T> [[nodiscard]] SoftmaxState<T> lift(const Tile<T> &score) const {
        return softmax_push(SoftmaxState<T>::identity(), score);
    }
};
inline constexpr SoftmaxContract online_softmax{}, log_sum_exp{};

/// The map x -> scale * x + offset.
template<class T> struct AffineState {
    Tile<T> scale, offset;
    LUISA_TILE_STATE(AffineState, scale, offset)

    /// The map that changes nothing.
    [[nodiscard]] static AffineState identity() { return {Scalar<T>{1}, Scalar<T>{0}}; }
    /// The map at `x`: scale · x + offset.
    [[nodiscard]] Tile<T> apply(const Tile<T> &x) const { return scale * x + offset; }
    /// `outer` after this one: x -> outer(this(x)).
    [[nodiscard]] AffineState then(const AffineState &outer) const {
        return {outer.scale * scale, outer.scale * offset + outer.offset};
    }
};

/// Composes maps: the left one is applied last, (a, b) ∘ (c, d) = (a c, a d + b). Not commutative.
struct AffineComposition {
    using states = std::tuple<AffineState<float>, AffineState<double>, AffineState<int32_t>,
                              AffineState<int64_t>, AffineState<uint32_t>, AffineState<uint64_t>>;
    static constexpr bool shipped_with_luisa_tile = true;
    /// The state that merges to the other one.
    template<class State> [[nodiscard]] State identity() const { return State::identity(); }
    /// The left map and after it the right one.
    template<class T>
    [[nodiscard]] AffineState<T> merge(const AffineState<T> &lhs, const AffineState<T> &rhs) const {
        return rhs.then(lhs);
    }
};
inline constexpr AffineComposition affine_composition{};

}// namespace luisa::tile

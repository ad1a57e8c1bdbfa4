// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <luisa/tile/functions.h>

// Elements that change place along one axis. All are pure: the result is a new tile over the same dimensions
// (concat: a longer axis), and which core or register holds what is the planner's business. An axis that a
// tile lacks is an IndexError.

namespace luisa::tile {

/// The axis of an exchange: a dimension by identity, or an axis, whose extent is not used.
struct ExchangeAxis {
    Dim dim;
    SourceLoc loc;
    ExchangeAxis(Dim d, SourceLoc loc = SourceLoc::current()) : dim{d}, loc{loc} {}
    ExchangeAxis(const Axis &a, SourceLoc loc = SourceLoc::current()) : dim{a.dim}, loc{loc} {}
};

namespace core {
/// A null fill is zero.
Value *shift(Value *x, Dim axis, const IndexArg &delta, Value *fill, SourceLoc loc);
Value *rotate(Value *x, Dim axis, const IndexArg &delta, SourceLoc loc);
Value *flip(Value *x, Dim axis, SourceLoc loc);
Value *butterfly(Value *x, Dim axis, const IndexArg &mask, SourceLoc loc);
Value *concat(Dim axis, const std::vector<Value *> &parts, SourceLoc loc);
}// namespace core

/// y[j] = x[j - delta] along the axis: elements move up by `delta`, which is a host or staged integer of any
/// size and sign. Where that is outside of x: zero.
template<class T>
[[nodiscard]] Tile<T> shift(const Tile<T> &x, ExchangeAxis axis, IndexArg delta,
                            SourceLoc loc = SourceLoc::current()) {
    return {core::shift(x.value(loc), axis.dim, delta, nullptr, loc), loc};
}
/// The same with `fill` outside of x.
template<class T>
[[nodiscard]] Tile<T> shift(const Tile<T> &x, ExchangeAxis axis, IndexArg delta,
                            std::type_identity_t<ScalarArg<T>> fill,
                            SourceLoc loc = SourceLoc::current()) {
    return {core::shift(x.value(loc), axis.dim, delta, fill.v, loc), loc};
}

/// y[j] = x[(j - delta) mod n] along an axis of n elements: what leaves at one end enters at the other. `delta`
/// is a host or staged integer of any size and sign.
template<class T>
[[nodiscard]] Tile<T> rotate(const Tile<T> &x, ExchangeAxis axis, IndexArg delta,
                             SourceLoc loc = SourceLoc::current()) {
    return {core::rotate(x.value(loc), axis.dim, delta, loc), loc};
}

/// y[j] = x[n - 1 - j] along an axis of n elements.
template<class T>
[[nodiscard]] Tile<T> flip(const Tile<T> &x, ExchangeAxis axis,
                           SourceLoc loc = SourceLoc::current()) {
    return {core::flip(x.value(loc), axis.dim, loc), loc};
}

/// y[j] = x[j xor mask] along the axis, zero where the partner is outside of x. `mask` is a host or staged
/// integer; a negative one pairs nothing, and as a host integer it is a ValueError.
template<class T>
[[nodiscard]] Tile<T> butterfly(const Tile<T> &x, ExchangeAxis axis, IndexArg mask,
                                SourceLoc loc = SourceLoc::current()) {
    return {core::butterfly(x.value(loc), axis.dim, mask, loc), loc};
}

/// The tiles one after the other along `axis`. The result has the dimensions of the first in its order, the
/// axis as long as all together; the other dimensions agree as a set, else ShapeError.
template<class T, class... More>
    requires(std::same_as<More, Tile<T>> &&...)
[[nodiscard]] Tile<T> concat(ExchangeAxis axis, const Tile<T> &first, const More &...more) {
    auto loc = axis.loc;
    return {core::concat(axis.dim, {first.value(loc), more.value(loc)...}, loc), loc};
}

}// namespace luisa::tile

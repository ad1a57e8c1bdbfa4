// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <luisa/tile/functions.h>

// Products of two tiles whose accumulator starts at zero: spellings of `mma`, with its rules and its freedom.

namespace luisa::tile {

namespace core {
Value *matmul(Value *a, Value *b, ScalarType accumulator, const MmaPolicy *policy, SourceLoc loc);
Value *matmul(Value *a, Value *b, const std::vector<Dim> &dims, ScalarType accumulator,
              const MmaPolicy *policy, SourceLoc loc);
Value *dot(Value *a, Value *b, ScalarType accumulator, const MmaPolicy *policy, SourceLoc loc);
Value *outer(Value *a, Value *b, ScalarType accumulator, SourceLoc loc);
Value *einsum(const char *spec, Value *a, Value *b, ScalarType accumulator, const MmaPolicy *policy,
              SourceLoc loc);

/// What products of A and B accumulate in unless the caller holds an accumulator.
template<class A, class B> constexpr auto product_accumulator() {
    if constexpr (is_floating_element<A> && is_floating_element<B> && sizeof(A) < 4 &&
                  sizeof(B) < 4) {
        return std::type_identity<float>{};
    } else if constexpr (!is_floating_element<A> && !is_floating_element<B> && sizeof(A) == 1 &&
                         sizeof(B) == 1) {
        return std::type_identity<int32_t>{};
    } else {
        static_assert(std::same_as<A, B>,
                      "the operands differ in element type: cast<T>(…) one of them, or call mma "
                      "with an accumulator");
        return std::type_identity<A>{};
    }
}
}// namespace core

/// The element type of `matmul` and `einsum`: f32 for floats below 32 bits, i32 for 8-bit integers, else that of
/// the operands.
template<class A, class B>
using ProductAccumulator = typename decltype(core::product_accumulator<A, B>())::type;

/// […, M, K] × […, K, N] by position, whatever the identities; leading extents are equal. The result keeps the
/// identities of a's leading dimensions and M and of b's N where these are distinct.
template<class A, class B>
[[nodiscard]] auto matmul(const Tile<A> &a, const Tile<B> &b,
                          SourceLoc loc = SourceLoc::current()) {
    using C = ProductAccumulator<A, B>;
    return Tile<C>(core::matmul(a.value(loc), b.value(loc), scalar_type_of<C>, nullptr, loc), loc);
}
template<class A, class B>
[[nodiscard]] auto matmul(const Tile<A> &a, const Tile<B> &b, MmaPolicy policy,
                          SourceLoc loc = SourceLoc::current()) {
    using C = ProductAccumulator<A, B>;
    return Tile<C>(core::matmul(a.value(loc), b.value(loc), scalar_type_of<C>, &policy, loc), loc);
}

/// Contracts `dims`, which both operands have, by identity; other shared dimensions are batches. The result has
/// a's other dimensions in order, then those that only b has. A dimension that an operand lacks: IndexError.
template<class A, class B>
[[nodiscard]] auto matmul(const Tile<A> &a, const Tile<B> &b, const ReduceAxes &dims,
                          SourceLoc loc = SourceLoc::current()) {
    using C = ProductAccumulator<A, B>;
    return Tile<C>(
        core::matmul(a.value(loc), b.value(loc), dims.dims, scalar_type_of<C>, nullptr, loc), loc);
}
template<class A, class B>
[[nodiscard]] auto matmul(const Tile<A> &a, const Tile<B> &b, const ReduceAxes &dims,
                          MmaPolicy policy, SourceLoc loc = SourceLoc::current()) {
    using C = ProductAccumulator<A, B>;
    return Tile<C>(
        core::matmul(a.value(loc), b.value(loc), dims.dims, scalar_type_of<C>, &policy, loc), loc);
}

/// Σ a[i]·b[i] of two tiles of one dimension each and equal extents, whatever the identities: a tile of rank zero. Of
/// nothing: zero. Other ranks or extents: ShapeError.
template<class A, class B>
[[nodiscard]] auto dot(const Tile<A> &a, const Tile<B> &b, SourceLoc loc = SourceLoc::current()) {
    using C = ProductAccumulator<A, B>;
    return Tile<C>(core::dot(a.value(loc), b.value(loc), scalar_type_of<C>, nullptr, loc), loc);
}
template<class A, class B>
[[nodiscard]] auto dot(const Tile<A> &a, const Tile<B> &b, MmaPolicy policy,
                       SourceLoc loc = SourceLoc::current()) {
    using C = ProductAccumulator<A, B>;
    return Tile<C>(core::dot(a.value(loc), b.value(loc), scalar_type_of<C>, &policy, loc), loc);
}

/// a[i]·b[j] of two tiles of one dimension each, whatever the identities: a's dimension, then b's, each keeping its
/// identity where the two are distinct. Other ranks: ShapeError.
template<class A, class B>
[[nodiscard]] auto outer(const Tile<A> &a, const Tile<B> &b, SourceLoc loc = SourceLoc::current()) {
    using C = ProductAccumulator<A, B>;
    return Tile<C>(core::outer(a.value(loc), b.value(loc), scalar_type_of<C>, loc), loc);
}

/// The sum of products that `spec` names, as in "bmk,bkn->bmn": one letter a dimension of each operand, in
/// order; letters of both operands that the result lacks are contracted, in a's order. Spaces are ignored.
/// With nothing contracted ("m,n->mn") it is the outer product. A dimension of the result keeps the identity
/// that a, or else b, gives its letter, except that positional ones are numbered anew and an identity that
/// another letter has already is replaced by a new one.
/// A spec that is malformed, repeats a letter in one place, or has a letter in one place only: ValueError; a rank
/// or extent that does not agree: ShapeError.
template<class A, class B>
[[nodiscard]] auto einsum(const char *spec, const Tile<A> &a, const Tile<B> &b,
                          SourceLoc loc = SourceLoc::current()) {
    using C = ProductAccumulator<A, B>;
    return Tile<C>(core::einsum(spec, a.value(loc), b.value(loc), scalar_type_of<C>, nullptr, loc),
                   loc);
}
template<class A, class B>
[[nodiscard]] auto einsum(const char *spec, const Tile<A> &a, const Tile<B> &b, MmaPolicy policy,
                          SourceLoc loc = SourceLoc::current()) {
    using C = ProductAccumulator<A, B>;
    return Tile<C>(core::einsum(spec, a.value(loc), b.value(loc), scalar_type_of<C>, &policy, loc),
                   loc);
}

}// namespace luisa::tile

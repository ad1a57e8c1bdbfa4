// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <luisa/tile/reduce.h>

namespace luisa::tile {

namespace core {

struct ScanRequest {
    Reducer reducer;
    Dim axis;
    ReductionPolicy policy;
    bool exclusive, reverse;
    Value *seed, *mask;///< null: none
};
Value *scan(Value *x, const ScanRequest &request, SourceLoc loc);
/// The state after all elements; `values` is the result of `scan` for the same request.
Value *scan_final(Value *x, Value *values, const ScanRequest &request, SourceLoc loc);

}// namespace core

/// The state that a scan over elements of type T begins with, or none: a host number, a scalar, or a tile
/// that lacks the scanned axis.
template<class T> struct ScanSeed {
    core::Value *v = nullptr;
    ScanSeed() = default;
    template<class U>
    ScanSeed(const Tile<U> &t, SourceLoc loc = SourceLoc::current()) : v{t.value(loc)} {}
    template<class U>
    ScanSeed(const Scalar<U> &s, SourceLoc loc = SourceLoc::current()) : v{s.value(loc)} {}
    template<class U>
        requires HostNumberFor<U, T> ScanSeed(U u, SourceLoc loc = SourceLoc::current())
            : v{core::constant(scalar_type_of<T>, core::literal(u), loc)} {}
        ScanSeed(T t, SourceLoc loc = SourceLoc::current()) requires(!std::is_arithmetic_v<T>)
            : v{core::constant_bits(scalar_type_of<T>, t.bits(), loc)} {}
};

template<class T> struct ScanOptions {
    bool exclusive = false;///< element i is what came before it
    bool reverse = false;  ///< from the last element to the first
    ScanSeed<T> seed = {}; ///< comes before the first element, once
    ReductionPolicy policy = ReductionPolicy::ORDERED_TREE;
    MaskArg mask = {};            ///< elements where it is false repeat the state before them
    Tile<T> *with_final = nullptr;///< a tile to assign the state after all elements to
};

/// What `op` makes of the elements of x along `axis` up to each of them; the shape of x. Policies are
/// `ordered_tree` (default: may regroup), `fold_left` (one after the other) and `balanced_tree` (each prefix
/// as `reduce` makes it, the seed merged last); others: ValueError. Without a seed, of nothing it is what
/// `reduce` gives of nothing. An axis that x lacks: IndexError; a type that op does not combine, or another
/// one in the seed: TypeError; a seed or mask that does not fit: ShapeError.
template<class T>
[[nodiscard]] Tile<T> scan(const Tile<T> &x, DimArg axis, ReducerFunction op,
                           ScanOptions<std::type_identity_t<T>> options = {},
                           SourceLoc loc = SourceLoc::current()) {
    auto *tile = x.value(loc);
    core::ScanRequest request{op.reducer,      axis.dim,       options.policy, options.exclusive,
                              options.reverse, options.seed.v, options.mask.v};
    auto *values = core::scan(tile, request, loc);
    if (options.with_final) {
        *options.with_final = Tile<T>{core::scan_final(tile, values, request, loc), loc};
    }
    return {values, loc};
}
/// Other reducers do not scan.
template<class T, class Op>
    requires(!std::same_as<Op, ReducerFunction> && !ReductionContract<Op>)
Tile<T> scan(const Tile<T> &x, DimArg, const Op &, ScanOptions<std::type_identity_t<T>> = {},
             SourceLoc = SourceLoc::current()) {
    static_assert(
        core::always_false<Op>,
        "scan combines with a built-in reducer: add, multiply, minimum, maximum, fmin, fmax, "
        "logical_and, logical_or, bit_and, bit_or or bit_xor, or with a contract; "
        "positions do not scan");
    return x;
}

}// namespace luisa::tile

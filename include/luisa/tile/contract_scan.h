// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <luisa/tile/exchange.h>
#include <luisa/tile/nest.h>

// Scans by contracts, and scans that begin anew at heads: a loop that carries the state.

namespace luisa::tile {

/// Of a scan over states.
template<class S> struct ContractScanOptions {
    bool exclusive = false;///< element i is what came before it
    bool reverse = false;  ///< from the last element to the first
    /// Comes before the first element, once: of single elements, or with dimensions of the scanned states.
    std::optional<S> seed = {};
    ReductionPolicy policy = ReductionPolicy::ORDERED_TREE;
    MaskArg mask = {};      ///< elements where it is false repeat the state before them
    S *with_final = nullptr;///< a state to assign what comes after all elements to
};

struct SegmentedScanOptions {
    bool exclusive = false;///< element i is what came before it in its segment
    bool reverse =
        false;        ///< from the last element to the first; a head is the first one that is met
    MaskArg mask = {};///< elements where it is false repeat the state before them
};

namespace core {

/// The element of x at `at` along the axis, or x where it lacks the axis.
Value *extract_along(Value *x, Dim axis, Value *at, SourceLoc loc);
/// `y` with `part` at `at` along the axis.
Value *insert_along(Value *y, Dim axis, Value *at, Value *part, SourceLoc loc);
/// The axis with its extent. IndexError unless every value has it.
Axis scanned_axis(const std::vector<Value *> &values, Dim axis, SourceLoc loc);
/// ValueError for a policy that a scan over states does not have.
void check_contract_scan(ReductionPolicy policy, SourceLoc loc);
/// ShapeError unless `flags`, the `what` of a scan over `like`, has dimensions of it only; null passes.
void check_flags(Value *flags, Value *like, const char *what, SourceLoc loc);
/// `x` with the shape of `like`.
Value *spread_like(Value *x, Value *like, SourceLoc loc);
/// `x` with the shape of `like` without the axis. ShapeError if it does not spread there.
Value *spread_over(Value *x, Value *like, Dim axis, SourceLoc loc);

/// The elements of x from `first` on along the axis, as many as `lane` has, which takes its place; from the last to
/// the first when `turned`.
Value *block_along(Value *x, Dim axis, const Axis &lane, Value *first, bool turned, SourceLoc loc);
/// `y` with such a block in its place.
Value *insert_block(Value *y, Dim axis, const Axis &lane, Value *first, Value *block,
                    SourceLoc loc);
/// x with each element `by` places further along an axis of a power of two; the last ones come first.
Value *turned(Value *x, const Axis &lane, int64_t by, SourceLoc loc);
/// Elements that a scan over such tiles takes at a time: a vector of the widest, where lines are long, lie side by
/// side and no elements of other dimensions do; 1: one element of all lines.
int64_t scanned_lanes(const std::vector<Value *> &values, const Axis &axis);
/// Whether no bit of a reduction depends on how it is grouped.
bool is_order_free(Reducer reducer, ScalarType type);

/// What a loop over an axis needs beside the states.
struct ScanLoop {
    Dim axis;
    bool exclusive, reverse;
    Value *mask, *heads;///< null: none
    bool seeded;        ///< the state before the first element counts
    bool regroups;      ///< the merge is applied in any grouping
};

template<class S> S select_state(Value *condition, const S &a, const S &b, SourceLoc loc) {
    auto x = field_values(a, loc), y = field_values(b, loc);
    for (size_t i = 0; i < x.size(); ++i) {
        x[i] = elementwise("ite", {condition, x[i], y[i]}, loc);
    }
    return state_of<S>(x, loc);
}

/// The places of a scan that goes by whole blocks of neighbours, and what it merges.
template<class S, class Merge> struct BlockScan {
    const S &x, &nothing;
    const Merge &merge;
    const ScanLoop &loop;
    Axis axis, lane;
    SourceLoc loc;

    using Fields = std::vector<Value *>;

    [[nodiscard]] Value *first_of(const Scalar<int64_t> &step) const {
        Scalar<int64_t> first = step * lane.extent;
        if (loop.reverse) {
            first = axis.extent - lane.extent - first;
        }
        return first.value(loc);
    }
    [[nodiscard]] Value *block(Value *from, Value *first) const {
        return block_along(from, loop.axis, lane, first, loop.reverse, loc);
    }
    /// `left` merged to `right` where `condition` holds, else `right`.
    [[nodiscard]] Fields merged(Value *condition, const Fields &left, const Fields &right) const {
        auto both = field_values(S{merge(state_of<S>(left, loc), state_of<S>(right, loc))}, loc);
        for (size_t i = 0; i < both.size(); ++i) {
            both[i] = spread_like(elementwise("ite", {condition, both[i], right[i]}, loc), right[i],
                                  loc);
        }
        return both;
    }
    [[nodiscard]] Value *inside(int64_t by) const {
        auto *number = iota(ScalarType::INT64, lane, loc);
        return elementwise(
            "ge", {number, constant_bits(ScalarType::INT64, static_cast<uint64_t>(by), loc)}, loc);
    }
    /// Neighbours are merged at distances of one, two, four, …: then each lane holds all before it in the block,
    /// from its last head on. `heads` becomes where a head is at or before the lane.
    [[nodiscard]] Fields prefixes(Fields part, Value *&heads) const {
        for (int64_t by = 1; by < lane.extent; by *= 2) {
            Fields earlier;
            for (auto *field : part) {
                earlier.push_back(turned(field, lane, by, loc));
            }
            auto *takes = inside(by);
            if (heads) {
                takes = elementwise("and", {takes, elementwise("not", {heads}, loc)}, loc);
            }
            part = merged(takes, earlier, part);
            if (heads) {
                auto *before = elementwise("and", {inside(by), turned(heads, lane, by, loc)}, loc);
                heads = elementwise("or", {heads, before}, loc);
            }
        }
        return part;
    }
    /// What came before each lane, when `all` comes up to it.
    [[nodiscard]] Fields exclusive(const Fields &all, const Fields &state, Value *heads) const {
        Fields given;
        auto empty = field_values(nothing, loc);
        for (size_t i = 0; i < all.size(); ++i) {
            auto *before = elementwise("ite", {inside(1), turned(all[i], lane, 1, loc), state[i]},
                                       loc);
            if (heads) {
                before = elementwise("ite", {heads, empty[i], before}, loc);
            }
            given.push_back(spread_like(before, all[i], loc));
        }
        return given;
    }

    /// Scans the whole blocks; `some`: whether `state` holds anything. Gives the result so far.
    S run(S &state, Tile<bool> &some) const {
        auto result = x;
        auto *last = constant_bits(ScalarType::INT64, static_cast<uint64_t>(lane.extent - 1), loc);
        for (auto &step : serial(range(0, axis.extent / lane.extent, 1, loc), loc)) {
            auto *first = first_of(step.index(loc));
            Fields part;
            for (auto *field : field_values(x, loc)) {
                part.push_back(block(field, first));
            }
            auto *own = loop.heads ? block(loop.heads, first) : nullptr;
            auto *heads = own;
            part = prefixes(std::move(part), heads);
            auto before = field_values(std::as_const(state), loc);
            auto *joins = some.value(loc);
            if (heads) {
                joins = elementwise("and", {joins, elementwise("not", {heads}, loc)}, loc);
            }
            auto all = merged(joins, before, part);
            auto given = loop.exclusive ? exclusive(all, before, own) : all;
            size_t field = 0;
            each_field(result, [&](auto &to) {
                using Field = std::remove_cvref_t<decltype(to)>;
                auto *value = given[field++];
                value = loop.reverse ? flip(value, lane.dim, loc) : value;
                to = Field{insert_block(to.value(loc), loop.axis, lane, first, value, loc), loc};
            });
            for (auto *&value : all) {
                value = extract_along(value, lane.dim, last, loc);
            }
            state = state_of<S>(all, loc);
            some = some || true;
        }
        return result;
    }
};

/// The states up to each of x, from `state` on, which is assigned the last; `nothing` is what segments begin
/// with.
template<class S, class Merge>
S scan_states(const S &x, S &state, const S &nothing, const Merge &merge, const ScanLoop &loop,
              SourceLoc loc) {
    auto axis = scanned_axis(field_values(x, loc), loop.axis, loc);
    auto *like = field_values(x, loc)[0];
    check_flags(loop.mask, like, "mask", loc);
    check_flags(loop.heads, like, "tile of heads", loc);
    auto *seeded = constant_bits(ScalarType::BOOL, loop.seeded, loc);
    Tile<bool> some{spread_over(seeded, like, loop.axis, loc), loc};
    auto lanes = loop.regroups && !loop.mask ? scanned_lanes(field_values(x, loc), axis) : 1;
    auto result = x;
    if (lanes > 1) {
        Axis lane = luisa::tile::axis("lane", lanes, loc);
        result = BlockScan<S, Merge>{x, nothing, merge, loop, axis, lane, loc}.run(state, some);
    }
    auto done = lanes > 1 ? axis.extent / lanes * lanes : 0;
    for (auto &step : serial(range(done, axis.extent, 1, loc), loc)) {
        Scalar<int64_t> at = step.index(loc);
        if (loop.reverse) {
            at = axis.extent - 1 - at;
        }
        auto *place = at.value(loc);
        auto parts = field_values(x, loc);
        for (auto *&part : parts) {
            part = extract_along(part, loop.axis, place, loc);
        }
        if (loop.heads) {
            auto *head = extract_along(loop.heads, loop.axis, place, loc);
            state = select_state(head, nothing, state, loc);
            some = some && !Tile<bool>{head, loc};
        }
        const S before = state, element = state_of<S>(parts, loc);
        S next = select_state(some.value(loc), S{merge(before, element)}, element, loc);
        if (loop.mask) {
            Tile<bool> active{extract_along(loop.mask, loop.axis, place, loc), loc};
            state = select_state(active.value(loc), next, before, loc);
            some = some || active;
        } else {
            state = next;
            some = some || true;
        }
        auto given = field_values(loop.exclusive ? before : std::as_const(state), loc);
        size_t field = 0;
        each_field(result, [&](auto &to) {
            using Field = std::remove_cvref_t<decltype(to)>;
            to = Field{insert_along(to.value(loc), loop.axis, place, given[field++], loc), loc};
        });
    }
    return result;
}

template<class S> S spread_state(const S &state, Value *like, Dim axis, SourceLoc loc) {
    auto values = field_values(state, loc);
    for (auto *&value : values) {
        value = spread_over(value, like, axis, loc);
    }
    return state_of<S>(values, loc);
}

}// namespace core

/// What `contract` makes of the states of x along `axis` up to each of them, the earlier part on the left; x
/// is a state whose fields are tiles of one shape. Policies are `ordered_tree` (default) and `fold_left`;
/// others: ValueError. Without a seed it begins with the contract's identity. An axis that a field lacks:
/// IndexError; a seed or mask that does not fit: ShapeError.
template<StateStruct S, ReductionContract C>
[[nodiscard]] S scan(const S &x, DimArg axis, const C &contract,
                     ContractScanOptions<std::type_identity_t<S>> options = {},
                     SourceLoc loc = SourceLoc::current()) {
    core::check_contract_scan(options.policy, loc);
    core::ScanLoop loop{axis.dim,
                        options.exclusive,
                        options.reverse,
                        options.mask.v,
                        nullptr,
                        options.seed.has_value(),
                        options.policy == ReductionPolicy::ORDERED_TREE};
    (void)core::scanned_axis(core::field_values(x, loc), axis.dim, loc);
    auto *like = core::field_values(x, loc)[0];
    const S nothing = core::spread_state(core::identity_of<S>(contract), like, axis.dim, loc);
    S state = options.seed ? core::spread_state(*options.seed, like, axis.dim, loc) : S{nothing};
    auto merge = [&](const S &a, const S &b) { return contract.merge(a, b); };
    auto result = core::scan_states(x, state, nothing, merge, loop, loc);
    if (options.with_final) {
        *options.with_final = state;
    }
    return result;
}

/// The same over the elements of a tile, each lifted into a state by the contract's `lift`.
template<class T, ReductionContract C>
    requires requires(const C &c, const Tile<T> &x) {
        { c.lift(x) } -> StateStruct;
    }
[[nodiscard]] auto scan(
    const Tile<T> &x, DimArg axis, const C &contract,
    ContractScanOptions<decltype(std::declval<const C &>().lift(x))> options = {},
    SourceLoc loc = SourceLoc::current()) {
    using S = decltype(contract.lift(x));
    auto values = core::field_values(contract.lift(x), loc);
    for (auto *&value : values) {
        value = core::spread_like(value, x.value(loc), loc);
    }
    return scan(core::state_of<S>(values, loc), axis, contract, std::move(options), loc);
}

/// A scan that begins anew at each element where `heads` is true: the element itself, or, exclusive, what
/// `reduce` gives of nothing. In order along the axis.
template<class T>
[[nodiscard]] Tile<T> segmented_scan(const Tile<T> &x, const Tile<bool> &heads, DimArg axis,
                                     ReducerFunction op, SegmentedScanOptions options = {},
                                     SourceLoc loc = SourceLoc::current()) {
    core::ScanLoop loop{axis.dim,
                        options.exclusive,
                        options.reverse,
                        options.mask.v,
                        heads.value(loc),
                        false,
                        core::is_order_free(op.reducer, scalar_type_of<T>)};
    auto *value = x.value(loc);
    (void)core::scanned_axis({value}, axis.dim, loc);
    Tile<T> none{core::full(shape(luisa::tile::axis(axis.dim, 0, loc)),
                            core::constant_bits(scalar_type_of<T>, 0, loc), loc),
                 loc};
    auto of_nothing = reduce(none, axis.dim, op, ReductionPolicy::FOLD_LEFT, {}, loc);
    const Tile<T> nothing{core::spread_over(of_nothing.value(loc), value, axis.dim, loc), loc};
    Tile<T> state = nothing;
    auto merge = [&](const Tile<T> &a, const Tile<T> &b) { return op(a, b, loc); };
    return core::scan_states(x, state, nothing, merge, loop, loc);
}

}// namespace luisa::tile

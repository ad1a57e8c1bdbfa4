// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <luisa/tile/contract.h>
#include <luisa/tile/layout.h>
#include <luisa/tile/view.h>

#include <optional>

namespace luisa::tile {

/// What pins the instances of a `parallel`: a level, or a layout.
struct ExecConstraint {
    ExecConstraint(ExecLevel level = ExecLevel::INFER) : level{level} {}
    explicit ExecConstraint(IndexMap map) : map{std::move(map)} {}
    ExecLevel level = ExecLevel::INFER;
    std::optional<IndexMap> map;
};

/// Execution constraints of `parallel`. They pin where instances run, never what they compute.
namespace exec {
inline constexpr ExecLevel infer = ExecLevel::INFER, cluster = ExecLevel::CLUSTER,
                           block = ExecLevel::BLOCK, subgroup = ExecLevel::SUBGROUP,
                           thread = ExecLevel::THREAD, core = ExecLevel::CORE,
                           vector = ExecLevel::VECTOR;
/// Numbers the instances, which threads take in that order: `map` takes the coordinates of the nest to 0, 1, …,
/// one to one and onto, else ConstraintError. A target that cannot: UnsupportedError when compiled.
[[nodiscard]] inline ExecConstraint layout(IndexMap map) { return ExecConstraint{std::move(map)}; }
}// namespace exec

class NestRange;

/// The handle of an open nest: `for (auto &nest : parallel(…))`. It lives while the capture does; using it
/// after its body is a ScopeError.
class Nest {
public:
    explicit Nest(core::NestRegion *region) noexcept : _region{region} {}
    Nest(const Nest &) = delete;
    Nest &operator=(const Nest &) = delete;

    /// The coordinate of a rank-one domain.
    [[nodiscard]] Scalar<int64_t> index(SourceLoc loc = SourceLoc::current()) const;
    /// Coordinate `i`, or that of an axis, of this nest's own domain.
    [[nodiscard]] Scalar<int64_t> index(int i, SourceLoc loc = SourceLoc::current()) const;
    [[nodiscard]] Scalar<int64_t> index(Dim d, SourceLoc loc = SourceLoc::current()) const;
    [[nodiscard]] Scalar<int64_t> index(Axis a, SourceLoc loc = SourceLoc::current()) const {
        return index(a.dim, loc);
    }
    /// The whole path: the coordinates of the enclosing nests, outermost first, then its own.
    [[nodiscard]] Coord coord(SourceLoc loc = SourceLoc::current()) const;

    // Child nests.
    /// Independent instances inside this one; see the function of the same name.
    [[nodiscard]] NestRange parallel(IndexSpace domain, ExecConstraint exec = ExecLevel::INFER,
                                     SourceLoc loc = SourceLoc::current()) const;
    /// Steps in order inside this instance.
    [[nodiscard]] NestRange serial(IndexSpace domain, SourceLoc loc = SourceLoc::current()) const;
    /// Steps that may overlap where dependences permit, inside this instance.
    [[nodiscard]] NestRange pipeline(IndexSpace domain, PipelinePolicy policy = {},
                                     SourceLoc loc = SourceLoc::current()) const;
    /// Folds over a domain inside this instance; states are what the body updates.
    [[nodiscard]] NestRange reduce(IndexSpace domain, SourceLoc loc = SourceLoc::current()) const;
    [[nodiscard]] NestRange reduce(IndexSpace domain, ReductionPolicy policy,
                                   SourceLoc loc = SourceLoc::current()) const;
    /// Contributions to states that `contract` merges: structs of states that the body updates, found by their
    /// type, all their fields at once. What else the body updates follows the rules of `reduce`. No such
    /// state: CallError.
    template<ReductionContract C>
    [[nodiscard]] NestRange reduce(IndexSpace domain, const C &contract,
                                   SourceLoc loc = SourceLoc::current()) const;
    template<ReductionContract C>
    [[nodiscard]] NestRange reduce(IndexSpace domain, const C &contract, ReductionPolicy policy,
                                   SourceLoc loc = SourceLoc::current()) const;
    /// Contributions to states that a built-in reducer merges, whatever form their update has.
    [[nodiscard]] NestRange reduce(IndexSpace domain, ReducerFunction contract,
                                   SourceLoc loc = SourceLoc::current()) const;
    [[nodiscard]] NestRange reduce(IndexSpace domain, ReducerFunction contract,
                                   ReductionPolicy policy,
                                   SourceLoc loc = SourceLoc::current()) const;
    /// Cuts the body of a pipeline here: what follows is the stage called `name`.
    void stage(const char *name, SourceLoc loc = SourceLoc::current()) const;

    [[nodiscard]] core::NestRegion *region() const noexcept { return _region; }

private:
    core::NestRegion *_region;
};

/// What a range-for over a nest iterates: opens the body once, closes it, notices an early exit.
class NestRange {
public:
    enum class Kind : uint8_t { PARALLEL, SERIAL, PIPELINE, REDUCE };
    struct Options {
        Kind kind;
        ExecConstraint exec = ExecLevel::INFER;
        PipelinePolicy pipeline;
        bool has_policy = false;
        ReductionPolicy policy = ReductionPolicy::UNORDERED_TREE;
        core::ContractHandle contract = {};
        std::optional<ReducerFunction> reducer = {};
    };
    NestRange(Options options, IndexSpace domain, const Nest *parent, SourceLoc loc);
    NestRange(const NestRange &) = delete;
    NestRange &operator=(const NestRange &) = delete;
    ~NestRange();

    struct Sentinel {};
    struct Iterator {
        NestRange *range;
        Nest &operator*() const { return *range->_nest; }
        void operator++() { range->close(); }
        bool operator!=(Sentinel) const { return !range->_closed; }
    };
    Iterator begin();
    Sentinel end() { return {}; }

private:
    void close();
    void open_condition();
    Options _options;
    IndexSpace _domain;
    const Nest *_parent;
    SourceLoc _loc;
    Nest *_nest = nullptr;
    int _exceptions = 0;
    bool _closed = false;
};

namespace core {
/// The element of a bool tile at the nest's coordinate, and the result of a lambda at it.
Value *domain_element(Value *tile, const Nest &nest, SourceLoc loc);
std::vector<Value *> nest_coordinates(const Nest &nest, size_t count, SourceLoc loc);
template<class F, size_t... I> constexpr bool takes_indices(std::index_sequence<I...>) {
    return std::is_invocable_r_v<Scalar<bool>, const F &, Int64Scalar<I>...>;
}
/// How many coordinates a predicate takes.
template<class F, size_t R = 1> constexpr size_t index_count() {
    static_assert(R <= 12, "where: the lambda takes one Scalar<int64_t> a dimension, is not "
                           "mutable, and returns a Scalar<bool>");
    if constexpr (R > 12) {
        return 0;
    } else if constexpr (takes_indices<F>(std::make_index_sequence<R>{})) {
        return R;
    } else {
        return index_count<F, R + 1>();
    }
}
template<class F, size_t... I>
Value *call_predicate(const F &f, const std::vector<Value *> &at, SourceLoc loc,
                      std::index_sequence<I...>) {
    Scalar<bool> holds = f(Scalar<int64_t>(at[I], loc)...);
    return holds.value(loc);
}
Value *per(Value *x, const Nest &nest, SourceLoc loc);
}// namespace core

template<class Predicate>
IndexSpace IndexSpace::where(const Predicate &holds, SourceLoc loc) const {
    auto space = *this;
    if constexpr (TileValue<Predicate>) {
        static_assert(std::same_as<element_t<Predicate>, bool>, "where: the tile is one of bool");
        space.conditions.emplace_back([tile = holds.value(loc), loc](const Nest &nest) {
            return core::domain_element(tile, nest, loc);
        });
    } else {
        space.conditions.emplace_back([holds, loc](const Nest &nest) {
            constexpr auto takes = core::index_count<Predicate>();
            return core::call_predicate(holds, core::nest_coordinates(nest, takes, loc), loc,
                                        std::make_index_sequence<takes>{});
        });
    }
    return space;
}
template<class Predicate> IndexSpace Shape::where(const Predicate &holds, SourceLoc loc) const {
    return IndexSpace{*this}.where(holds, loc);
}

/// `x` as a value of each instance of an open nest: an assignment of it to an outer variable is no longer one
/// update for all instances of a `parallel`, whatever x depends on.
template<class T>
[[nodiscard]] Tile<T> per(const Nest &nest, const Tile<T> &x,
                          SourceLoc loc = SourceLoc::current()) {
    return {core::per(x.value(loc), nest, loc), loc};
}
template<class T>
[[nodiscard]] Scalar<T> per(const Nest &nest, const Scalar<T> &x,
                            SourceLoc loc = SourceLoc::current()) {
    return {core::per(x.value(loc), nest, loc), loc};
}

// Free-standing nests: at the kernel root, or inside the innermost open nest (for library code without a
// handle).

/// Independent instances.
[[nodiscard]] inline NestRange parallel(IndexSpace domain, ExecConstraint exec = ExecLevel::INFER,
                                        SourceLoc loc = SourceLoc::current()) {
    return {{NestRange::Kind::PARALLEL, std::move(exec), {}, false, {}},
            std::move(domain),
            nullptr,
            loc};
}
/// Steps in order.
[[nodiscard]] inline NestRange serial(IndexSpace domain, SourceLoc loc = SourceLoc::current()) {
    return {{NestRange::Kind::SERIAL, {}, {}, false, {}}, std::move(domain), nullptr, loc};
}
/// Steps that may overlap as far as their dependences permit.
[[nodiscard]] inline NestRange pipeline(IndexSpace domain, PipelinePolicy policy = {},
                                        SourceLoc loc = SourceLoc::current()) {
    return {{NestRange::Kind::PIPELINE, {}, policy, false, {}}, std::move(domain), nullptr, loc};
}
/// Contributions folded into the outer values that the body updates.
[[nodiscard]] inline NestRange reduce(IndexSpace domain, SourceLoc loc = SourceLoc::current()) {
    return {{NestRange::Kind::REDUCE, {}, {}, false, {}}, std::move(domain), nullptr, loc};
}
[[nodiscard]] inline NestRange reduce(IndexSpace domain, ReductionPolicy policy,
                                      SourceLoc loc = SourceLoc::current()) {
    return {{NestRange::Kind::REDUCE, {}, {}, true, policy}, std::move(domain), nullptr, loc};
}

inline NestRange Nest::parallel(IndexSpace domain, ExecConstraint exec, SourceLoc loc) const {
    return {
        {NestRange::Kind::PARALLEL, std::move(exec), {}, false, {}}, std::move(domain), this, loc};
}
inline NestRange Nest::serial(IndexSpace domain, SourceLoc loc) const {
    return {{NestRange::Kind::SERIAL, {}, {}, false, {}}, std::move(domain), this, loc};
}
inline NestRange Nest::pipeline(IndexSpace domain, PipelinePolicy policy, SourceLoc loc) const {
    return {{NestRange::Kind::PIPELINE, {}, policy, false, {}}, std::move(domain), this, loc};
}
inline NestRange Nest::reduce(IndexSpace domain, SourceLoc loc) const {
    return {{NestRange::Kind::REDUCE, {}, {}, false, {}}, std::move(domain), this, loc};
}
inline NestRange Nest::reduce(IndexSpace domain, ReductionPolicy policy, SourceLoc loc) const {
    return {{NestRange::Kind::REDUCE, {}, {}, true, policy}, std::move(domain), this, loc};
}

template<ReductionContract C>
[[nodiscard]] NestRange reduce(IndexSpace domain, const C &contract,
                               SourceLoc loc = SourceLoc::current()) {
    return {{NestRange::Kind::REDUCE, {}, {}, false, {}, core::contract_form(contract)},
            std::move(domain),
            nullptr,
            loc};
}
template<ReductionContract C>
[[nodiscard]] NestRange reduce(IndexSpace domain, const C &contract, ReductionPolicy policy,
                               SourceLoc loc = SourceLoc::current()) {
    return {{NestRange::Kind::REDUCE, {}, {}, true, policy, core::contract_form(contract)},
            std::move(domain),
            nullptr,
            loc};
}
[[nodiscard]] inline NestRange reduce(IndexSpace domain, ReducerFunction contract,
                                      SourceLoc loc = SourceLoc::current()) {
    return {{NestRange::Kind::REDUCE, {}, {}, false, {}, {}, contract},
            std::move(domain),
            nullptr,
            loc};
}
[[nodiscard]] inline NestRange reduce(IndexSpace domain, ReducerFunction contract,
                                      ReductionPolicy policy,
                                      SourceLoc loc = SourceLoc::current()) {
    return {{NestRange::Kind::REDUCE, {}, {}, true, policy, {}, contract},
            std::move(domain),
            nullptr,
            loc};
}
template<ReductionContract C>
NestRange Nest::reduce(IndexSpace domain, const C &contract, SourceLoc loc) const {
    return {{NestRange::Kind::REDUCE, {}, {}, false, {}, core::contract_form(contract)},
            std::move(domain),
            this,
            loc};
}
template<ReductionContract C>
NestRange Nest::reduce(IndexSpace domain, const C &contract, ReductionPolicy policy,
                       SourceLoc loc) const {
    return {{NestRange::Kind::REDUCE, {}, {}, true, policy, core::contract_form(contract)},
            std::move(domain),
            this,
            loc};
}
inline NestRange Nest::reduce(IndexSpace domain, ReducerFunction contract, SourceLoc loc) const {
    return {
        {NestRange::Kind::REDUCE, {}, {}, false, {}, {}, contract}, std::move(domain), this, loc};
}
inline NestRange Nest::reduce(IndexSpace domain, ReducerFunction contract, ReductionPolicy policy,
                              SourceLoc loc) const {
    return {{NestRange::Kind::REDUCE, {}, {}, true, policy, {}, contract},
            std::move(domain),
            this,
            loc};
}

namespace core {
void begin_if(Value *condition, SourceLoc loc);
void begin_else();
void end_if();
void begin_while(SourceLoc loc);
void while_condition(Value *condition, SourceLoc loc);
void end_while();
}// namespace core

/// Runs `then` where the condition holds. Branches assign outer variables; one assigned on one side only has
/// its earlier value on the other.
template<class F>
void if_(const Scalar<bool> &condition, const F &then_part, SourceLoc loc = SourceLoc::current()) {
    static_assert(std::is_invocable_v<const F &>,
                  "if_: a branch takes no arguments and is not mutable");
    static_assert(std::is_void_v<std::invoke_result_t<const F &>>,
                  "if_: a branch returns nothing; assign an outer variable");
    core::begin_if(condition.value(loc), loc);
    then_part();
    core::begin_else();
    core::end_if();
}
template<class F, class G>
    requires std::is_invocable_v<const G &>
void if_(const Scalar<bool> &condition, const F &then_part, const G &else_part,
         SourceLoc loc = SourceLoc::current()) {
    static_assert(std::is_invocable_v<const F &>,
                  "if_: a branch takes no arguments and is not mutable");
    static_assert(std::is_void_v<std::invoke_result_t<const F &>> &&
                      std::is_void_v<std::invoke_result_t<const G &>>,
                  "if_: a branch returns nothing; assign an outer variable");
    core::begin_if(condition.value(loc), loc);
    then_part();
    core::begin_else();
    else_part();
    core::end_if();
}
/// Repeats `body` while the condition holds; outer variables that it assigns are carried.
template<class C, class F>
void while_(const C &condition, const F &body, SourceLoc loc = SourceLoc::current()) {
    static_assert(std::is_invocable_v<const C &> && std::is_invocable_v<const F &>,
                  "while_: condition and body take no arguments and are not mutable");
    static_assert(std::is_convertible_v<std::invoke_result_t<const C &>, Scalar<bool>>,
                  "while_: the condition lambda returns a Scalar<bool>");
    core::begin_while(loc);
    {
        Scalar<bool> holds = condition();
        core::while_condition(holds.value(loc), loc);
    }
    body();
    core::end_while();
}

}// namespace luisa::tile

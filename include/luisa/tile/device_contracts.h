// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <luisa/tile/contract_scan.h>
#include <luisa/tile/device_ops.h>

#include <tuple>

// Whole arrays reduced and scanned by contracts. A state is one tensor for each of its fields.

namespace luisa::tile {

namespace device_wide {

template<class X> auto fields_of();
template<class... X> auto fields_of_each(std::tuple<X...> *) {
    return std::tuple_cat(fields_of<std::remove_cvref_t<X>>()...);
}
template<class A, size_t... I> auto fields_of_array(std::index_sequence<I...>) {
    return std::tuple_cat((static_cast<void>(I), fields_of<typename A::value_type>())...);
}
/// The element types of a state's fields, in order.
template<class X> auto fields_of() {
    if constexpr (StagedValue<X>) {
        return std::tuple<element_t<X>>{};
    } else if constexpr (StateStruct<X>) {
        using Fields = decltype(std::declval<X &>().tile_fields());
        return fields_of_each(static_cast<Fields *>(nullptr));
    } else {
        return fields_of_array<X>(std::make_index_sequence<std::tuple_size_v<X>>{});
    }
}
template<class S> using FieldTypes = decltype(fields_of<S>());
template<class T, class C>
using LiftedState =
    std::remove_cvref_t<decltype(std::declval<const C &>().lift(std::declval<const Tile<T> &>()))>;

template<class... E> using ProgramTensors = std::tuple<ProgramTensor<E, 1>...>;

/// States of elements: what a contract lifts them to.
template<class T, class C> struct Lift {
    C contract;
    auto operator()(const Tile<T> &x) const { return contract.lift(x); }
};
/// States whose fields are in memory.
template<class S> struct Join {
    SourceLoc loc;
    template<class... E> S operator()(const Tile<E> &...fields) const {
        return core::state_of<S>({fields.value(loc)...}, loc);
    }
};

template<class S> S spread_states(const S &state, core::Value *like, SourceLoc loc) {
    auto values = core::field_values(state, loc);
    for (auto *&value : values) {
        value = core::spread_like(value, like, loc);
    }
    return core::state_of<S>(values, loc);
}
template<class S>
S state_at(const S &states, Dim axis, const Scalar<int64_t> &place, SourceLoc loc) {
    auto values = core::field_values(states, loc);
    for (auto *&value : values) {
        value = core::extract_along(value, axis, place.value(loc), loc);
    }
    return core::state_of<S>(values, loc);
}
/// The first of the values, whatever the types of the others.
template<class X, class... R> const X &first_of(const X &x, const R &...) { return x; }

/// Y[b] = the state of block b of the states that `make` makes of X.
template<class S, class C, class Make, class... I, class... E>
auto reduce_state_blocks(const C &contract, const Make &make, bool reverse, std::tuple<I...> *,
                         std::tuple<E...> *, SourceLoc loc) {
    return tile_kernel(
        [=](TensorView<const I, 1>... X, TensorView<E, 1>... Y) {
            auto i = axis("i", block, loc);
            for (auto &nest : parallel(shape(first_of(Y...).extent(0)))) {
                auto first = nest.index() * block;
                std::tuple<Tile<I>...> x{Tile<I>{X(coord(first), shape(i)).load()}...};
                const S states = spread_states<S>(std::apply(make, x), std::get<0>(x).value(loc),
                                                  loc);
                Scalar<int64_t> n{first_of(X...).extent(0).value(loc), loc};
                auto count = minimum(n - first, block);
                S state = scalar(core::identity_of<S>(contract), loc);
                for (auto &step :
                     nest.reduce(range(0, count), contract, reduction::ordered_tree, loc)) {
                    auto at = reverse ? Scalar<int64_t>{count - 1 - step.index()} : step.index();
                    state = contract.merge(state, state_at(states, i.dim, at, loc));
                }
                auto results = core::field_values(state, loc);
                size_t field = 0;
                (Y(nest.index()).store(Scalar<E>{results[field++], loc}), ...);
            }
        },
        {.name = "reduce_state_blocks"});
}

/// Y = the scan of each block; with `seeded`, what came before it is in Seeds[block].
template<class S, class C, class Make, class... I, class... E>
auto scan_state_blocks(const C &contract, const Make &make, DeviceScanOptions options, bool seeded,
                       std::tuple<I...> *, std::tuple<E...> *, SourceLoc loc) {
    return tile_kernel(
        [=](TensorView<const I, 1>... X, TensorView<const E, 1>... Seeds, TensorView<E, 1>... Y) {
            auto i = axis("i", block, loc);
            const auto &n = first_of(X...).extent(0);
            for (auto &nest : parallel(shape(ceil_div(n, block)))) {
                auto first = nest.index() * block;
                std::tuple<Tile<I>...> x{Tile<I>{X(coord(first), shape(i)).load()}...};
                const S states = spread_states<S>(std::apply(make, x), std::get<0>(x).value(loc),
                                                  loc);
                ContractScanOptions<S> how;
                how.exclusive = options.exclusive;
                how.reverse = options.reverse;
                if (options.reverse) {
                    how.mask = present(i, first, n, loc);
                }
                if (seeded) {
                    std::vector<core::Value *> seeds{Seeds(nest.index()).load().value(loc)...};
                    how.seed = core::state_of<S>(seeds, loc);
                }
                auto y = core::field_values(scan(states, i, contract, how, loc), loc);
                size_t field = 0;
                (Y(coord(first), shape(i)).store(Tile<E>{y[field++], loc}), ...);
            }
        },
        {.name = "scan_state_blocks"});
}

template<class... E>
ProgramTensors<E...> state_temporaries(Commands &run, int64_t n, std::tuple<E...> *) {
    return {run.template temporary<E>(n)...};
}
template<class... E> ProgramTensors<const E...> read_only(const ProgramTensors<E...> &x) {
    return std::apply(
        [](const auto &...t) {
            return ProgramTensors<const E...>{ProgramTensor<const E, 1>{t}...};
        },
        x);
}

/// Runs a kernel on tuples of tensors, each tuple with an extent of its own.
template<class K, class... Tuple>
void run_on(Commands &run, const K &kernel, SourceLoc loc, const Tuple &...tuples) {
    std::vector<TensorMeta> metas;
    int group = 0;
    static constexpr const char *names[] = {"a", "b", "c"};
    auto note = [&](const auto &tuple) {
        std::apply([&](const auto &...t) { (metas.push_back(any_length(names[group], t)), ...); },
                   tuple);
        ++group;
    };
    (note(tuples), ...);
    std::apply(run(kernel.capture_from(metas.data()), loc), std::tuple_cat(tuples...));
}

template<class S, class C, class Make, class... I, class... E>
void reduce_states(Commands &run, const C &contract, const Make &make, bool reverse,
                   const ProgramTensors<const I...> &x, const ProgramTensors<E...> &result,
                   SourceLoc loc) {
    std::tuple<I...> *inputs = nullptr;
    std::tuple<E...> *outputs = nullptr;
    auto kernel = reduce_state_blocks<S>(contract, make, reverse, inputs, outputs, loc);
    auto n = blocks(std::get<0>(x).extent(0));
    if (n <= std::get<0>(result).extent(0)) {
        run_on(run, kernel, loc, x, result);
        return;
    }
    auto partial = state_temporaries(run, n, outputs);
    run_on(run, kernel, loc, x, partial);
    reduce_states<S, C, Join<S>, E...>(run, contract, Join<S>{loc}, reverse,
                                       read_only<E...>(partial), result, loc);
}

template<class S, class C, class Make, class... I, class... E>
void scan_states(Commands &run, const C &contract, const Make &make, DeviceScanOptions options,
                 const ProgramTensors<const I...> &x, const ProgramTensors<E...> &y,
                 SourceLoc loc) {
    std::tuple<I...> *inputs = nullptr;
    std::tuple<E...> *outputs = nullptr;
    auto n = blocks(std::get<0>(x).extent(0));
    auto seeds = state_temporaries(run, n, outputs);
    if (n > 1) {
        auto totals = state_temporaries(run, n, outputs);
        reduce_states<S, C, Make, I...>(run, contract, make, options.reverse, x, totals, loc);
        scan_states<S, C, Join<S>, E...>(run, contract, Join<S>{loc},
                                         {.exclusive = true, .reverse = options.reverse},
                                         read_only<E...>(totals), seeds, loc);
    }
    auto kernel = scan_state_blocks<S>(contract, make, options, n > 1, inputs, outputs, loc);
    std::apply([&](const auto &...seed) { run_on(run, kernel, loc, x, std::tuple{seed...}, y); },
               seeds);
}

template<class T, class S, class C, class... E>
auto reduce_program(const C &contract, std::tuple<E...> *, SourceLoc loc) {
    return tile_program(
        [=](Commands &run, ProgramTensor<const T, 1> x, ProgramTensor<E, 1>... result) {
            (run.expect_extent(result, 0, 1), ...);
            reduce_states<S, C, Lift<T, C>, T>(run, contract, Lift<T, C>{contract}, false,
                                               std::tuple{x}, std::tuple{result...}, loc);
        },
        {.name = "device_reduce", .parameters = {"x"}}, loc);
}
template<class T, class S, class C, class... E>
auto scan_program(const C &contract, DeviceScanOptions options, std::tuple<E...> *, SourceLoc loc) {
    return tile_program(
        [=](Commands &run, ProgramTensor<const T, 1> x, ProgramTensor<E, 1>... y) {
            (run.expect_extent(y, 0, x.extent(0)), ...);
            scan_states<S, C, Lift<T, C>, T>(run, contract, Lift<T, C>{contract}, options,
                                             std::tuple{x}, std::tuple{y...}, loc);
        },
        {.name = "device_scan", .parameters = {"x"}}, loc);
}

}// namespace device_wide

/// The state of all elements of x, each lifted by the contract's `lift`: a program `(x, field…)` with one
/// tensor of one element for each field of the state, in the order of LUISA_TILE_STATE. Elements keep their
/// order and may be regrouped. Of nothing it is the identity.
template<class T, ReductionContract C>
    requires StateStruct<device_wide::LiftedState<T, C>>
[[nodiscard]] auto device_reduce(const C &contract, SourceLoc loc = SourceLoc::current()) {
    using S = device_wide::LiftedState<T, C>;
    return device_wide::reduce_program<T, S>(
        contract, static_cast<device_wide::FieldTypes<S> *>(nullptr), loc);
}

/// The states up to each element of x: a program `(x, field…)` with tensors of the extent of x.
template<class T, ReductionContract C>
    requires StateStruct<device_wide::LiftedState<T, C>>
[[nodiscard]] auto device_scan(const C &contract, DeviceScanOptions options = {},
                               SourceLoc loc = SourceLoc::current()) {
    using S = device_wide::LiftedState<T, C>;
    return device_wide::scan_program<T, S>(contract, options,
                                           static_cast<device_wide::FieldTypes<S> *>(nullptr), loc);
}

}// namespace luisa::tile

// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <luisa/tile/functions.h>

#include <array>
#include <tuple>

/// Makes a struct of tiles a staged state. It stands inside the struct, after the fields, and names them in
/// order: `struct Pair { Tile<float> a, b; LUISA_TILE_STATE(Pair, a, b) };`. The struct stays an aggregate.
/// Fields are `Tile<T>`, `Scalar<T>`, other states or `std::array` of these.
#define LUISA_TILE_STATE(TYPE, ...)                                                                \
    using tile_state_type = TYPE;                                                                  \
    [[no_unique_address]] luisa::tile::core::StateMark<TYPE> tile_mark = {};                       \
    [[nodiscard]] auto tile_fields() { return std::tie(__VA_ARGS__); }                             \
    [[nodiscard]] auto tile_fields() const { return std::tie(__VA_ARGS__); }

namespace luisa::tile {

namespace core {

/// Notes that there is a state of this type with its mark at this place; and that it is gone.
void mark_state(const void *place, const char *type) noexcept;
void unmark_state(const void *place) noexcept;

/// A name that no other type has.
template<class S> const char *type_name() noexcept { return __PRETTY_FUNCTION__; }

/// The member of a state by which a contract finds it. Neighbouring variables are not taken for one.
template<class S> struct StateMark {
    StateMark() noexcept { mark_state(this, type_name<S>()); }
    StateMark(const StateMark &) noexcept : StateMark{} {}
    StateMark &operator=(const StateMark &) noexcept { return *this; }
    ~StateMark() { unmark_state(this); }
};

}// namespace core

/// A struct declared with LUISA_TILE_STATE.
template<class S>
concept StateStruct = requires(S &s) {
    typename S::tile_state_type;
    s.tile_fields();
};
/// What a contract merges: a state struct, or a single tile or scalar.
template<class S>
concept StateValue = StateStruct<S> || StagedValue<S>;

namespace core {

/// Calls `f` for each tile or scalar of a state, in the order of LUISA_TILE_STATE.
template<class X, class F> void each_field(X &x, const F &f) {
    using Plain = std::remove_cvref_t<X>;
    if constexpr (StagedValue<Plain>) {
        f(x);
    } else if constexpr (StateStruct<Plain>) {
        std::apply([&](auto &...fields) { (each_field(fields, f), ...); }, x.tile_fields());
    } else {
        for (auto &element : x) {
            each_field(element, f);
        }
    }
}

/// The current values of a state's fields.
template<StateValue S> std::vector<Value *> field_values(const S &state, SourceLoc loc) {
    std::vector<Value *> values;
    each_field(state, [&](const auto &field) { values.push_back(field.value(loc)); });
    return values;
}

/// A new state with these values.
template<StateValue S> S state_of(const std::vector<Value *> &values, SourceLoc loc) {
    S state;
    size_t next = 0;
    each_field(state, [&](auto &field) {
        using Field = std::remove_cvref_t<decltype(field)>;
        field = Field{values.at(next++), loc};
    });
    return state;
}

}// namespace core

/// A state whose fields are single elements, from one such as `State::identity()`. A field with dimensions:
/// ShapeError.
template<StateStruct S>
[[nodiscard]] S scalar(const S &state, SourceLoc loc = SourceLoc::current()) {
    auto values = core::field_values(state, loc);
    for (auto *&value : values) {
        value = core::require_scalar(value, "a field of a scalar state", loc);
    }
    return core::state_of<S>(values, loc);
}

/// A state of which every field has this shape, each filled with the single element that `identity` has for
/// it. A field of `identity` with dimensions: ShapeError.
template<StateStruct S>
[[nodiscard]] S full(const Shape &shape, const std::type_identity_t<S> &identity,
                     SourceLoc loc = SourceLoc::current()) {
    auto values = core::field_values<S>(identity, loc);
    for (auto *&value : values) {
        value = core::full(shape, core::require_scalar(value, "a field of the identity", loc), loc);
    }
    return core::state_of<S>(values, loc);
}

}// namespace luisa::tile

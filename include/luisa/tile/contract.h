// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <luisa/tile/reduce.h>
#include <luisa/tile/state.h>

namespace luisa::tile {

namespace core {

/// Where a field lies in a state, and what it holds.
struct StateField {
    std::ptrdiff_t offset = 0;
    ScalarType type{};
};
/// A state type that a contract merges.
struct StateLayout {
    const char *type = nullptr;///< null: a single tile or scalar, which has no mark
    std::ptrdiff_t mark = 0;   ///< where the mark lies
    std::vector<StateField> fields;
};

/// A contract as the type-erased core sees it. Layouts number the state types that it merges.
class ContractForm {
public:
    ContractForm() = default;
    ContractForm(const ContractForm &) = delete;
    ContractForm &operator=(const ContractForm &) = delete;
    virtual ~ContractForm() = default;
    [[nodiscard]] virtual size_t layouts() const = 0;
    [[nodiscard]] virtual StateLayout layout(size_t layout) const = 0;
    [[nodiscard]] virtual std::vector<Value *> identity(size_t layout, SourceLoc loc) const = 0;
    [[nodiscard]] virtual std::vector<Value *> merge(size_t layout, const std::vector<Value *> &lhs,
                                                     const std::vector<Value *> &rhs,
                                                     SourceLoc loc) const = 0;
    bool commutative = false;
    bool shipped = false;///< the library vouches for the laws
};
using ContractHandle = std::shared_ptr<const ContractForm>;

template<class S, class C> S identity_of(const C &contract) {
    if constexpr (requires { contract.template identity<S>(); }) {
        return contract.template identity<S>();
    } else {
        return contract.identity();
    }
}

/// The layout of a state type, found in a state that has no values.
template<StateValue S> StateLayout layout_of() {
    S state;
    auto offset = [&](const void *member) {
        return static_cast<const char *>(member) - reinterpret_cast<const char *>(&state);
    };
    StateLayout layout;
    if constexpr (StateStruct<S>) {
        layout.type = type_name<S>();
        layout.mark = offset(&state.tile_mark);
    }
    each_field(state, [&](const auto &field) {
        const Staged *staged = &field;
        layout.fields.push_back({offset(staged), scalar_type_of<element_t<decltype(field)>>});
    });
    return layout;
}

template<class C, class States> class ContractOf;
template<class C, class... S> class ContractOf<C, std::tuple<S...>> final : public ContractForm {
public:
    explicit ContractOf(const C &contract) : _contract{contract} {
        if constexpr (requires { C::commutative; }) {
            commutative = C::commutative;
        }
        if constexpr (requires { C::shipped_with_luisa_tile; }) {
            shipped = true;
        }
    }
    [[nodiscard]] size_t layouts() const override { return sizeof...(S); }
    [[nodiscard]] StateLayout layout(size_t layout) const override {
        static constexpr StateLayout (*of[])() = {layout_of<S>...};
        return of[layout]();
    }
    [[nodiscard]] std::vector<Value *> identity(size_t layout, SourceLoc loc) const override {
        std::vector<Value *> values;
        with(layout, [&]<class State>(std::type_identity<State>) {
            values = field_values<State>(identity_of<State>(_contract), loc);
        });
        return values;
    }
    [[nodiscard]] std::vector<Value *> merge(size_t layout, const std::vector<Value *> &lhs,
                                             const std::vector<Value *> &rhs,
                                             SourceLoc loc) const override {
        std::vector<Value *> values;
        with(layout, [&]<class State>(std::type_identity<State>) {
            const auto left = state_of<State>(lhs, loc), right = state_of<State>(rhs, loc);
            State merged = _contract.merge(left, right);
            values = field_values<State>(merged, loc);
        });
        return values;
    }

private:
    template<class F> static void with(size_t layout, const F &f) {
        size_t next = 0;
        ((next++ == layout ? f(std::type_identity<S>{}) : void()), ...);
    }
    C _contract;
};

template<ReductionContract C> ContractHandle contract_form(const C &contract) {
    return std::make_shared<ContractOf<C, typename contract_states<C>::type>>(contract);
}

}// namespace core
}// namespace luisa::tile

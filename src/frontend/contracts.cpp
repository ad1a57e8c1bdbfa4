// SPDX-License-Identifier: Apache-2.0
#include "frontend/contracts.h"

#include "ir/contract_code.h"
#include "ir/reduction_update.h"
#include "types/arith.h"
#include "types/convert.h"

#include <algorithm>
#include <cstring>
#include <limits>

// Custom contracts of reductions: which variables are the states, and the regions that merge them.

namespace luisa::tile::core {

using ir::Opcode;

namespace {

/// The live variable at this place, if it holds elements of `type` and was declared outside `region`.
Variable *outer_variable_at(Capture &c, const NestRegion &region, const char *place,
                            ScalarType type) {
    auto found = c.objects.find(place);
    if (found == c.objects.end()) {
        return nullptr;
    }
    auto *v = found->second;
    auto *value = v->alive ? c.resolve(v->stack.back().definition) : nullptr;
    for (auto *r = v->scope; r; r = r->parent) {
        if (r == &region) {
            return nullptr;
        }
    }
    return value && value->type()->is_tile() && value->scalar() == type ? v : nullptr;
}

/// The fields of a state that begins at `base`; empty if there is none.
std::vector<Variable *> state_at(Capture &c, const NestRegion &region, const char *base,
                                 const std::vector<StateField> &fields) {
    std::vector<Variable *> state;
    for (const auto &field : fields) {
        auto *v = outer_variable_at(c, region, base + field.offset, field.type);
        if (!v) {
            return {};
        }
        state.push_back(v);
    }
    return state;
}

bool written_in(const NestRegion &region, const Variable *v) {
    return v->stack.back().region == &region && v->stack.back().written;
}

std::vector<Variable *> states_of_layout(Capture &c, const NestRegion &region,
                                         const StateLayout &layout) {
    std::vector<const char *> bases;
    if (layout.type) {
        for (const auto &[mark, type] : c.states) {
            if (std::strcmp(type, layout.type) == 0) {
                bases.push_back(static_cast<const char *>(mark) - layout.mark);
            }
        }
    } else {
        for (auto *v : region.touched) {
            bases.push_back(static_cast<const char *>(v->object));
        }
    }
    std::vector<std::pair<uint64_t, std::vector<Variable *>>> states;
    for (const auto *base : bases) {
        auto state = state_at(c, region, base, layout.fields);
        bool updated = std::any_of(state.begin(), state.end(),
                                   [&](const Variable *v) { return written_in(region, v); });
        if (updated) {
            states.emplace_back(state.front()->serial, state);
        }
    }
    // In order of declaration: addresses differ from run to run.
    std::sort(states.begin(), states.end());
    std::vector<Variable *> all;
    for (const auto &[serial, state] : states) {
        all.insert(all.end(), state.begin(), state.end());
    }
    return all;
}

/// Captures one region of a contract: `body` gives the values that it yields.
template<class F>
void contract_region(Capture &c, ir::Operation *op, const std::vector<const ir::Type *> &arguments,
                     SourceLoc loc, const F &body) {
    auto *region = c.module->add_region(op);
    std::vector<Value *> given;
    for (const auto *type : arguments) {
        given.push_back(c.module->add_argument(region, type));
    }
    auto *opened = open_region(c, "reduction contract", op, region, loc);
    opened->no_writes = true;
    auto values = body(given);
    for (auto *&value : values) {
        value = require_scalar(value, "a field that a contract gives", loc);
    }
    for (const auto *inner : *region) {
        if (!ir::is_code_of_elements(*inner)) {
            fail(ErrorKind::SCOPE,
                 std::string{"a reduction contract computes with single elements, and `"} +
                     ir::to_string(inner->opcode()) + "` is more than that; choose by ite",
                 inner->loc);
        }
    }
    c.module->append(region, c.module->create(Opcode::YIELD, values, {}, ir::None{}, loc));
    close_plain(c, *opened);
}

/// What `reducer` leaves the other operand of, exactly.
uint64_t identity_bits(Reducer reducer, ScalarType type) {
    auto width = static_cast<unsigned>(8 * size_of(type));
    auto ones = type == ScalarType::BOOL ? 1
                : width == 64            ? ~uint64_t{0}
                                         : (uint64_t{1} << width) - 1;
    switch (reducer) {
        case Reducer::ADD: return is_float(type) ? uint64_t{1} << (width - 1) : 0;
        case Reducer::MULTIPLY: return arith::from_double(type, 1);
        case Reducer::MINIMUM: return arith::highest(type);
        case Reducer::MAXIMUM: return arith::lowest(type);
        case Reducer::FMIN:
        case Reducer::FMAX:
            return is_float(type)
                       ? arith::from_double(type, std::numeric_limits<double>::quiet_NaN())
                   : reducer == Reducer::FMIN ? arith::highest(type)
                                              : arith::lowest(type);
        case Reducer::LOGICAL_AND:
        case Reducer::BIT_AND: return ones;
        default: return 0;
    }
}

void check_shapes(const BoundStates &bound, size_t size, SourceLoc loc) {
    for (size_t i = 0; i < bound.results.size(); ++i) {
        const auto &first = *bound.results[i - i % size]->type(), &own = *bound.results[i]->type();
        if (first.dims != own.dims) {
            fail(ErrorKind::SHAPE,
                 "the fields of a state that a contract merges differ in shape: " +
                     ir::extents_text(first) + " and " + ir::extents_text(own) +
                     "; make the state by full<State>(shape, identity) or scalar(identity)",
                 loc, {{"field declared here", bound.fields[i]->declared}});
        }
    }
}

}// namespace

void mark_state(const void *place, const char *type) noexcept {
    if (auto *c = current_or_null()) {
        c->states[place] = type;
    }
}

void unmark_state(const void *place) noexcept {
    if (auto *c = current_or_null()) {
        c->states.erase(place);
    }
}

BoundStates bind_states(Capture &c, NestRegion &region, const ContractForm &contract,
                        SourceLoc loc) {
    BoundStates bound;
    for (; bound.layout < contract.layouts() && bound.fields.empty(); ++bound.layout) {
        bound.fields = states_of_layout(c, region, contract.layout(bound.layout));
    }
    if (bound.fields.empty()) {
        fail(ErrorKind::CALL,
             "the body of this `reduce` updates no state that its contract merges; assign a "
             "variable "
             "of the contract's state type that was declared before the nest",
             loc);
    }
    --bound.layout;
    for (auto *v : bound.fields) {
        bind_in_region(c, v);
    }
    return bound;
}

void add_contract(Capture &c, NestRegion &region, const ContractForm &contract,
                  const BoundStates &states, SourceLoc loc) {
    auto *op = region.owner;
    auto bound = states;
    std::vector<int32_t> numbers;
    for (auto *v : bound.fields) {
        bound.results.push_back(v->stack.back().definition);
        numbers.push_back(static_cast<int32_t>(bound.results.back()->index()));
    }
    std::vector<const ir::Type *> arguments;
    auto size = contract.layout(bound.layout).fields.size();
    check_shapes(bound, size, loc);
    for (size_t i = 0; i < 2 * size; ++i) {
        arguments.push_back(c.module->scalar(bound.results[i % size]->scalar()));
    }
    contract_region(c, op, {}, loc, [&](const std::vector<Value *> &) {
        return contract.identity(bound.layout, loc);
    });
    contract_region(c, op, arguments, loc, [&](const std::vector<Value *> &values) {
        auto middle = values.begin() + static_cast<std::ptrdiff_t>(size);
        return contract.merge(bound.layout, {values.begin(), middle}, {middle, values.end()}, loc);
    });
    auto &payload = op->get<ir::NestPayload>();
    payload.contract = std::move(numbers);
    auto source = contract.shipped ? ir::Provenance::BUILTIN : ir::Provenance::DECLARED;
    payload.laws = {source, source, ir::Provenance::DECLARED,
                    contract.commutative ? source : ir::Provenance::NONE};
}

void add_reducer(Capture &c, NestRegion &region, const ReducerFunction &reducer, SourceLoc loc) {
    auto *op = region.owner;
    auto merge = Opcode::ADD;
    require(ir::parse_opcode(reducer.op, merge), "a reducer without an operation");
    std::vector<int32_t> numbers;
    for (size_t i = 0; i < op->result_count(); ++i) {
        auto shown = ir::merge_of_state(*op, i);
        if (shown && *shown != merge) {
            fail(ErrorKind::CALL,
                 std::string{"this `reduce` merges by "} + reducer.op +
                     ", but its body updates a state by " + ir::to_string(*shown) +
                     "; leave the reducer out, or update by it",
                 loc);
        }
        if (!shown) {
            numbers.push_back(static_cast<int32_t>(i));
        }
    }
    if (numbers.empty()) {
        return;
    }
    auto type = op->result(static_cast<size_t>(numbers[0]))->scalar();
    for (auto i : numbers) {
        if (op->result(static_cast<size_t>(i))->scalar() != type) {
            fail(ErrorKind::TYPE,
                 std::string{"this `reduce` merges states of "} + to_string(type) + " and " +
                     to_string(op->result(static_cast<size_t>(i))->scalar()) +
                     " by one reducer; reduce them in nests of their own",
                 loc);
        }
    }
    const auto *element = c.module->scalar(type);
    contract_region(c, op, {}, loc, [&](const std::vector<Value *> &) {
        return std::vector{constant_bits(type, identity_bits(reducer.reducer, type), loc)};
    });
    contract_region(c, op, {element, element}, loc, [&](const std::vector<Value *> &sides) {
        return std::vector{elementwise(reducer.op, {sides[0], sides[1]}, loc)};
    });
    auto &payload = op->get<ir::NestPayload>();
    payload.contract = std::move(numbers);
    payload.laws = {ir::Provenance::BUILTIN, ir::Provenance::BUILTIN, ir::Provenance::DECLARED,
                    ir::Provenance::BUILTIN};
}

}// namespace luisa::tile::core

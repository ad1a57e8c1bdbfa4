// SPDX-License-Identifier: Apache-2.0
#include "ir/tree_reduction.h"

#include "ir/dependence.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace luisa::tile::ir {

namespace {

constexpr Opcode merges[] = {Opcode::ADD,     Opcode::MUL,  Opcode::MINIMUM,
                             Opcode::MAXIMUM, Opcode::FMIN, Opcode::FMAX,
                             Opcode::AND,     Opcode::OR,   Opcode::XOR};

/// Follows one state through the body.
class StateFlow {
public:
    StateFlow(const Dependence &states, const Value *state) : _states{states}, _state{state} {}

    /// Whether `v` is the state with contributions merged into it by one operation.
    [[nodiscard]] std::optional<Opcode> merge() const { return _merge; }
    bool reaches(const Value *v) {
        if (v == _state) {
            return true;
        }
        const auto *op = v->definition();
        return op && reaches_through(*op, v->index());
    }

private:
    [[nodiscard]] bool depends(const Value *v) const { return _states.contains(v); }
    bool merges_by(Opcode merge) {
        bool same = !_merge || *_merge == merge;
        _merge = merge;
        return same;
    }
    bool reaches_through(const Operation &op, size_t result) {
        switch (op.opcode()) {
            case Opcode::SUB:
                return !depends(op.operand(1)) && merges_by(Opcode::ADD) && reaches(op.operand(0));
            case Opcode::MMA:
                return !depends(op.operand(0)) && !depends(op.operand(1)) &&
                       merges_by(Opcode::ADD) && reaches(op.operand(2));
            case Opcode::ITE:
                return !depends(op.operand(0)) && reaches(op.operand(1)) && reaches(op.operand(2));
            case Opcode::BROADCAST:
            case Opcode::RETYPE: return reaches(op.operand(0));
            case Opcode::EXTRACT: return others_independent(op, 1) && reaches(op.operand(0));
            case Opcode::INSERT:
                return others_independent(op, 2) && reaches(op.operand(0)) &&
                       reaches(op.operand(1));
            case Opcode::MAP: return reaches(op.body()->terminator()->operand(0));
            case Opcode::IF:
                return !depends(op.operand(0)) &&
                       reaches(op.body(0)->terminator()->operand(result)) &&
                       reaches(op.body(1)->terminator()->operand(result));
            default: break;
        }
        if (is_nest(op.opcode()) || op.opcode() == Opcode::WHILE) {
            return reaches_through_nest(op, result);
        }
        bool known = std::find(std::begin(merges), std::end(merges), op.opcode()) !=
                     std::end(merges);
        if (!known || !merges_by(op.opcode())) {
            return false;
        }
        return depends(op.operand(0)) ? !depends(op.operand(1)) && reaches(op.operand(0))
                                      : reaches(op.operand(1));
    }
    bool reaches_through_nest(const Operation &op, size_t result) {
        auto from_end = op.result_count() - result;
        auto *body = op.body();
        for (auto *inner : *body) {
            if (inner->opcode() == Opcode::CONDITION && depends(inner->operand(0))) {
                return false;
            }
        }
        auto *argument = body->argument(body->arguments().size() - from_end);
        auto *outer = std::exchange(_state, argument);
        bool inside = reaches(body->terminator()->operand(result));
        _state = outer;
        return inside && reaches(op.operand(op.operand_count() - from_end));
    }
    [[nodiscard]] bool others_independent(const Operation &op, size_t first) const {
        for (size_t i = first; i < op.operand_count(); ++i) {
            if (depends(op.operand(i))) {
                return false;
            }
        }
        return true;
    }

    const Dependence &_states;
    const Value *_state;
    std::optional<Opcode> _merge;
};

/// An effect or a branch in the region that depends on a state.
const Operation *observer(const Region &region, const Dependence &states) {
    for (auto *op : region) {
        if (op->opcode() == Opcode::STORE) {
            for (auto *operand : op->operands()) {
                if (states.contains(operand)) {
                    return op;
                }
            }
        }
        for (auto *inner : op->regions()) {
            if (const auto *found = observer(*inner, states)) {
                return found;
            }
        }
    }
    return nullptr;
}

}// namespace

static Dependence on_states(const Operation &reduce) {
    const auto &arguments = reduce.body()->arguments();
    auto first = static_cast<std::ptrdiff_t>(arguments.size() - reduce.result_count());
    return {*reduce.body(), {arguments.begin() + first, arguments.end()}};
}

static StateFlow flow_of(const Dependence &states, const Operation &reduce, size_t i) {
    const auto &arguments = reduce.body()->arguments();
    return {states, arguments[arguments.size() - reduce.result_count() + i]};
}

std::optional<Opcode> tree_merge(const Operation &reduce, size_t state) {
    auto states = on_states(reduce);
    auto flow = flow_of(states, reduce, state);
    return flow.reaches(reduce.body()->terminator()->operand(state)) ? flow.merge() : std::nullopt;
}

TreeProblem tree_problem(const Operation &reduce) {
    auto states = on_states(reduce);
    if (const auto *store = observer(*reduce.body(), states)) {
        return {"a state of a `reduce` is stored inside its body, but under a tree contributions "
                "have no "
                "order; use serial, scan, or reduction::fold_left",
                store};
    }
    const auto &bound = reduce.get<NestPayload>().contract;
    for (size_t i = 0; i < reduce.result_count(); ++i) {
        if (std::find(bound.begin(), bound.end(), static_cast<int32_t>(i)) != bound.end()) {
            continue;
        }
        auto *yielded = reduce.body()->terminator()->operand(i);
        if (!flow_of(states, reduce, i).reaches(yielded)) {
            return {
                "this update of a state of a `reduce` tells no merge of partial results: a tree "
                "needs "
                "`s = op(s, x)` with one built-in operation; pass a contract after the domain, or "
                "reduction::fold_left",
                yielded->definition() ? yielded->definition() : &reduce};
        }
    }
    return {};
}

}// namespace luisa::tile::ir

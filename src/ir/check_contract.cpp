// SPDX-License-Identifier: Apache-2.0
#include "ir/check_operations.h"
#include "ir/contract_code.h"

#include <algorithm>

// The contract of a `reduce`: groups of states with one shape each, and the scalar regions that give and merge
// one group.

namespace luisa::tile::ir {

namespace {

class ContractRules {
public:
    explicit ContractRules(const Operation &op) : _op{op}, _bound{op.get<NestPayload>().contract} {}

    std::string run() {
        if (_op.regions().size() <= 1) {
            bool none = _bound.empty() && _op.get<NestPayload>().laws == ReductionLaws{};
            return none ? "" : "states of a contract without its identity and merge regions";
        }
        const auto *identity = _op.body(1)->terminator(), *merge = _op.body(2)->terminator();
        if (!identity || !merge) {
            return "a contract's region does not end in yield";
        }
        _size = identity->operand_count();
        bool counts = _size > 0 && _op.body(1)->arguments().empty() &&
                      merge->operand_count() == _size &&
                      _op.body(2)->arguments().size() == 2 * _size && !_bound.empty() &&
                      _bound.size() % _size == 0;
        if (!counts) {
            return "the regions of the contract and its groups of states disagree about the number "
                   "of "
                   "fields";
        }
        for (size_t i = 0; i < _bound.size(); ++i) {
            if (auto problem = check_state(i); !problem.empty()) {
                return problem;
            }
        }
        return check_region(*_op.body(1)) && check_region(*_op.body(2))
                   ? ""
                   : "a contract's region is no pure scalar code";
    }

private:
    [[nodiscard]] std::string check_state(size_t i) const {
        auto state = _bound[i];
        bool known = state >= 0 && static_cast<size_t>(state) < _op.result_count() &&
                     std::count(_bound.begin(), _bound.end(), state) == 1;
        if (!known) {
            return "a contract names a state twice or one that is not there";
        }
        auto field = i % _size;
        auto first = _bound[i - field];
        const auto &type = *_op.result(static_cast<size_t>(state))->type();
        if (type.dims != _op.result(static_cast<size_t>(first))->type()->dims) {
            return "the states of one group of a contract differ in shape";
        }
        const Value *elements[] = {
            _op.body(1)->terminator()->operand(field), _op.body(2)->terminator()->operand(field),
            _op.body(2)->argument(field), _op.body(2)->argument(_size + field)};
        bool fits = std::all_of(std::begin(elements), std::end(elements), [&](const Value *v) {
            return v->type()->is_scalar() && v->scalar() == type.scalar;
        });
        return fits ? ""
                    : "field " + std::to_string(field) +
                          " of the contract is no scalar of its states' type";
    }
    static bool check_region(const Region &region) {
        for (auto *op : region) {
            if (op->opcode() != Opcode::YIELD && !is_code_of_elements(*op)) {
                return false;
            }
        }
        return true;
    }

    const Operation &_op;
    const std::vector<int32_t> &_bound;
    size_t _size = 0;
};

}// namespace

bool is_code_of_elements(const Operation &op) {
    bool scalar = op.regions().empty() && op.result_count() == 1 &&
                  op.result()->type()->is_scalar();
    return scalar && (is_elementwise(op.opcode()) || info(op.opcode()).family == Family::SHAPE);
}

std::string check_contract(const Operation &nest) { return ContractRules{nest}.run(); }

}// namespace luisa::tile::ir

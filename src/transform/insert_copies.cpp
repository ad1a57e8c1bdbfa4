// SPDX-License-Identifier: Apache-2.0
#include "transform/insert_copies.h"

#include "analysis/insert_chain.h"

#include <unordered_map>

namespace luisa::tile::transform {

using ir::Opcode;

namespace {

/// A state of a `parallel` whose chain of inserts is read inside.
struct Observed {
    ir::Operation *nest;
    size_t state;
};

void collect(const ir::Region &region, std::vector<Observed> &found) {
    for (auto *op : region) {
        for (auto *inner : op->regions()) {
            collect(*inner, found);
        }
        if (op->opcode() != Opcode::PARALLEL) {
            continue;
        }
        auto *body = op->body();
        auto first = body->arguments().size() - op->result_count();
        for (size_t i = 0; i < op->result_count(); ++i) {
            analysis::InsertChain chain;
            bool inserts = op->get<ir::NestPayload>().updates[i] == ir::AncestorUpdate::INSERT;
            const auto *incoming = body->argument(first + i);
            if (inserts && chain.follow(body->terminator()->operand(i), body) == incoming &&
                chain.values.size() > chain.inserts.size() && !chain.is_private()) {
                found.push_back({op, i});
            }
        }
    }
}

/// Makes a second chain beside the one that ends in a value.
class Copier {
public:
    Copier(ir::Module &module, const ir::Region *body) : _module{module}, _body{body} {}

    ir::Value *copy(ir::Value *value) {
        if (auto found = _copies.find(value); found != _copies.end()) {
            return found->second;
        }
        if (!_body->encloses(value->region()) || !value->definition()) {
            return value;// the incoming one
        }
        auto *op = value->definition();
        auto *made = op->opcode() == Opcode::INSERT ? insert(*op)
                     : op->opcode() == Opcode::IF   ? branch(*op, value->index())
                                                    : loop(*op, value->index());
        _copies[value] = made;
        return made;
    }

private:
    ir::Value *insert(ir::Operation &op) {
        auto operands = op.operands();
        operands[0] = copy(operands[0]);
        auto *made = _module.create(Opcode::INSERT, operands, {op.result()->type()},
                                    op.get<ir::AccessPayload>(), op.loc);
        if (op.next()) {
            _module.insert_before(op.next(), made);
        } else {
            _module.append(op.region(), made);
        }
        return made->result();
    }
    ir::Value *branch(ir::Operation &op, size_t state) {
        for (auto *side : op.regions()) {
            auto *yield = side->terminator();
            yield->append_operand(copy(yield->operand(state)));
        }
        return _module.add_result(&op, op.result(state)->type());
    }
    ir::Value *loop(ir::Operation &op, size_t state) {
        auto *body = op.body();
        auto *initial = op.operand(op.operand_count() - op.result_count() + state);
        auto *argument = body->argument(body->arguments().size() - op.result_count() + state);
        auto *before = copy(initial);
        _copies[argument] = _module.add_argument(body, argument->type());
        auto *last = copy(body->terminator()->operand(state));
        op.append_operand(before);
        body->terminator()->append_operand(last);
        if (op.opcode() == Opcode::PARALLEL) {
            op.get<ir::NestPayload>().updates.push_back(ir::AncestorUpdate::INSERT);
        }
        return _module.add_result(&op, op.result(state)->type());
    }

    ir::Module &_module;
    const ir::Region *_body;
    std::unordered_map<ir::Value *, ir::Value *> _copies;
};

}// namespace

bool has_observed_inserts(const ir::Module &module) {
    std::vector<Observed> found;
    collect(*module.kernel()->body, found);
    return !found.empty();
}

void separate_observed_inserts(ir::Module &module) {
    std::vector<Observed> found;
    collect(*module.kernel()->body, found);
    for (const auto &[nest, state] : found) {
        auto *yield = nest->body()->terminator();
        yield->set_operand(state, Copier{module, nest->body()}.copy(yield->operand(state)));
    }
}

}// namespace luisa::tile::transform

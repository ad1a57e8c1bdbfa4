// SPDX-License-Identifier: Apache-2.0
#include "realize/simt/touched.h"

#include <algorithm>

namespace luisa::tile::simt {

using ir::Opcode;

bool Touched::conflicts(const Touched &next) const {
    auto in_writes = [&](const void *x) { return writes.count(x) != 0; };
    auto in_any = [&](const void *x) { return writes.count(x) != 0 || reads.count(x) != 0; };
    return std::any_of(next.reads.begin(), next.reads.end(), in_writes) ||
           std::any_of(next.writes.begin(), next.writes.end(), in_any);
}

void Touched::add(const Touched &other) {
    reads.insert(other.reads.begin(), other.reads.end());
    writes.insert(other.writes.begin(), other.writes.end());
}

void TouchedBy::writes(const ir::Value *value) {
    if (const auto *home = _plan.home(value); home && !_plan.in_registers.count(home)) {
        result.writes.insert(home);
    }
}

void TouchedBy::value(const ir::Value *value) {
    if (value->type()->is_view() || !_seen.insert(value).second || _in_registers.count(value)) {
        return;
    }
    if (const auto *home = _plan.home(value)) {
        if (!_plan.in_registers.count(home)) {
            result.reads.insert(home);
        }
    } else if (auto *op = value->definition()) {
        operation(*op);
    }
}

void TouchedBy::operation(const ir::Operation &op) {
    if (op.opcode() == Opcode::LOAD) {
        result.reads.insert(key(op.operand(0)));
    }
    for (const auto *operand : op.operands()) {
        value(operand);
    }
    for (const auto *region : op.regions()) {
        for (const auto *inner : *region) {
            operation(*inner);
        }
    }
}

void TouchedBy::root(const plan::Root &root) {
    if (root.op) {
        operation(*root.op);
        for (const auto *produced : root.op->results()) {
            writes(produced);
        }
    }
    if (root.op && root.op->opcode() == Opcode::STORE) {
        writes_view(root.op->operand(0));
    }
    if (root.source && root.source != root.target) {
        value(root.source);
    } else if (root.source && root.source->definition()) {
        operation(*root.source->definition());
    }
    if (root.target) {
        writes(root.target);
    }
}

void TouchedBy::group(const plan::LoopGroup &group) {
    for (const auto &r : group.roots) {
        root(r);
    }
}

void TouchedBy::ordering(const plan::Ordering &ordering) {
    for (const auto *op : ordering.ops) {
        operation(*op);
        writes(op->result());
    }
}

void TouchedBy::contraction(const plan::Contraction &c) {
    for (const auto *nest : c.nests) {
        for (const auto *operand : nest->operands()) {
            value(operand);
        }
    }
    for (const auto *product : c.products) {
        value(product->operand(0));
        value(product->operand(1));
    }
    if (c.initial) {
        value(c.initial);
    }
    for (const auto &r : c.epilogue) {
        root(r);
    }
    if (c.epilogue.empty()) {
        writes(c.result);
    }
}

}// namespace luisa::tile::simt

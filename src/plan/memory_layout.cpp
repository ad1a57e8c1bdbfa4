// SPDX-License-Identifier: Apache-2.0
#include "plan/memory_layout.h"

#include "layout/node.h"
#include "layout/proved.h"

#include <unordered_set>

namespace luisa::tile::plan {

using ir::Opcode;

namespace {

/// What a state or a result of loops and branches began as, or an insert changed; null for other values.
const ir::Value *before(const ir::Value *value) {
    const auto *op = value->definition();
    if (!op) {
        const auto *region = value->owner();
        const auto *nest = region ? region->parent() : nullptr;
        if (!nest || nest->result_count() == 0) {
            return nullptr;
        }
        size_t first = region->arguments().size() - nest->result_count();
        return value->index() < first ? nullptr
                                      : nest->operand(nest->operand_count() - nest->result_count() +
                                                      value->index() - first);
    }
    if (op->opcode() == Opcode::INSERT) {
        return op->operand(0);
    }
    bool loop = ir::is_nest(op->opcode()) || op->opcode() == Opcode::WHILE;
    if (loop) {
        return op->operand(op->operand_count() - op->result_count() + value->index());
    }
    if (op->opcode() == Opcode::IF) {
        return op->regions()[0]->terminator()->operand(value->index());
    }
    return nullptr;
}

}// namespace

std::optional<MemoryLayout> memory_layout(const ir::Value *value) {
    std::unordered_set<const ir::Value *> seen;
    while (value && seen.insert(value).second) {
        const auto *op = value->definition();
        if (op && op->opcode() == Opcode::MEMORY_ALLOC) {
            const auto &text = op->get<ir::AllocPayload>().layout;
            return text.empty() ? std::nullopt
                                : std::optional{MemoryLayout{core::proved_map(text)->map,
                                                             op->result()->type()->dims}};
        }
        const auto *earlier = before(value);
        value = earlier && earlier->type() == value->type() ? earlier : nullptr;
    }
    return std::nullopt;
}

analysis::Slope layout_slope(const MemoryLayout &layout, const analysis::Slopes &slopes) {
    analysis::Slope total{true, 0};
    if (layout.map.domain().box_is_empty()) {
        return total;
    }
    auto affine = core::affine_form(layout.map);
    for (size_t i = 0; i < layout.dims.size(); ++i) {
        auto found = slopes.find(layout.dims[i].dim.id);
        if (found == slopes.end() || layout.dims[i].extent == 1) {
            continue;
        }
        if (!found->second.known || !affine || affine->modes[i].shape.size() != 1) {
            return {false, 0};
        }
        total.value += found->second.value * affine->modes[i].stride[0][0];
    }
    return total;
}

}// namespace luisa::tile::plan

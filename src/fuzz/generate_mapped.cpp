// SPDX-License-Identifier: Apache-2.0
#include "fuzz/build.h"

#include <algorithm>

// Loads and stores through views whose elements a map places.

namespace luisa::tile::fuzz {

Value *Program::map_of(const std::vector<ir::DimExtent> &box,
                       const std::function<Value *(const std::vector<Value *> &)> &body) {
    auto *op = builder.emit(Opcode::MAP, {}, {module.tile(ScalarType::INT64, box)}, ir::None{}, 1);
    Scope scope{*this, op->body()};
    std::vector<Value *> at;
    for (const auto &d : box) {
        auto *index = module.add_argument(op->body(), module.scalar(ScalarType::INT64));
        at.push_back(add(index, {0, static_cast<double>(std::max<int64_t>(d.extent, 1)) - 1}));
    }
    builder.emit(Opcode::YIELD, {body(at)}, {});
    facts[op->result()] = {};
    return op->result();
}

Value *Program::coordinate_tile(const std::vector<ir::DimExtent> &box, int64_t extent) {
    return map_of(box, [&](const std::vector<Value *> &at) {
        auto *sum = coordinate(extent);
        for (auto *c : at) {
            if (random.chance(30)) {
                continue;
            }
            auto *factor = index_constant(random.pick({1, 1, 1, 2, -1, 3, 7}));
            auto *term = arithmetic(random.chance(12) ? Opcode::REM : Opcode::MUL, {c, factor});
            auto *next = term ? arithmetic(Opcode::ADD, {sum, term}) : nullptr;
            sum = next ? next : sum;
        }
        return sum;
    });
}

bool Program::make_mapped_load() {
    std::vector<const ViewFact *> readable;
    for (size_t i = 0; i < views.size(); ++i) {
        if (views[i].read_only && inputs[views[i].input].alias < 0) {
            readable.push_back(&views[i]);
        }
    }
    auto box = some_dims(1, 3);
    const auto *type = readable.empty() ? nullptr : module.tile(ScalarType::INT64, box);
    if (!type || box.empty() || type->element_count() > most_elements ||
        !affordable(type->element_count() * 8)) {
        return false;
    }
    const auto view = *random.pick(readable);
    std::vector<Value *> operands = {view.value};
    for (auto extent : view.extents) {
        operands.push_back(coordinate_tile(box, extent));
    }
    ir::LoadPayload payload;
    payload.mapped = true;
    auto f = view.fact;
    read_outside(random.chance(40), view, operands, payload, f);
    add(builder.value(Opcode::LOAD, operands, module.tile(view.value->scalar(), box), payload), f);
    return true;
}

/// Every dimension of the box is a digit of one axis, and an axis may be skewed by digits that earlier
/// ones hold alone: so all elements have places of their own.
bool Program::make_mapped_store() {
    const auto *mine = writable_part();
    if (!mine) {
        return false;
    }
    const auto part = *mine;
    const auto view = views[part.view];
    auto rank = view.extents.size();
    std::vector<size_t> free;
    for (size_t i = 0; i < rank; ++i) {
        if (part.axes[i].shared) {
            free.push_back(i);
        }
    }
    auto box = some_dims(1, 3);
    int64_t elements = 1;
    for (const auto &d : box) {
        elements *= d.extent;
    }
    if (free.empty() || box.empty() || elements > most_elements || !affordable(elements * 8)) {
        return false;
    }
    std::vector<std::vector<size_t>> digits(rank);
    for (size_t k = 0; k < box.size(); ++k) {
        digits[random.pick(free)].push_back(k);
    }
    auto *value = part_over(view.value->scalar(), box);
    std::vector<Value *> operands = {handle_of(part.view, true), value};
    for (size_t i = 0; i < rank; ++i) {
        if (!part.axes[i].shared) {
            auto *own = own_coordinate(part.axes[i], 1);
            operands.push_back(own ? map_of(box, [&](const auto &) { return own; }) : nullptr);
        } else {
            operands.push_back(place_of(box, digits, i, view.extents[i]));
        }
        if (!operands.back()) {
            return false;
        }
    }
    ir::StorePayload payload;
    payload.mapped = true;
    payload.box = box;
    builder.emit(Opcode::STORE, operands, {}, payload);
    work += trips * elements;
    return true;
}

Value *Program::place_of(const std::vector<ir::DimExtent> &box,
                         const std::vector<std::vector<size_t>> &digits, size_t axis,
                         int64_t extent) {
    // Made outside, where no coordinate of the map can be picked.
    auto *base = random.chance(50) ? index_constant(0) : coordinate(extent);
    return map_of(box, [&](const std::vector<Value *> &at) {
        auto *sum = base;
        auto append = [&](Value *digit, int64_t factor) {
            auto *term = factor == 1
                             ? digit
                             : builder.elementwise(Opcode::MUL, {digit, index_constant(factor)});
            sum = builder.elementwise(Opcode::ADD, {sum, term});
        };
        auto own = digits[axis];
        random.shuffle(own);
        int64_t radix = 1;
        for (auto k : own) {
            append(at[k], random.chance(15) ? -radix : radix);
            radix *= std::max<int64_t>(box[k].extent, 1) + (random.chance(20) ? 1 : 0);
        }
        for (size_t other = 0; other < axis; ++other) {
            if (!digits[other].empty() && random.chance(25)) {
                append(at[random.pick(digits[other])], random.between(-2, 2));
            }
        }
        return sum;
    });
}

}// namespace luisa::tile::fuzz

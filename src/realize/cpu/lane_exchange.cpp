// SPDX-License-Identifier: Apache-2.0
#include "realize/cpu/lowering.h"

#include <numeric>
#include <optional>

// Reads whose lanes are another order of one vector: that vector and a shuffle, instead of a gather.

namespace luisa::tile::cpu {

using ir::Opcode;

namespace {

using Pattern = std::vector<int64_t>;

std::optional<int64_t> apply(Opcode op, int64_t a, int64_t b) {
    auto ua = static_cast<uint64_t>(a), ub = static_cast<uint64_t>(b);
    switch (op) {
        case Opcode::ADD: return static_cast<int64_t>(ua + ub);
        case Opcode::SUB: return static_cast<int64_t>(ua - ub);
        case Opcode::MUL: return static_cast<int64_t>(ua * ub);
        case Opcode::AND: return a & b;
        case Opcode::OR: return a | b;
        case Opcode::XOR: return a ^ b;
        case Opcode::SHR: return b >= 0 && b < 64 ? std::optional{a >> b} : std::nullopt;
        default: return std::nullopt;
    }
}

/// The i64 in each lane, where that is known here.
std::optional<Pattern> known_lanes(const ir::Value *value, size_t lanes) {
    auto *op = value->definition();
    if (!op || value->scalar() != ScalarType::INT64) {
        return {};
    }
    if (int64_t constant = 0; MachineBuilder::is_constant(value, constant)) {
        return Pattern(lanes, constant);
    }
    if (op->opcode() == Opcode::LANES) {
        Pattern steps(lanes);
        std::iota(steps.begin(), steps.end(), 0);
        return steps;
    }
    if (op->opcode() == Opcode::SPLAT) {
        return known_lanes(op->operand(0), lanes);
    }
    if (op->operand_count() != 2) {
        return {};
    }
    auto a = known_lanes(op->operand(0), lanes);
    auto b = a ? known_lanes(op->operand(1), lanes) : std::nullopt;
    if (!b) {
        return {};
    }
    for (size_t i = 0; i < lanes; ++i) {
        auto element = apply(op->opcode(), (*a)[i], (*b)[i]);
        if (!element) {
            return {};
        }
        (*a)[i] = *element;
    }
    return a;
}

}// namespace

/// `source` at `place` when the lanes of one coordinate are a known order of adjacent places; else null. All lanes
/// of that vector are read, so all must exist.
ir::Value *Lowering::exchanged_lanes(const ir::Value *source, const Point &place) {
    auto lanes = static_cast<size_t>(place.lanes);
    bool masked = place.guard && place.guard->type()->is_vector();
    const ir::DimExtent *along = nullptr;
    if (lanes < 2 || masked) {
        return nullptr;
    }
    for (const auto &d : source->type()->dims) {
        if (d.extent == 1) {
            continue;
        }
        auto found = place.at.find(d.dim.id);
        if (found == place.at.end() || found->second.is_uniform()) {
            continue;
        }
        if (along) {
            return nullptr;
        }
        along = &d;
    }
    if (!along) {
        return nullptr;
    }
    auto c = place.at.at(along->dim.id);
    auto straight = place;
    straight.known.clear();
    std::vector<int32_t> order(lanes);
    if (c.per_lane) {
        auto pattern = known_lanes(c.per_lane, lanes);
        if (!pattern || along->extent != static_cast<int64_t>(lanes)) {
            return nullptr;
        }
        for (size_t i = 0; i < lanes; ++i) {
            if ((*pattern)[i] < 0 || (*pattern)[i] >= along->extent) {
                return nullptr;
            }
            order[i] = static_cast<int32_t>((*pattern)[i]);
        }
        straight.at[along->dim.id] = {_b.index(0), 1, nullptr};
        straight.mask = nullptr;
    } else if (c.slope == -1 && !place.mask) {
        for (size_t i = 0; i < lanes; ++i) {
            order[i] = static_cast<int32_t>(lanes - 1 - i);
        }
        auto *first = _b.sub(c.base, _b.index(static_cast<int64_t>(lanes) - 1));
        straight.at[along->dim.id] = {first, 1, nullptr};
    } else {
        return nullptr;
    }
    auto *value = evaluate(source, straight);
    return value->type()->is_vector()
               ? _b.pure(Opcode::SHUFFLE, {value, value}, ir::ShufflePayload{order}, value->type())
               : value;
}

}// namespace luisa::tile::cpu

// SPDX-License-Identifier: Apache-2.0
#include "analysis/expressions.h"

#include <unordered_set>

namespace luisa::tile::analysis {

namespace {

using ir::Opcode;

struct Walk {
    const std::function<bool(const ir::Value *)> &is_leaf;
    const std::function<void(const Leaf &)> &visit;
    std::unordered_map<const ir::Value *, Slope> arguments;///< of the maps that are being walked

    static Slope slope_of(const Slopes &slopes, Dim dim) {
        auto found = slopes.find(dim.id);
        return found == slopes.end() ? Slope{} : found->second;
    }

    /// Slope of a scalar coordinate expression inside maps.
    Slope scalar_slope(const ir::Value *value) const {
        if (auto found = arguments.find(value); found != arguments.end()) {
            return found->second;
        }
        auto *op = value->definition();
        if (!op || !ir::is_elementwise(op->opcode())) {
            if (op && op->opcode() == Opcode::EXTRACT) {
                for (size_t i = 0; i < op->operand_count(); ++i) {
                    auto s = scalar_slope(op->operand(i));
                    if (!s.known || s.value != 0) {
                        return {false, 0};
                    }
                }
            }
            return {};
        }
        std::vector<Slope> in;
        bool moves = false;
        for (auto *operand : op->operands()) {
            in.push_back(scalar_slope(operand));
            moves |= !in.back().known || in.back().value != 0;
        }
        if (!moves) {
            return {};
        }
        switch (op->opcode()) {
            case Opcode::ADD: return {in[0].known && in[1].known, in[0].value + in[1].value};
            case Opcode::SUB: return {in[0].known && in[1].known, in[0].value - in[1].value};
            case Opcode::MUL:
                for (size_t i = 0; i < 2; ++i) {
                    auto *factor = op->operand(i)->definition();
                    auto other = in[1 - i];
                    if (factor && factor->opcode() == Opcode::CONSTANT && other.known) {
                        auto c = static_cast<int64_t>(factor->get<ir::ConstantPayload>().bits);
                        return {true, other.value * c};
                    }
                }
                return {false, 0};
            default: return {false, 0};
        }
    }

    static Slope sum(const Slope &a, const Slope &b, int64_t sign) {
        return {a.known && b.known, a.value + sign * b.value};
    }

    /// Slope of an integer tile, such as a coordinate of a mapped access.
    Slope tile_slope(const ir::Value *value, const Slopes &slopes) {
        auto *op = value->definition();
        bool moves = false;
        for (const auto &d : value->type()->dims) {
            auto s = slope_of(slopes, d.dim);
            moves |= d.extent != 1 && (!s.known || s.value != 0);
        }
        if (!moves) {
            return {};
        }
        switch (op ? op->opcode() : Opcode::YIELD) {
            case Opcode::IOTA: return slope_of(slopes, value->type()->dims.front().dim);
            case Opcode::BROADCAST:
            case Opcode::PER: return tile_slope(op->operand(0), slopes);
            case Opcode::ADD:
                return sum(tile_slope(op->operand(0), slopes), tile_slope(op->operand(1), slopes),
                           1);
            case Opcode::SUB:
                return sum(tile_slope(op->operand(0), slopes), tile_slope(op->operand(1), slopes),
                           -1);
            case Opcode::MAP:
                bind(*op, slopes);
                return scalar_slope(op->body()->terminator()->operand(0));
            default: return {false, 0};
        }
    }

    void bind(const ir::Operation &map, const Slopes &slopes) {
        const auto &dims = map.result()->type()->dims;
        for (size_t i = 0; i < dims.size(); ++i) {
            arguments[map.body()->argument(i)] = slope_of(slopes, dims[i].dim);
        }
    }

    /// How the coordinates of a part, and with it the source of an extract, move.
    Slopes slopes_behind_extract(const ir::Operation &op, const Slopes &slopes) const {
        const auto &payload = op.get<ir::AccessPayload>();
        Slopes inner = slopes;
        for (size_t i = 0; i < payload.dims.size(); ++i) {
            auto at = scalar_slope(op.operand(1 + i));
            inner[payload.dims[i].id] = payload.box.empty()
                                            ? at
                                            : sum(at, slope_of(slopes, payload.box[i].dim), 1);
        }
        return inner;
    }
    Slopes slopes_of_part(const ir::Operation &op, const Slopes &slopes) const {
        const auto &payload = op.get<ir::AccessPayload>();
        Slopes inner = slopes;
        for (size_t i = 0; i < payload.box.size(); ++i) {
            inner[payload.box[i].dim.id] = sum(slope_of(slopes, payload.dims[i]),
                                               scalar_slope(op.operand(2 + i)), -1);
        }
        return inner;
    }

    /// `seen` holds what was visited under these very slopes: shared subexpressions are walked once.
    using Seen = std::unordered_set<const ir::Value *>;

    void walk_access(const ir::Operation &op, const Slopes &slopes, bool pointwise, Seen &seen) {
        bool extract = op.opcode() == Opcode::EXTRACT;
        bool whole = op.get<ir::AccessPayload>().dims.empty();
        Seen below;
        if (whole) {
            return walk(op.operand(extract ? 0 : 1), slopes, pointwise, seen);
        }
        if (extract) {
            walk(op.operand(0), slopes_behind_extract(op, slopes), false, below);
        } else {
            Seen part;
            walk(op.operand(1), slopes_of_part(op, slopes), false, part);
            walk(op.operand(0), slopes, pointwise, below);
        }
        for (size_t i = extract ? 1 : 2; i < op.operand_count(); ++i) {
            walk(op.operand(i), slopes, false, seen);
        }
    }

    void walk(const ir::Value *value, const Slopes &slopes, bool pointwise, Seen &seen) {
        if (!seen.insert(value).second) {
            return;
        }
        auto *op = value->definition();
        bool loads = op && op->opcode() == Opcode::LOAD;
        if (is_leaf(value) || !op || !is_inline(*op) || loads) {
            visit({value, slopes, pointwise});
            // What a load takes beside the view: coordinates and the fallback.
            for (size_t i = 1; loads && !is_leaf(value) && i < op->operand_count(); ++i) {
                walk(op->operand(i), slopes, pointwise, seen);
            }
            return;
        }
        switch (op->opcode()) {
            case Opcode::CONSTANT:
            case Opcode::IOTA:
            case Opcode::MEMORY_ALLOC:
            case Opcode::EXTENT: return;
            case Opcode::RETYPE: {
                Slopes inner;
                const auto &from = value->type()->dims, &to = op->operand(0)->type()->dims;
                for (size_t i = 0; i < to.size(); ++i) {
                    inner[to[i].dim.id] = slope_of(slopes, from[i].dim);
                    // Under swapped names an element stands at another place.
                    pointwise &= from[i].dim == to[i].dim || to[i].extent == 1;
                }
                Seen below;
                return walk(op->operand(0), inner, pointwise, below);
            }
            case Opcode::EXTRACT:
            case Opcode::INSERT: return walk_access(*op, slopes, pointwise, seen);
            case Opcode::MAP: {
                bind(*op, slopes);
                return walk(op->body()->terminator()->operand(0), slopes, false, seen);
            }
            default:
                for (auto *operand : op->operands()) {
                    walk(operand, slopes, pointwise, seen);
                }
        }
    }
};

}// namespace

bool is_inline(const ir::Operation &op) {
    switch (op.opcode()) {
        case Opcode::CONSTANT:
        case Opcode::IOTA:
        case Opcode::BROADCAST:
        case Opcode::RETYPE:
        case Opcode::EXTRACT:
        case Opcode::INSERT:
        case Opcode::MAP:
        case Opcode::PER:
        case Opcode::MEMORY_ALLOC:
        case Opcode::EXTENT: return true;
        case Opcode::LOAD: return !op.result()->type()->is_scalar();
        default: return ir::is_elementwise(op.opcode());
    }
}

void visit_leaves(const ir::Value *value, const Slopes &slopes,
                  const std::function<bool(const ir::Value *)> &is_leaf,
                  const std::function<void(const Leaf &)> &visit) {
    Walk::Seen seen;
    Walk{is_leaf, visit, {}}.walk(value, slopes, true, seen);
}

std::vector<int64_t> view_strides(const ir::Type &view) {
    if (!view.strides.empty()) {
        return view.strides;
    }
    std::vector<int64_t> strides(view.axes.size(), 1);
    int64_t stride = 1;
    for (size_t i = view.axes.size(); i-- > 0;) {
        strides[i] = stride;
        auto extent = view.axes[i].extent;
        stride = extent == ir::runtime_value || stride == ir::runtime_value
                     ? ir::runtime_value
                     : stride * (extent > 0 ? extent : 1);
    }
    return strides;
}

Slope address_slope(const ir::Operation &access, const Slopes &slopes) {
    bool load = access.opcode() == Opcode::LOAD;
    bool mapped = load ? access.get<ir::LoadPayload>().mapped
                       : access.get<ir::StorePayload>().mapped;
    const auto &dims = load ? access.result()->type()->dims : access.get<ir::StorePayload>().box;
    auto strides = view_strides(*access.operand(0)->type());
    const std::function<bool(const ir::Value *)> no_leaf;
    const std::function<void(const Leaf &)> no_visit;
    Walk walk{no_leaf, no_visit, {}};
    Slope total;
    for (size_t i = 0; i < strides.size() && (mapped || i < dims.size()); ++i) {
        Slope at;
        if (mapped) {
            at = walk.tile_slope(access.operand((load ? 1 : 2) + i), slopes);
        } else if (dims[i].extent > 1) {
            at = Walk::slope_of(slopes, dims[i].dim);
        }
        if (at.known && at.value == 0) {
            continue;
        }
        if (!at.known || strides[i] == ir::runtime_value) {
            return {false, 0};
        }
        total.value += strides[i] * at.value;
    }
    return total;
}

}// namespace luisa::tile::analysis

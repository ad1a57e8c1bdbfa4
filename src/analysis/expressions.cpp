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

    /// `seen` holds what was visited under these very slopes: shared subexpressions are walked once.
    using Seen = std::unordered_set<const ir::Value *>;

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
            case Opcode::EXTENT: return;
            case Opcode::RETYPE: {
                Slopes inner;
                const auto &from = value->type()->dims, &to = op->operand(0)->type()->dims;
                for (size_t i = 0; i < to.size(); ++i) {
                    inner[to[i].dim.id] = slope_of(slopes, from[i].dim);
                }
                Seen below;
                return walk(op->operand(0), inner, pointwise, below);
            }
            case Opcode::EXTRACT:
            case Opcode::INSERT: {
                const auto &payload = op->get<ir::AccessPayload>();
                size_t first = op->opcode() == Opcode::EXTRACT ? 1 : 2;
                Slopes inner = slopes;
                if (op->opcode() == Opcode::EXTRACT) {
                    for (size_t i = 0; i < payload.dims.size(); ++i) {
                        inner[payload.dims[i].id] = scalar_slope(op->operand(first + i));
                    }
                } else {
                    walk(op->operand(1), slopes, false, seen);
                }
                Seen below;
                walk(op->operand(0), inner, false, below);
                for (size_t i = first; i < op->operand_count(); ++i) {
                    walk(op->operand(i), slopes, false, seen);
                }
                return;
            }
            case Opcode::MAP: {
                auto *body = op->body();
                for (size_t i = 0; i < body->arguments().size(); ++i) {
                    arguments[body->argument(i)] = slope_of(slopes, value->type()->dims[i].dim);
                }
                return walk(body->terminator()->operand(0), slopes, false, seen);
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

Slope address_slope(const ir::Type &view, const ir::Type &loaded, const Slopes &slopes) {
    auto strides = view_strides(view);
    Slope total;
    for (size_t i = 0; i < loaded.dims.size() && i < strides.size(); ++i) {
        auto found = slopes.find(loaded.dims[i].dim.id);
        if (found == slopes.end() || (found->second.known && found->second.value == 0) ||
            loaded.dims[i].extent <= 1) {
            continue;
        }
        if (!found->second.known || strides[i] == ir::runtime_value) {
            return {false, 0};
        }
        total.value += strides[i] * found->second.value;
    }
    return total;
}

}// namespace luisa::tile::analysis

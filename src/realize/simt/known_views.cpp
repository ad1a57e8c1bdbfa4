// SPDX-License-Identifier: Apache-2.0
#include "analysis/expressions.h"
#include "realize/simt/block_lowering.h"

#include <algorithm>
#include <functional>
#include <numeric>

// Two versions of an instance: one for views that lie at multiples of 16 bytes and boxes that lie inside of them, as
// nearly all do, and one for all others. What the first may count on is known here.

namespace luisa::tile::simt {

using ir::Opcode;

namespace {

constexpr int64_t vector_bytes = 16, most_factor = 1024;

template<class F> void each_access(const ir::Region &region, const F &f) {
    for (auto *op : region) {
        if (op->opcode() == Opcode::STORE ||
            (op->opcode() == Opcode::LOAD && !op->result()->type()->is_scalar())) {
            f(*op);
        }
        for (auto *inner : op->regions()) {
            each_access(*inner, f);
        }
    }
}

/// Whether the groups of a block, or of what is nested in it, have another form for aligned views.
bool has_aligned(const plan::Plan &plan, const plan::Block &block, bool &products) {
    bool found = false;
    for (const auto &step : block.steps) {
        if (const auto *group = std::get_if<plan::LoopGroup>(&step)) {
            found |= group->aligned.has_value();
        } else if (std::holds_alternative<plan::Contraction>(step)) {
            products = true;
        } else if (!std::holds_alternative<plan::Ordering>(step)) {
            for (const auto *region : std::get<plan::Sequential>(step).op->regions()) {
                if (auto inner = plan.blocks.find(region); inner != plan.blocks.end()) {
                    found |= has_aligned(plan, inner->second, products);
                }
            }
        }
    }
    return found;
}

}// namespace

/// Whether the scalar can be computed where an instance begins.
bool BlockLowering::known_at_start(const ir::Value *value) const {
    if (_scalars.count(value) || _argument_words.count(value)) {
        return true;
    }
    auto *op = value->definition();
    if (!op || _plan->home(value)) {
        return false;
    }
    if (op->opcode() == Opcode::CONSTANT || op->opcode() == Opcode::EXTENT) {
        return true;
    }
    auto operands = op->operands();
    return ir::is_elementwise(op->opcode()) &&
           std::all_of(operands.begin(), operands.end(),
                       [&](const ir::Value *v) { return known_at_start(v); });
}

/// The condition of the fast version. What follows from it is noted.
ir::Value *BlockLowering::fast_condition(const ir::Region &body) {
    ir::Value *holds = nullptr, *bits = nullptr;
    std::unordered_set<const ir::Value *> seen;
    auto both_bits = [&](ir::Value *x) { bits = bits ? _b.pure(Opcode::OR, {bits, x}) : x; };
    auto alignment = [&](const ir::Value *view) {
        if (!seen.insert(view).second) {
            return;
        }
        auto bytes = static_cast<int64_t>(size_of(view->type()->scalar));
        both_bits(view_word(view, 0, ScalarType::INT64));
        _factors[view_word(view, 0, ScalarType::INT64, true)] = vector_bytes;
        auto strides = analysis::view_strides(*view->type());
        for (size_t axis = 0; axis < strides.size(); ++axis) {
            if (strides[axis] == ir::runtime_value && view->type()->axes[axis].extent != 1) {
                auto *stride = view_stride(view, axis);
                both_bits(_b.mul(stride, _b.index(bytes)));
                _factors[stride] = vector_bytes / bytes;
            }
        }
    };
    auto inside = [&](const ir::Operation &op, const ir::Value *view, size_t axis, int64_t range) {
        const auto *origin = op.operand((op.opcode() == Opcode::LOAD ? 1 : 2) + axis);
        if (lies_inside(view, axis, origin, range) || !known_at_start(origin)) {
            return;
        }
        auto extent = view->type()->axes[axis].extent;
        auto known = analysis::interval_of(origin);
        bool low = known.low >= 0;
        bool high = extent != ir::runtime_value && known.high != INT64_MAX &&
                    known.high <= extent - range;
        auto *at = low && high ? nullptr : scalar_value(origin);
        if (!low) {
            holds = _b.both(holds, _b.compare(Opcode::GE, at, _b.index(0)));
        }
        if (!high) {
            auto *most = _b.sub(view_extent(view, axis), _b.index(range));
            holds = _b.both(holds, _b.compare(Opcode::LE, at, most));
        }
        _inside.push_back({view, axis, origin, range});
    };
    each_access(body, [&](const ir::Operation &op) {
        bool load = op.opcode() == Opcode::LOAD;
        const auto *view = op.operand(0);
        const auto &dims = load ? op.result()->type()->dims : op.get<ir::StorePayload>().box;
        auto bounds = load ? op.get<ir::LoadPayload>().bounds : op.get<ir::StorePayload>().bounds;
        bool mapped = load ? op.get<ir::LoadPayload>().mapped : op.get<ir::StorePayload>().mapped;
        if (mapped) {
            return;
        }
        alignment(view);
        for (size_t axis = 0; bounds != Bounds::ASSUME && axis < view->type()->rank(); ++axis) {
            inside(op, view, axis, dims.empty() ? 1 : dims[axis].extent);
        }
    });
    if (bits) {
        auto *low = _b.pure(Opcode::AND, {bits, _b.index(vector_bytes - 1)});
        holds = _b.both(holds, _b.compare(Opcode::EQ, low, _b.index(0)));
    }
    return holds;
}

void BlockLowering::lower_versions(const ir::Region &body, const plan::Block &block) {
    bool products = false;
    if (_alone_in_team || !has_aligned(*_plan, block, products) || products) {
        return lower_block(block);
    }
    auto *holds = fast_condition(body);
    auto touched = _touched;
    auto scalars = _scalars;
    auto offsets = _offsets;
    auto shared = _shared_bytes, scratch = _scratch_bytes;
    auto version = [&](bool fast) {
        _fast = fast;
        _held.clear();
        _touched = touched;
        _scalars = scalars;
        _offsets = offsets;
        _shared_bytes = shared;
        _scratch_bytes = scratch;
        _b.forget_reads();
        lower_block(block);
        _fast = false;
        return Values{};
    };
    Touched after;
    int64_t most_shared = 0, most_scratch = 0;
    auto counted = [&](bool fast) {
        version(fast);
        after.add(_touched);
        most_shared = std::max(most_shared, _shared_bytes);
        most_scratch = std::max(most_scratch, _scratch_bytes);
        return Values{};
    };
    holds ? static_cast<void>(_b.branch(
                holds, [&] { return counted(true); }, [&] { return counted(false); }))
          : static_cast<void>(counted(true));
    _touched = after;
    _shared_bytes = most_shared;
    _scratch_bytes = most_scratch;
    _scalars = scalars;
    _offsets = offsets;
    _inside.clear();
    _factors.clear();
    _held.clear();
}

bool BlockLowering::lies_inside(const ir::Value *view, size_t axis, const ir::Value *origin,
                                int64_t range) {
    return std::any_of(_inside.begin(), _inside.end(), [&](const Inside &known) {
        return _fast && known.view == view && known.axis == axis && range <= known.range &&
               analysis::same_scalar(known.origin, origin);
    });
}

/// A number that a Machine integer, or an address, is known to be a multiple of.
int64_t BlockLowering::factor_of(const ir::Value *value, int depth) const {
    if (auto found = _factors.find(value); found != _factors.end()) {
        return _fast ? found->second : 1;
    }
    if (value == _scratch) {
        return 128;
    }
    auto *op = value->definition();
    if (depth == 0) {
        return 1;
    }
    if (!op) {
        auto *loop = value->region() ? value->region()->parent() : nullptr;
        bool counter = loop && loop->opcode() == Opcode::FOR && value->index() == 0;
        return counter ? std::gcd(factor_of(loop->operand(0), depth - 1),
                                  factor_of(loop->operand(2), depth - 1))
                       : 1;
    }
    auto operand = [&](size_t i) { return factor_of(op->operand(i), depth - 1); };
    auto bounded = [](int64_t f) { return f == 0 ? most_factor : std::gcd(f, most_factor); };
    switch (op->opcode()) {
        case Opcode::CONSTANT:
            return bounded(static_cast<int64_t>(op->get<ir::ConstantPayload>().bits));
        case Opcode::ADD:
        case Opcode::SUB:
        case Opcode::MINIMUM:
        case Opcode::MAXIMUM: return std::gcd(operand(0), operand(1));
        case Opcode::MUL: return bounded(operand(0) * operand(1));
        case Opcode::SHARED: return bounded(op->get<ir::SharedPayload>().offset);
        case Opcode::ADDRESS: {
            const auto &payload = op->get<ir::AddressPayload>();
            auto factor = std::gcd(operand(0), bounded(payload.offset));
            return op->operand_count() > 1 ? std::gcd(factor, bounded(payload.scale * operand(1)))
                                           : factor;
        }
        default: return 1;
    }
}

int64_t BlockLowering::alignment_of(ir::Value *base, const Values &terms, int64_t bytes) {
    constexpr int depth = 12;
    auto factor = factor_of(base, depth);
    for (auto *term : terms) {
        factor = std::gcd(factor, std::min(factor_of(term, depth) * bytes, most_factor));
    }
    return std::max(std::gcd(factor, vector_bytes), bytes);
}

/// Where the number of lanes that exist is a multiple of all, all do or none.
ir::Value *BlockLowering::lanes_below(ir::Value *count, int lanes) {
    constexpr int depth = 12;
    if (factor_of(count, depth) % lanes == 0) {
        return _b.splat(_b.compare(Opcode::GT, count, _b.index(0)), lanes);
    }
    return cpu::Lowering::lanes_below(count, lanes);
}

/// Whether the condition `part` holds wherever `whole` does.
static bool implies(const ir::Value *whole, const ir::Value *part) {
    if (!part || whole == part) {
        return true;
    }
    const auto *op = whole ? whole->definition() : nullptr;
    return op && op->opcode() == Opcode::AND &&
           (implies(op->operand(0), part) || implies(op->operand(1), part));
}

bool BlockLowering::HeldAt::fits(const Point &point, const ir::Type &type) const {
    bool uniform = !value->type()->is_vector() && lanes == 1;
    if ((lanes != point.lanes && !uniform) || !implies(point.guard, guard) ||
        !implies(point.mask, mask)) {
        return false;
    }
    for (size_t i = 0; i < type.dims.size(); ++i) {
        auto found = point.at.find(type.dims[i].dim.id);
        bool one = type.dims[i].extent == 1;
        if (!one && (found == point.at.end() || found->second.base != at[i].base ||
                     found->second.slope != at[i].slope || found->second.per_lane)) {
            return false;
        }
    }
    return true;
}

ir::Value *BlockLowering::held(const ir::Value *value, const Point &point) {
    auto [first, last] = _held.equal_range(value);
    for (; first != last; ++first) {
        const auto &one = first->second;
        if (one.value->region()->encloses(_b.region()) && one.fits(point, *value->type())) {
            return one.value;
        }
    }
    return nullptr;
}

void BlockLowering::hold(const ir::Value *value, const Point &point, ir::Value *result) {
    auto *op = value->definition();
    bool kept = _plan->home(value) != nullptr;
    bool loads = op && op->opcode() == Opcode::LOAD;
    if (value->type()->is_scalar() || !point.clips.empty() || (!kept && !loads) ||
        !_map_arguments.empty()) {
        return;
    }
    HeldAt one{point.lanes, point.mask, point.guard, result, {}};
    for (const auto &d : value->type()->dims) {
        auto found = point.at.find(d.dim.id);
        bool simple = d.extent == 1 || (found != point.at.end() && !found->second.per_lane);
        if (!simple) {
            return;
        }
        one.at.push_back(d.extent == 1 ? cpu::Coordinate{} : found->second);
    }
    _held.emplace(value, std::move(one));
}

/// What follows the condition is of the same block, and finds in registers what came before it.
void BlockLowering::lower_before_condition(const plan::Block &part) {
    cpu::Lowering::lower_block(part);
}

void BlockLowering::lower_block(const plan::Block &block) {
    auto before = _held;
    cpu::Lowering::lower_block(block);
    _held = std::move(before);
}

}// namespace luisa::tile::simt

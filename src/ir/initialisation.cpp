// SPDX-License-Identifier: Apache-2.0
#include "ir/initialisation.h"

#include <algorithm>
#include <unordered_map>

namespace luisa::tile::ir {

namespace {

/// Why a value may hold nothing yet.
struct Empty {
    const Operation *alloc = nullptr, *skipped = nullptr;
};

bool constant_of(const Value *value, int64_t &out) {
    auto *op = value->definition();
    if (!op || op->opcode() != Opcode::CONSTANT) {
        return false;
    }
    out = static_cast<int64_t>(op->get<ConstantPayload>().bits);
    return true;
}

/// Whether a nest certainly has an iteration.
bool surely_runs(const Operation &nest) {
    const auto &payload = nest.get<NestPayload>();
    if (payload.is_range) {
        int64_t begin = 0, end = 0, step = 0;
        return constant_of(nest.operand(0), begin) && constant_of(nest.operand(1), end) &&
               constant_of(nest.operand(2), step) && (step > 0 ? begin < end : begin > end);
    }
    for (size_t i = 0; i < payload.dims.size(); ++i) {
        int64_t extent = 0;
        if (!constant_of(nest.operand(i), extent) || extent < 1) {
            return false;
        }
    }
    return true;
}

/// Coordinates from `low` up to, not including, `high`, one pair a dimension of an object.
struct Box {
    std::vector<int64_t> low, high;
    [[nodiscard]] bool empty() const {
        for (size_t i = 0; i < low.size(); ++i) {
            if (low[i] >= high[i]) {
                return true;
            }
        }
        return false;
    }
};

/// A coordinate of `box` that is in none of `others` from number `next` on; false when there is none.
bool find_gap(const Box &box, const std::vector<Box> &others, size_t next,
              std::vector<int64_t> &gap) {
    if (box.empty()) {
        return false;
    }
    if (next == others.size()) {
        gap = box.low;
        return true;
    }
    const auto &other = others[next];
    auto rest = box;
    for (size_t i = 0; i < box.low.size(); ++i) {
        auto below = rest, above = rest;
        below.high[i] = std::min(rest.high[i], other.low[i]);
        above.low[i] = std::max(rest.low[i], other.high[i]);
        if (find_gap(below, others, next + 1, gap) || find_gap(above, others, next + 1, gap)) {
            return true;
        }
        rest.low[i] = std::max(rest.low[i], other.low[i]);
        rest.high[i] = std::min(rest.high[i], other.high[i]);
        if (rest.empty()) {
            return false;
        }
    }
    return false;
}

/// The part of an object that an access of the form `extract` or `insert` names, within the object; none where its
/// coordinates are known at launch only.
std::optional<Box> box_of(const Operation &op, size_t first_coordinate) {
    const auto &object = op.operand(0)->type()->dims;
    const auto &access = op.get<AccessPayload>();
    Box box;
    for (const auto &d : object) {
        box.low.push_back(0);
        box.high.push_back(d.extent);
    }
    for (size_t i = 0; i < access.dims.size(); ++i) {
        auto at = static_cast<size_t>(op.operand(0)->type()->find(access.dims[i]));
        int64_t begin = 0, end = 0;
        auto extent = access.box.empty() ? int64_t{1} : access.box[i].extent;
        if (!constant_of(op.operand(first_coordinate + i), begin) ||
            __builtin_add_overflow(begin, extent, &end)) {
            return std::nullopt;
        }
        box.low[at] = std::max<int64_t>(box.low[at], begin);
        box.high[at] = std::min(box.high[at], end);
    }
    return box;
}

/// All stores that an object has seen, where each is a box that capture knows.
struct Stored {
    const Operation *alloc;
    std::vector<Box> boxes;
};
/// More boxes than this count for the whole.
constexpr size_t most_boxes = 64;

class Walk {
public:
    std::optional<EarlyRead> run(const Region &body) {
        region(body);
        return _found;
    }

private:
    [[nodiscard]] const Empty *empty(const Value *value) const {
        auto found = _empty.find(value);
        return found == _empty.end() ? nullptr : &found->second;
    }

    void region(const Region &region) {
        for (auto *op : region) {
            if (_found) {
                return;
            }
            operation(*op);
        }
    }

    void operation(const Operation &op) {
        if (op.opcode() == Opcode::MEMORY_ALLOC) {
            _empty[op.result()] = {&op, nullptr};
            _stored[op.result()] = {&op, {}};
            return;
        }
        if (op.opcode() == Opcode::YIELD) {
            return;
        }
        bool loop = is_nest(op.opcode()) || op.opcode() == Opcode::WHILE;
        size_t lead = loop ? op.operand_count() - op.result_count() : op.operand_count();
        for (size_t i = 0; i < lead; ++i) {
            bool replaced = op.opcode() == Opcode::INSERT && i == 0;
            if (const auto *why = empty(op.operand(i)); why && !replaced) {
                _found = EarlyRead{&op, why->alloc, why->skipped};
                return;
            }
        }
        if (op.opcode() == Opcode::INSERT) {
            insert(op);
        } else if (op.opcode() == Opcode::EXTRACT) {
            extract(op);
        }
        if (loop) {
            this->loop(op, lead);
            return;
        }
        for (auto *inner : op.regions()) {
            region(*inner);
        }
        if (op.opcode() == Opcode::IF && !_found) {
            branches(op);
        }
    }

    void insert(const Operation &op) {
        auto before = _stored.find(op.operand(0));
        auto box = before == _stored.end() ? std::nullopt : box_of(op, 2);
        if (box && before->second.boxes.size() < most_boxes) {
            auto after = before->second;
            after.boxes.push_back(*box);
            _stored.insert_or_assign(op.result(), std::move(after));
        }
    }

    void extract(const Operation &op) {
        auto stored = _stored.find(op.operand(0));
        auto box = stored == _stored.end() ? std::nullopt : box_of(op, 1);
        std::vector<int64_t> gap;
        if (box && !_found && find_gap(*box, stored->second.boxes, 0, gap)) {
            _found = EarlyRead{&op, stored->second.alloc, nullptr, std::move(gap)};
        }
    }

    /// The first iteration finds what came in; the others find more.
    void loop(const Operation &op, size_t lead) {
        const auto &body = *op.body();
        size_t indices = body.arguments().size() - op.result_count();
        for (size_t i = 0; i < op.result_count(); ++i) {
            if (const auto *why = empty(op.operand(lead + i))) {
                _empty[body.argument(indices + i)] = *why;
            }
        }
        region(body);
        if (_found) {
            return;
        }
        bool runs = is_nest(op.opcode()) && surely_runs(op);
        for (size_t i = 0; i < op.result_count(); ++i) {
            const auto *before = empty(op.operand(lead + i));
            const auto *after = empty(body.terminator()->operand(i));
            if (before && after) {
                _empty[op.result(i)] = *after;
            } else if (before && !runs) {
                _empty[op.result(i)] = {before->alloc, &op};
            }
        }
    }

    void branches(const Operation &op) {
        for (size_t i = 0; i < op.result_count(); ++i) {
            for (auto *region : op.regions()) {
                if (const auto *why = empty(region->terminator()->operand(i))) {
                    _empty[op.result(i)] = *why;
                }
            }
            either(op, i);
        }
    }

    /// After a branch an element may have been stored on either side.
    void either(const Operation &op, size_t result) {
        std::optional<Stored> both;
        for (auto *region : op.regions()) {
            auto side = _stored.find(region->terminator()->operand(result));
            if (side == _stored.end()) {
                return;
            }
            if (!both) {
                both = side->second;
            } else {
                const auto &boxes = side->second.boxes;
                both->boxes.insert(both->boxes.end(), boxes.begin(), boxes.end());
            }
        }
        if (both && both->boxes.size() < most_boxes) {
            _stored.insert_or_assign(op.result(result), std::move(*both));
        }
    }

    std::unordered_map<const Value *, Empty> _empty;
    std::unordered_map<const Value *, Stored> _stored;
    std::optional<EarlyRead> _found;
};

}// namespace

std::optional<EarlyRead> find_early_read(const Module &module) {
    if (module.form != Form::CANDIDATE || module.functions().size() != 1) {
        return std::nullopt;
    }
    return Walk{}.run(*module.kernel()->body);
}

}// namespace luisa::tile::ir

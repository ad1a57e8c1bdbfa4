// SPDX-License-Identifier: Apache-2.0
#include "analysis/intervals.h"
#include "plan/block_planner.h"

#include <algorithm>
#include <functional>
#include <unordered_set>

// Tiles that a loop carries and changes in part: the part is written where the tile is, and the rest stays.

namespace luisa::tile::plan {

using ir::Opcode;

namespace {

bool same_dims(const std::vector<Dim> &a, const std::vector<Dim> &b) {
    return a.size() == b.size() && std::all_of(a.begin(), a.end(), [&](Dim d) {
               return std::find(b.begin(), b.end(), d) != b.end();
           });
}

/// Follows what reads a state to the insert that replaces its part. A read must be over when the part is
/// written: it ends at an operation that runs before, or it is the part itself, element by element.
class Reads {
public:
    Reads(const ir::Operation &insert, const std::function<bool(const ir::Value *)> &is_kept)
        : _insert{insert}, _is_kept{is_kept}, _one_element{insert.operand(1)->type()->is_scalar()} {
    }

    [[nodiscard]] bool end_before_write(const ir::Value *value) {
        if (!_seen.insert(value).second) {
            return true;
        }
        for (auto *use = value->first_use(); use; use = use->next()) {
            const auto *user = use->user();
            if (user == &_insert) {
                continue;
            }
            bool nested = user->region() != _insert.region();
            if (user->opcode() == Opcode::YIELD && !nested) {
                return false;
            }
            if (nested || !analysis::is_inline(*user) || _is_kept(user->result())) {
                if (in_map(*user)) {
                    return false;
                }
                continue;
            }
            if (!keeps_places(*user) || !end_before_write(user->result())) {
                return false;
            }
        }
        return true;
    }

private:
    /// Whether element q of the result comes from element q of what is read: then the part may be computed
    /// while it is written.
    [[nodiscard]] bool keeps_places(const ir::Operation &op) const {
        if (_one_element && op.opcode() != Opcode::MAP) {
            return true;
        }
        return ir::is_elementwise(op.opcode()) || op.opcode() == Opcode::BROADCAST ||
               (op.opcode() == Opcode::EXTRACT && takes_the_part(op));
    }
    /// Whether an extract reads elements of the part in the part's own order. Rows of any place do; boxes
    /// move over each other unless they are the same.
    [[nodiscard]] bool takes_the_part(const ir::Operation &extract) const {
        const auto &from = extract.get<ir::AccessPayload>();
        const auto &to = _insert.get<ir::AccessPayload>();
        if (from.box.empty() && to.box.empty()) {
            return same_dims(from.dims, to.dims);
        }
        bool same = from.box == to.box && from.dims == to.dims;
        for (size_t i = 0; same && i < to.dims.size(); ++i) {
            same = analysis::same_scalar(extract.operand(1 + i), _insert.operand(2 + i));
        }
        return same;
    }
    /// A map is evaluated where its result is needed, which is not followed here.
    [[nodiscard]] static bool in_map(const ir::Operation &op) {
        const auto *parent = op.parent();
        return op.opcode() == Opcode::MAP || (parent && parent->opcode() == Opcode::MAP);
    }

    const ir::Operation &_insert;
    const std::function<bool(const ir::Value *)> &_is_kept;
    bool _one_element;
    std::unordered_set<const ir::Value *> _seen;
};

}// namespace

const ir::Operation *BlockPlanner::insert_in_place(const ir::Region &region, const ir::Value *state,
                                                   const ir::Value *yielded) const {
    const auto *parent = region.parent();
    bool loop = parent->opcode() == Opcode::WHILE || ir::is_nest(parent->opcode());
    bool tree = parent->opcode() == Opcode::REDUCE &&
                parent->get<ir::NestPayload>().policy == ReductionPolicy::BALANCED_TREE;
    const auto *insert = yielded->definition();
    if (!loop || tree || !insert || insert->opcode() != Opcode::INSERT ||
        insert->region() != &region || insert->operand(0) != state || !yielded->has_one_use() ||
        is_kept(yielded)) {
        return nullptr;
    }
    std::function<bool(const ir::Value *)> kept = [this](const ir::Value *v) { return is_kept(v); };
    bool reads_itself = false;
    for (size_t i = 1; i < insert->operand_count(); ++i) {
        reads_itself |= insert->operand(i) == state;
    }
    return !reads_itself && Reads{*insert, kept}.end_before_write(state) ? insert : nullptr;
}

}// namespace luisa::tile::plan

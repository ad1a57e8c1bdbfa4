// SPDX-License-Identifier: Apache-2.0
#include "analysis/expressions.h"
#include "plan/block_planner.h"
#include "plan/plan.h"

#include <algorithm>

// Loads that run across the lines of their view where the rest of a group runs along its own: the tile is read along
// the lines of the view first, into shared memory whose rows begin in different banks.

namespace luisa::tile::plan {

using ir::DimExtent;
using ir::Opcode;

namespace {

constexpr int64_t shortest_line = 8, most_bytes = 32 << 10, bank_bytes = 4;

class Transposes {
public:
    explicit Transposes(Plan &plan) : _plan{plan} {}

    void block(Block &block) {
        for (size_t i = 0; i < block.steps.size(); ++i) {
            if (auto *group = std::get_if<LoopGroup>(&block.steps[i])) {
                auto first = readers(*group);
                auto count = first.size();
                auto at = block.steps.begin() + static_cast<std::ptrdiff_t>(i);
                block.steps.insert(at, std::make_move_iterator(first.begin()),
                                   std::make_move_iterator(first.end()));
                i += count;
            } else if (const auto *step = std::get_if<Sequential>(&block.steps[i])) {
                for (const auto *region : step->op->regions()) {
                    if (auto inner = _plan.blocks.find(region); inner != _plan.blocks.end()) {
                        this->block(inner->second);
                    }
                }
            }
        }
    }

private:
    /// Groups that read what `group` would read across lines.
    std::vector<Step> readers(const LoopGroup &group) {
        std::vector<Step> steps;
        if (group.vector_axis < 0 || group.has_reduction() || group.scan()) {
            return steps;
        }
        auto axis = group.loops[static_cast<size_t>(group.vector_axis)];
        analysis::Slopes slopes{{axis.dim.id, {true, 1}}};
        auto is_leaf = [this](const ir::Value *v) { return _plan.home(v) != nullptr; };
        std::vector<std::pair<const ir::Operation *, DimExtent>> found;
        auto of_leaf = [&](const analysis::Leaf &leaf) {
            const auto *op = leaf.value->definition();
            if (!op || op->opcode() != Opcode::LOAD || is_leaf(leaf.value) ||
                leaf.value->type()->is_scalar() || op->get<ir::LoadPayload>().mapped) {
                return;
            }
            auto slope = analysis::address_slope(*op, leaf.slopes);
            bool along = slope.known && slope.value >= -1 && slope.value <= 1;
            const auto *line = along ? nullptr : line_of(*op);
            if (line && read_here_only(group, leaf.value) && axis.extent >= shortest_line) {
                found.emplace_back(op, *line);
            }
        };
        for (const auto &root : group.roots) {
            analysis::visit_leaves(root_source(root), slopes, is_leaf, of_leaf);
        }
        for (const auto &[op, line] : found) {
            if (!is_leaf(op->result())) {
                steps.emplace_back(reader(*op, line));
            }
        }
        return steps;
    }

    /// The dimension along which the loaded tile lies in lines, if they are long enough and it has room.
    static const DimExtent *line_of(const ir::Operation &load) {
        const DimExtent *line = nullptr;
        auto bytes = static_cast<int64_t>(size_of(load.result()->scalar()));
        for (const auto &d : load.result()->type()->dims) {
            auto slope = analysis::address_slope(load, {{d.dim.id, {true, 1}}});
            line = slope.known && slope.value == 1 && d.extent >= shortest_line ? &d : line;
            bytes = bytes > most_bytes ? bytes : bytes * std::max<int64_t>(d.extent, 1);
        }
        return bytes <= most_bytes ? line : nullptr;
    }

    [[nodiscard]] bool read_here_only(const LoopGroup &group, const ir::Value *value) const {
        auto sites = evaluation_sites(
            value, [this](const ir::Value *v) { return _plan.home(v) != nullptr; });
        return std::all_of(sites.begin(), sites.end(), [&](const ir::Operation *site) {
            return std::any_of(group.roots.begin(), group.roots.end(),
                               [&](const Root &root) { return root.op == site; });
        });
    }

    LoopGroup reader(const ir::Operation &load, const DimExtent &line) {
        const auto *value = load.result();
        const auto &dims = value->type()->dims;
        LoopGroup group;
        for (const auto &d : dims) {
            if (d.extent != 1 && !(d.dim == line.dim)) {
                group.loops.push_back(d);
            }
        }
        group.loops.push_back(line);
        group.vector_axis = static_cast<int>(group.loops.size()) - 1;
        group.roots.push_back({Root::Kind::WRITE, &load, value, value});
        group.note = "read along the lines of the view";
        // An odd number of banks from row to row.
        auto each = std::max<int64_t>(bank_bytes / static_cast<int64_t>(size_of(value->scalar())),
                                      1);
        auto stride = (((line.extent + each - 1) / each) | 1) * each;
        std::vector<int64_t> extents, strides(dims.size(), 0);
        for (size_t i = dims.size(); i-- > 0;) {
            bool in_line = dims[i].dim == line.dim;
            strides[i] = in_line ? 1 : dims[i].extent == 1 ? 0 : stride;
            stride *= in_line || dims[i].extent == 1 ? 1 : dims[i].extent;
        }
        for (const auto &d : dims) {
            extents.push_back(d.extent);
        }
        _plan.storage.emplace(
            value, Storage{group.loops, MemoryLayout{IndexMap::strided(extents, strides), dims}});
        return group;
    }

    Plan &_plan;
};

}// namespace

void read_along_lines(Plan &plan) {
    Transposes transposes{plan};
    for (auto &phase : plan.phases) {
        transposes.block(phase.nest ? plan.blocks.at(phase.nest->body()) : phase.block);
    }
}

}// namespace luisa::tile::plan

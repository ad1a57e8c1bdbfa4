// SPDX-License-Identifier: Apache-2.0
#include "analysis/expressions.h"
#include "analysis/intervals.h"
#include "plan/block_planner.h"

#include <algorithm>
#include <tuple>

// Products of a block of threads through shared memory: which threads hold what of the result, how deep a panel is,
// how its operands lie, how many panels there is room for.

namespace luisa::tile::plan {

using ir::DimExtent;
using ir::Opcode;

namespace {

constexpr int64_t unit = 16;///< bytes that a thread moves at a time
constexpr int64_t most_threads = 256, least_threads = 64, most_depth = 32;

int64_t elements_of(const std::vector<DimExtent> &dims) {
    int64_t n = 1;
    for (const auto &d : dims) {
        n = n < (1 << 24) ? n * d.extent : n;
    }
    return n;
}

int64_t round_up(int64_t n, int64_t to) { return (n + to - 1) / to * to; }

/// The last dimension that has more than one element.
const DimExtent *last_of(const std::vector<DimExtent> &dims) {
    for (size_t i = dims.size(); i-- > 0;) {
        if (dims[i].extent != 1) {
            return &dims[i];
        }
    }
    return nullptr;
}

std::vector<DimExtent> contracted_of(const ir::Operation &product) {
    std::vector<DimExtent> dims;
    for (const auto &d : product.operand(0)->type()->dims) {
        if (product.result()->type()->find(d.dim) < 0) {
            dims.push_back(d);
        }
    }
    return dims;
}

/// Whether the bounds of inner nests are the same in all iterations of the outer ones.
bool is_rectangular(const Contraction &c) {
    for (size_t i = 1; i < c.nests.size(); ++i) {
        for (const auto *operand : c.nests[i]->operands()) {
            const auto *region = operand->region();
            if (operand->type()->is_scalar() && c.nests.front()->body()->encloses(region)) {
                return false;
            }
        }
    }
    return true;
}

/// Steps of a panel: all, or a part of them that leaves no rest if one does that is a multiple of four.
int64_t panel_depth(int64_t steps, int64_t most) {
    if (steps <= most) {
        return steps;
    }
    for (auto depth = most; depth >= 8; depth -= 4) {
        if (steps % depth == 0) {
            return depth;
        }
    }
    return most;
}

struct ThreadShape {
    int rows, columns;
};

/// What a thread holds: the most that leaves work for enough threads.
ThreadShape thread_shape(int64_t rows, int64_t columns, size_t bytes) {
    static constexpr ThreadShape shapes[] = {{8, 8}, {8, 16}, {16, 8}, {8, 4}, {4, 4}};
    for (const auto &shape : shapes) {
        auto threads = ((rows + shape.rows - 1) / shape.rows) *
                       ((columns + shape.columns - 1) / shape.columns);
        // Sums take half of the registers at most.
        auto registers = shape.rows * shape.columns * static_cast<int>(bytes) / 4;
        if (registers <= 128 && threads >= least_threads && threads <= most_threads) {
            return shape;
        }
    }
    return shapes[4];
}

}// namespace

int64_t StagedOperand::bytes() const noexcept {
    auto line = length * static_cast<int64_t>(size_of(type));
    return lines * pitch * (permuted ? (line + pitch - 1) / pitch : 1);
}

int64_t StagePlan::panel_bytes() const noexcept {
    int64_t bytes = 0;
    for (const auto &product : operands) {
        bytes += product[0].bytes() + product[1].bytes();
    }
    return bytes;
}

/// How an operand with the dimensions `free` and `steps` is copied: along the one of them in which its elements are
/// neighbours in memory, or as that of another product that threads read by the same numbers.
StagedOperand BlockPlanner::staged_operand(const ir::Value *operand, ScalarType type,
                                           const std::vector<DimExtent> &free,
                                           const std::vector<DimExtent> &steps, int64_t depth,
                                           int64_t multiple, bool permuted,
                                           const StagedOperand *like) const {
    StagedOperand staged;
    staged.type = type;
    auto bytes = static_cast<int64_t>(size_of(type));
    const auto *along_free = last_of(free), *along_steps = last_of(steps);
    auto is_contiguous = [&](const DimExtent *d) {
        auto slope = d ? operand_slope(operand, d->dim) : analysis::Slope{true, 0};
        return slope.known && slope.value == 1;
    };
    staged.along_steps = like ? like->along_steps
                              : along_steps && !is_contiguous(along_free) &&
                                    is_contiguous(along_steps);
    auto length = staged.along_steps ? depth : elements_of(free);
    // What fills up the last matrices is multiplied as well.
    auto filled = round_up(depth, multiple);
    staged.zeros = multiple > 1;
    staged.lines = staged.along_steps ? elements_of(free) : filled;
    staged.length = round_up(staged.along_steps ? filled : length, unit / bytes);
    // An odd number of units.
    staged.pitch = ((staged.length * bytes / unit) | 1) * unit;
    if (permuted) {
        staged.permuted = true;
        staged.lines = round_up(staged.lines, target::panel_lines);
        staged.pitch = target::panel_line;
    }
    const auto *along = staged.along_steps ? along_steps : along_free;
    auto vector = unit / bytes;
    bool fits = along && vector > 1 && along->extent % vector == 0 && length % vector == 0;
    bool streams = fits;
    if (fits) {
        auto is_leaf = [this](const ir::Value *v) { return is_kept(v); };
        analysis::visit_leaves(
            operand, {{along->dim.id, {true, 1}}}, is_leaf, [&](const auto &leaf) {
                auto *op = leaf.value->definition();
                bool loads = op && op->opcode() == Opcode::LOAD && !is_kept(leaf.value) &&
                             !op->template get<ir::LoadPayload>().mapped;
                auto slope = loads ? analysis::address_slope(*op, leaf.slopes)
                                   : analysis::Slope{false, 0};
                bool scalar = leaf.value->type()->is_scalar();
                streams &= scalar || (slope.known && (slope.value == 0 || slope.value == 1));
            });
    }
    auto *op = operand->definition();
    staged.vector = streams ? static_cast<int>(vector) : 1;
    staged.async = streams && _plan->gpu->async.copy_16 && op && op->opcode() == Opcode::LOAD &&
                   !is_kept(operand) && operand->scalar() == type && is_contiguous(along);
    return staged;
}

/// The matrix instruction that may do a contraction: of its types, of the largest products. Null: none.
const target::MatrixAtom *BlockPlanner::atom_of(const Contraction &c, ScalarType wide) const {
    const target::MatrixAtom *best = nullptr;
    for (const auto &atom : target::matrix_atoms()) {
        // Products of 8-bit floats need a version of PTX that nothing here knows of.
        bool narrow = is_float(atom.a) && size_of(atom.a) == 1;
        bool fits = !narrow && atom.since_sm <= _plan->gpu->sm && atom.sum == wide;
        for (const auto *product : c.products) {
            const auto &policy = product->get<ir::MmaPayload>().policy;
            fits &= product->operand(c.transposed ? 1 : 0)->scalar() == atom.a &&
                    product->operand(c.transposed ? 0 : 1)->scalar() == atom.b;
            fits &= is_integer(wide) || policy.allow_reassociation;
            fits &= atom.fraction_bits == 0 || policy.allow_tf32;
        }
        if (fits && (!best || int64_t{atom.m} * atom.k > int64_t{best->m} * best->k)) {
            best = &atom;
        }
    }
    return best;
}

namespace {

/// What a warp holds: a share of the result that few warps divide among them, and that leaves registers for
/// operands.
bool deal_to_warps(const target::MatrixAtom &atom, int64_t height, int64_t width, Contraction &c,
                   StagePlan &stage) {
    static constexpr int64_t shares[][2] = {{64, 64}, {64, 32}, {32, 32}, {32, 16}, {16, 16}};
    auto parts = [](int64_t n, int64_t of) { return (n + of - 1) / of; };
    bool found = false;
    for (const auto &share : shares) {
        auto down = parts(height, share[0]), across = parts(width, share[1]);
        auto bytes = share[0] * share[1] / 32 * static_cast<int64_t>(size_of(atom.sum));
        if (down * across > 8 || bytes > 512 || share[0] % atom.m != 0 || share[1] % atom.n != 0) {
            continue;
        }
        if (found && stage.warp_rows * stage.warp_columns >= 4) {
            break;
        }
        found = true;
        stage.warp_rows = static_cast<int>(down);
        stage.warp_columns = static_cast<int>(across);
        c.rows = static_cast<int>(share[0] / atom.m);
        c.vectors = static_cast<int>(share[1] / atom.n);
    }
    stage.atom = &atom;
    stage.thread_rows = 32;
    return found;
}

}// namespace

/// The instruction of warpgroups that may do a contraction, or null.
const target::PanelAtom *BlockPlanner::panel_atom_of(const Contraction &c, ScalarType wide) const {
    auto side = [&](const ir::Operation *product, bool columns) {
        return product->operand(columns != c.transposed ? 1 : 0)->scalar();
    };
    if (!_plan->gpu->async.warpgroups) {
        return nullptr;
    }
    const auto *first = c.products.front();
    const auto *atom = target::find_panel_atom(side(first, false), side(first, true), wide);
    for (const auto *product : c.products) {
        const auto &policy = product->get<ir::MmaPayload>().policy;
        bool fits = atom && side(product, false) == atom->a && side(product, true) == atom->b &&
                    (is_integer(wide) || policy.allow_reassociation);
        if (!fits) {
            return nullptr;
        }
    }
    return atom;
}

namespace {

/// Which part of the result each warpgroup holds: two share the rows, or the columns of few rows.
bool deal_to_groups(const target::PanelAtom &atom, int64_t height, int64_t width, Contraction &c,
                    StagePlan &stage) {
    static constexpr int shares[][2] = {{2, 1}, {1, 2}, {1, 1}};
    constexpr int64_t most_sums = 128, few_sums = 64, block_columns = 64;
    auto down = height / atom.rows;
    if (height % atom.rows != 0 || width % 8 != 0) {
        return false;
    }
    for (const auto &share : shares) {
        auto rows = down / share[0], columns = width / share[1];
        auto sums = rows * columns / 2;
        bool divides = down % share[0] == 0 && width % share[1] == 0 &&
                       (share[1] == 1 || columns % block_columns == 0);
        // A second group along the columns reads all rows again.
        bool pays = share[1] == 1 || down * width / 2 > few_sums;
        if (divides && pays && columns <= atom.most_columns && sums <= most_sums) {
            stage.panel_atom = &atom;
            stage.thread_rows = atom.threads;
            stage.group_rows = share[0];
            stage.group_columns = share[1];
            c.rows = static_cast<int>(rows);
            c.vectors = static_cast<int>(columns / 8);
            return true;
        }
    }
    return false;
}

}// namespace

/// Products whose tiles are whole matrices of warpgroups.
bool BlockPlanner::stage_by_groups(Contraction &c, StagePlan &stage, ScalarType wide) const {
    const auto &columns = c.transposed ? c.roles.rows : c.roles.columns;
    const auto &rows = c.transposed ? c.roles.columns : c.roles.rows;
    const auto *atom = panel_atom_of(c, wide);
    return atom && deal_to_groups(*atom, elements_of(rows), elements_of(columns), c, stage) &&
           size_panels(c, stage);
}

/// Whether a load needs no mask, wherever its tile lies.
static bool stays_inside(const ir::Operation &load) {
    const auto &payload = load.get<ir::LoadPayload>();
    const auto &box = load.result()->type()->dims;
    bool inside = !payload.mapped;
    for (size_t axis = 0; axis < box.size() && payload.bounds != Bounds::ASSUME; ++axis) {
        auto extent = load.operand(0)->type()->axes[axis].extent;
        auto known = analysis::interval_of(load.operand(1 + axis));
        inside &= extent != ir::runtime_value && known.low >= 0 && known.high != INT64_MAX &&
                  known.high <= extent - box[axis].extent;
    }
    return inside;
}

/// Whether all panels are copied in the same simple way: what may be copied by elements takes more registers.
bool BlockPlanner::copies_evenly(const Contraction &c, const StagePlan &stage) const {
    bool even = true;
    for (size_t p = 0; p < c.products.size(); ++p) {
        for (size_t side = 0; side < 2; ++side) {
            even &= stage.operands[p][side].async;
            const auto *load = c.products[p]->operand(side)->definition();
            even &= load && load->opcode() == Opcode::LOAD && stays_inside(*load);
        }
    }
    return even;
}

/// As many blocks as there are registers for, of those that find room in shared memory.
int BlockPlanner::resident_blocks(const StagePlan &stage, int64_t held, bool even) const {
    const auto &gpu = *_plan->gpu;
    auto threads = static_cast<int>((stage.threads() + 31) / 32 * 32);
    // Beside the sums: operands, addresses, and what the driver's assembler wants to overlap, which was found by
    // asking for less until it spilled.
    int64_t least = gpu.sm >= 90 ? 64 : 72;
    auto more = !even ? 120 : held <= 64 ? least : 100;
    auto registers = static_cast<int>(std::min<int64_t>(held + more, gpu.registers_per_thread));
    return std::clamp(gpu.resident_blocks(threads, registers, stage.shared_bytes()), 1, 8);
}

/// Panels of warpgroups: while one is read, the one before still is, and others are on their way. Few where more blocks
/// then fit on a multiprocessor; where one has it for itself, as many as hide how long they are under way.
static int stages_of_groups(const StagePlan &stage, int64_t half, int64_t all) {
    constexpr int64_t few = 4, most = 6, least = 3;
    auto bytes = stage.panel_bytes();
    return static_cast<int>(few * bytes <= half ? few : std::clamp(all / bytes, least, most));
}

/// How deep panels are and how many there are: as much as there is room for, twice on a multiprocessor unless
/// threads hold so much that only one block fits.
bool BlockPlanner::size_panels(Contraction &c, StagePlan &stage) const {
    const auto &columns = c.transposed ? c.roles.rows : c.roles.columns;
    const auto &rows = c.transposed ? c.roles.columns : c.roles.rows;
    int64_t longest = 0;
    for (const auto *product : c.products) {
        longest = std::max(longest, elements_of(contracted_of(*product)));
    }
    const auto &gpu = *_plan->gpu;
    const auto *atom = stage.atom;
    const auto *groups = stage.panel_atom;
    bool by_matrices = atom || groups;
    auto together = groups ? groups->rows * 8 / groups->threads : atom ? atom->m * atom->n / 32 : 1;
    auto held = int64_t{c.rows} * c.vectors * together *
                static_cast<int64_t>(std::max<size_t>(size_of(c.result->scalar()), 4)) / 4;
    // Kept values of a block have a place beside the panels.
    const int64_t kept = groups ? 32 << 10 : 48 << 10;
    auto room = held > 64 ? gpu.shared_per_block - kept
                          : gpu.shared_per_multiprocessor / 2 - gpu.shared_reserved;
    auto size = static_cast<int64_t>(size_of(c.products.front()->operand(0)->scalar()));
    auto deepest = by_matrices ? 128 / size : most_depth;
    for (auto depth = deepest; depth >= 8; depth /= 2) {
        stage.operands.clear();
        stage.stages = by_matrices ? 3 : 2;
        stage.depth = panel_depth(longest, depth);
        auto k = groups ? groups->k : atom ? atom->k : 1;
        stage.unroll = by_matrices
                           ? static_cast<int>(round_up(std::min<int64_t>(stage.depth, 64), k))
                           : 8;
        for (const auto *product : c.products) {
            auto steps = contracted_of(*product);
            auto most = std::min(stage.depth, elements_of(steps));
            const auto *like = stage.operands.empty() ? nullptr : stage.operands.front().data();
            auto *down = product->operand(c.transposed ? 1 : 0);
            auto *across = product->operand(c.transposed ? 0 : 1);
            auto wide = c.result->scalar();
            bool half = wide == ScalarType::FLOAT16 || wide == ScalarType::BFLOAT16;
            wide = half ? ScalarType::FLOAT32 : wide;
            auto a = groups ? groups->a : atom ? atom->a : wide;
            auto b = groups ? groups->b : atom ? atom->b : wide;
            stage.operands.push_back({{staged_operand(down, a, rows, steps, most, k, groups, like),
                                       staged_operand(across, b, columns, steps, most, k, groups,
                                                      like ? like + 1 : nullptr)}});
        }
        if (groups) {
            stage.stages = stages_of_groups(stage, room, gpu.shared_per_block - kept);
        }
        if (stage.shared_bytes() <= (groups ? gpu.shared_per_block - kept : room)) {
            stage.resident = resident_blocks(stage, held, copies_evenly(c, stage));
            return true;
        }
    }
    return false;
}

/// Decides whether and how a product goes through shared memory.
void BlockPlanner::stage_contraction(Contraction &c) const {
    const auto &columns = c.transposed ? c.roles.rows : c.roles.columns;
    const auto &rows = c.transposed ? c.roles.columns : c.roles.rows;
    auto height = elements_of(rows), width = elements_of(columns);
    auto type = c.result->scalar();
    bool half = type == ScalarType::FLOAT16 || type == ScalarType::BFLOAT16;
    auto wide = half ? ScalarType::FLOAT32 : type;
    bool counts = wide == ScalarType::FLOAT32 || wide == ScalarType::FLOAT64 ||
                  (is_integer(wide) && size_of(wide) >= 4);
    if (!_plan->gpu || !counts || height < 16 || width < 16 || height * width < 1024 ||
        !is_rectangular(c)) {
        return;
    }
    for (const auto *product : c.products) {
        auto steps = elements_of(contracted_of(*product));
        if (steps < 4 || (c.products.size() > 1 && steps > most_depth)) {
            return;
        }
    }
    auto before = std::pair{c.rows, c.vectors};
    StagePlan stage;
    if (stage_by_groups(c, stage, wide)) {
        c.stage = std::move(stage);
        return;
    }
    stage = {};
    if (const auto *atom = atom_of(c, wide);
        atom && deal_to_warps(*atom, height, width, c, stage) && size_panels(c, stage)) {
        c.stage = std::move(stage);
        return;
    }
    stage = {};
    auto shape = thread_shape(height, width, size_of(wide));
    c.rows = shape.rows;
    c.vectors = shape.columns;
    stage.thread_rows = static_cast<int>((height + shape.rows - 1) / shape.rows);
    stage.thread_columns = static_cast<int>((width + shape.columns - 1) / shape.columns);
    if (int64_t{stage.thread_rows} * stage.thread_columns <= most_threads &&
        size_panels(c, stage)) {
        c.stage = std::move(stage);
        return;
    }
    std::tie(c.rows, c.vectors) = before;
}

}// namespace luisa::tile::plan

// SPDX-License-Identifier: Apache-2.0
#include "realize/simt/staged.h"

#include <algorithm>

// Matrices of the result in the registers of warpgroups, which read both operands from the panels by themselves. While
// they do, the threads copy the panel that follows.

namespace luisa::tile::simt {

using ir::Opcode;
using target::PanelAtom;

namespace {

class GroupMatrices final : public StagedContraction {
public:
    GroupMatrices(BlockLowering &lowering, const plan::Contraction &contraction)
        : StagedContraction{lowering, contraction}, _atom{*_s.panel_atom} {
        place_group();
    }

private:
    void place_group();
    std::vector<Element> elements() override;
    void before_panel() override;
    Values multiply(size_t product, const Panels &panels, ir::Value *steps,
                    const Values &sums) override;
    Values after_panel(const Values &sums) override { return wait_for_all_but(1, sums); }
    Values after_panels(const Values &sums) override { return wait_for_all_but(0, sums); }
    Values wait_for_all_but(int64_t groups, const Values &sums);
    ir::Value *descriptor(const plan::StagedOperand &how, ir::Value *panel, ir::Value *free);
    static int64_t units_of_step(const plan::StagedOperand &how, int64_t step);
    ir::Value *joined(const Values &all, size_t first, size_t count);
    Values lanes_of(ir::Value *vector);

    [[nodiscard]] int64_t columns() const { return int64_t{_c.vectors} * 8; }
    [[nodiscard]] size_t sums_of_matrix() const {
        return static_cast<size_t>(columns() * PanelAtom::rows / PanelAtom::threads);
    }

    const PanelAtom &_atom;
    ir::Value *_member = nullptr, *_exists = nullptr;///< number in the warpgroup
    ir::Value *_first_row = nullptr, *_first_column = nullptr;
};

void GroupMatrices::place_group() {
    int64_t down = _s.group_rows, across = _s.group_columns;
    auto *size = _b.index(PanelAtom::threads);
    _member = _b.rem(thread(), size);
    auto *group = _b.div(thread(), size);
    if (down * across * PanelAtom::threads < threads()) {
        // Groups without a part of the result do what the last one does, and keep it for themselves.
        _exists = _b.compare(Opcode::LT, group, _b.index(down * across));
        group = _b.minimum(group, _b.index(down * across - 1));
    }
    auto *row = _b.div(group, _b.index(across)), *column = _b.rem(group, _b.index(across));
    _first_row = _b.mul(row, _b.index(_c.rows * int64_t{PanelAtom::rows}));
    _first_column = _b.mul(column, _b.index(columns()));
}

std::vector<StagedContraction::Element> GroupMatrices::elements() {
    auto *row = _first_row, *column = _first_column;
    for (size_t bit = 0; bit < target::panel_thread_bits.size(); ++bit) {
        const auto &place = target::panel_thread_bits[bit];
        auto *one = _b.rem(_b.div(_member, _b.index(int64_t{1} << bit)), _b.index(2));
        row = _b.add(row, _b.mul(one, _b.index(place.row)));
        column = _b.add(column, _b.mul(one, _b.index(place.column)));
    }
    std::vector<Element> all;
    for (int64_t i = 0; i < _c.rows; ++i) {
        for (size_t e = 0; e < sums_of_matrix(); ++e) {
            auto place = target::panel_sum_at(0, static_cast<int>(e));
            all.push_back({_b.add(row, _b.index(i * PanelAtom::rows + place.row)),
                           _b.add(column, _b.index(place.column)), _exists});
        }
    }
    return all;
}

ir::Value *GroupMatrices::joined(const Values &all, size_t first, size_t count) {
    auto *type = _b.module().vector(_wide, static_cast<uint16_t>(count));
    auto *vector = _b.splat(_b.constant(_wide, 0), static_cast<int>(count));
    for (size_t i = 0; i < count; ++i) {
        vector = _b.pure(Opcode::INSERT_LANE, {vector, all[first + i]},
                         ir::IndexPayload{static_cast<int64_t>(i)}, type);
    }
    return vector;
}

Values GroupMatrices::lanes_of(ir::Value *vector) {
    Values lanes;
    for (int64_t i = 0; i < vector->type()->lanes; ++i) {
        lanes.push_back(_b.pure(Opcode::EXTRACT_LANE, {vector}, ir::IndexPayload{i},
                                _b.module().scalar(_wide)));
    }
    return lanes;
}

/// The matrix that begins with row or column `free` of a panel.
ir::Value *GroupMatrices::descriptor(const plan::StagedOperand &how, ir::Value *panel,
                                     ir::Value *free) {
    auto *start = how.along_steps
                      ? _b.address(panel, free, how.pitch)
                      : _b.address(panel,
                                   _b.div(free, _b.index(how.pitch /
                                                         static_cast<int64_t>(size_of(how.type)))),
                                   how.part_bytes());
    auto stride = target::panel_lines * how.pitch;
    auto leading = how.along_steps ? int64_t{16} : how.part_bytes();
    return _b.pure(Opcode::PANEL_DESCRIPTOR, {start}, ir::PanelDescriptorPayload{leading, stride},
                   _b.module().scalar(ScalarType::INT64));
}

/// How far a step is from the first one, in the units of descriptors.
int64_t GroupMatrices::units_of_step(const plan::StagedOperand &how, int64_t step) {
    if (!how.along_steps) {
        return step * how.pitch / 16;
    }
    auto byte = step * static_cast<int64_t>(size_of(how.type));
    return (byte / how.pitch * how.part_bytes() + byte % how.pitch) / 16;
}

void GroupMatrices::before_panel() { _b.effect(Opcode::COPIES_VISIBLE, {}, ir::None{}); }

/// Steps that do not exist are zeros: all that fill up the last matrix are multiplied.
Values GroupMatrices::multiply(size_t product, const Panels &panels, ir::Value *,
                               const Values &sums) {
    const auto &down = operand(product, 0), &across = operand(product, 1);
    auto depth = down.along_steps ? down.length : down.lines;
    auto other = across.along_steps ? across.length : across.lines;
    depth = std::min(depth, other);
    ir::MultiplyPanelsPayload payload{_atom.a, _atom.b,           static_cast<int32_t>(columns()),
                                      _atom.k, !down.along_steps, !across.along_steps};
    auto *right = descriptor(across, panels.columns, _first_column);
    Values lefts, vectors;
    for (int64_t i = 0; i < _c.rows; ++i) {
        auto *row = _b.add(_first_row, _b.index(i * PanelAtom::rows));
        lefts.push_back(descriptor(down, panels.rows, row));
        vectors.push_back(
            joined(sums, static_cast<size_t>(i) * sums_of_matrix(), sums_of_matrix()));
    }
    if (product == 0) {
        _b.effect(Opcode::PANELS_FENCE, {}, ir::None{});
    }
    for (int64_t step = 0; step < depth; step += _atom.k) {
        auto *b = _b.add(right, _b.index(units_of_step(across, step)));
        for (size_t i = 0; i < vectors.size(); ++i) {
            auto *a = _b.add(lefts[i], _b.index(units_of_step(down, step)));
            vectors[i] = _b.fixed(Opcode::MULTIPLY_PANELS, {a, b, vectors[i]}, payload,
                                  vectors[i]->type());
        }
    }
    Values all;
    for (auto *vector : vectors) {
        auto lanes = lanes_of(vector);
        all.insert(all.end(), lanes.begin(), lanes.end());
    }
    return all;
}

Values GroupMatrices::wait_for_all_but(int64_t groups, const Values &sums) {
    auto *all = joined(sums, 0, sums.size());
    return lanes_of(_b.fixed(Opcode::PANELS_WAIT, {all}, ir::IndexPayload{groups}, all->type()));
}

}// namespace

void lower_by_groups(BlockLowering &lowering, const plan::Contraction &contraction) {
    GroupMatrices{lowering, contraction}.run();
}

}// namespace luisa::tile::simt

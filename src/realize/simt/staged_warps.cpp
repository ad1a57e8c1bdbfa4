// SPDX-License-Identifier: Apache-2.0
#include "realize/simt/staged.h"

#include <algorithm>

// Matrices of the result in the registers of warps. Each warp holds fragments of some rows by some columns of atoms,
// and reads what it multiplies them with from the panels, where it can by `load_matrix`.

namespace luisa::tile::simt {

using ir::Opcode;
using target::MatrixRole;

namespace {

class WarpMatrices final : public StagedContraction {
public:
    WarpMatrices(BlockLowering &lowering, const plan::Contraction &contraction)
        : StagedContraction{lowering, contraction}, _atom{*_s.atom} {
        place_warp();
    }

private:
    void place_warp();
    std::vector<Element> elements() override;
    Values multiply(size_t product, const Panels &panels, ir::Value *steps,
                    const Values &sums) override;

    /// One operand: which of its lines and places a warp reads.
    struct Side {
        MatrixRole role;
        ScalarType type;
        int64_t size;     ///< rows or columns of an atom
        int64_t limit;    ///< of the operand
        ir::Value *first; ///< of the warp
        int64_t fragments;///< that it holds
    };
    [[nodiscard]] ir::Value *bits(int64_t from, int64_t count);
    ir::Value *clamped(ir::Value *at, const Side &side, int64_t width);
    ir::Value *address(const plan::StagedOperand &how, ir::Value *panel, ir::Value *free,
                       ir::Value *step);
    [[nodiscard]] bool loads_matrices(const Side &side, const plan::StagedOperand &how) const;
    Values fragments(const Side &side, const plan::StagedOperand &how, ir::Value *panel,
                     ir::Value *step);
    Values by_matrices(const Side &side, const plan::StagedOperand &how, ir::Value *panel,
                       ir::Value *step);
    ir::Value *by_elements(const Side &side, const plan::StagedOperand &how, ir::Value *panel,
                           ir::Value *step, int64_t number);
    ir::Value *part(ir::Value *all, int64_t first, int64_t count);
    ir::Value *joined(const Values &all, size_t first, size_t count);
    Values steps_at(size_t product, const Panels &panels, ir::Value *step, Values sums);

    const target::MatrixAtom &_atom;
    ir::Value *_lane = nullptr, *_exists = nullptr;
    Side _tall{}, _across{};
};

ir::Value *WarpMatrices::bits(int64_t from, int64_t count) {
    return _b.rem(_b.div(_lane, _b.index(int64_t{1} << from)), _b.index(int64_t{1} << count));
}

void WarpMatrices::place_warp() {
    int64_t down = _s.warp_rows, across = _s.warp_columns;
    auto *thread = this->thread();
    _lane = _b.rem(thread, _b.index(32));
    auto *warp = _b.div(thread, _b.index(32));
    if (down * across * 32 < threads()) {
        // Warps without a part of the result do what the last one does, and keep it for themselves.
        _exists = _b.compare(Opcode::LT, warp, _b.index(down * across));
        warp = _b.minimum(warp, _b.index(down * across - 1));
    }
    auto *row = _b.div(warp, _b.index(across)), *column = _b.rem(warp, _b.index(across));
    int64_t rows = _c.rows, columns = _c.vectors;
    _tall = {MatrixRole::A, _atom.a, _atom.m, _height, _b.mul(row, _b.index(rows * _atom.m)), rows};
    _across = {MatrixRole::B, _atom.b, _atom.n, _width, _b.mul(column, _b.index(columns * _atom.n)),
               columns};
}

std::vector<StagedContraction::Element> WarpMatrices::elements() {
    auto layout = target::fragment_layout(_atom, MatrixRole::SUM);
    // The rows and columns of a lane, of its first element.
    auto *row = _tall.first, *column = _across.first;
    for (size_t bit = 0; bit < layout.lane_bits.size(); ++bit) {
        auto *one = bits(static_cast<int64_t>(bit), 1);
        row = _b.add(row, _b.mul(one, _b.index(layout.lane_bits[bit].row)));
        column = _b.add(column, _b.mul(one, _b.index(layout.lane_bits[bit].column)));
    }
    bool ragged_rows = _height % (_c.rows * _atom.m * _s.warp_rows) != 0;
    bool ragged_columns = _width % (_c.vectors * _atom.n * _s.warp_columns) != 0;
    std::vector<Element> all;
    for (int64_t i = 0; i < _tall.fragments; ++i) {
        for (int64_t j = 0; j < _across.fragments; ++j) {
            for (int e = 0; e < layout.elements; ++e) {
                auto place = layout.at(0, e);
                Element element{_b.add(row, _b.index(i * _atom.m + place.row)),
                                _b.add(column, _b.index(j * _atom.n + place.column)), _exists};
                if (ragged_rows) {
                    auto *inside = _b.compare(Opcode::LT, element.row, _b.index(_height));
                    element.exists = _b.both(element.exists, inside);
                }
                if (ragged_columns) {
                    auto *inside = _b.compare(Opcode::LT, element.column, _b.index(_width));
                    element.exists = _b.both(element.exists, inside);
                }
                all.push_back(element);
            }
        }
    }
    return all;
}

/// Where there is no row or column, the last ones are read: `width` of them from `at` on.
ir::Value *WarpMatrices::clamped(ir::Value *at, const Side &side, int64_t width) {
    int64_t warps = side.role == MatrixRole::A ? _s.warp_rows : _s.warp_columns;
    auto covered = side.fragments * side.size * warps;
    return covered <= side.limit ? at : _b.minimum(at, _b.index((side.limit - 1) / width * width));
}

ir::Value *WarpMatrices::address(const plan::StagedOperand &how, ir::Value *panel, ir::Value *free,
                                 ir::Value *step) {
    auto bytes = static_cast<int64_t>(size_of(how.type));
    auto *line = how.along_steps ? free : step, *along = how.along_steps ? step : free;
    return _b.address_sum(panel,
                          {_b.mul(line, _b.index(how.pitch)), _b.mul(along, _b.index(bytes))}, 1);
}

/// Matrices of eight rows of 16 bytes along the steps; across them, of elements of two bytes.
bool WarpMatrices::loads_matrices(const Side &side, const plan::StagedOperand &how) const {
    auto bytes = static_cast<int64_t>(size_of(side.type));
    return _atom.k * bytes == 32 && bytes <= 4 && (how.along_steps || bytes == 2);
}

ir::Value *WarpMatrices::part(ir::Value *all, int64_t first, int64_t count) {
    auto *type = _b.module().vector(all->scalar(), static_cast<uint16_t>(count));
    ir::ShufflePayload lanes;
    for (int64_t i = 0; i < count; ++i) {
        lanes.lanes.push_back(static_cast<int32_t>(first + i));
    }
    return _b.pure(Opcode::SHUFFLE, {all, all}, lanes, type);
}

ir::Value *WarpMatrices::joined(const Values &all, size_t first, size_t count) {
    if (count == 1) {
        return all[first];
    }
    auto scalar = all[first]->scalar();
    auto *type = _b.module().vector(scalar, static_cast<uint16_t>(count));
    auto *vector = _b.splat(_b.constant(scalar, 0), static_cast<int>(count));
    for (size_t i = 0; i < count; ++i) {
        vector = _b.pure(Opcode::INSERT_LANE, {vector, all[first + i]},
                         ir::IndexPayload{static_cast<int64_t>(i)}, type);
    }
    return vector;
}

/// Fragments of eight rows or columns are read two at a time, those of sixteen one at a time: four matrices.
Values WarpMatrices::by_matrices(const Side &side, const plan::StagedOperand &how, ir::Value *panel,
                                 ir::Value *step) {
    auto per_matrix = 16 / static_cast<int64_t>(size_of(side.type));
    auto *line = bits(0, 3), *low = bits(3, 1), *high = bits(4, 1);
    // Of an atom's rows the upper half comes first, then the lower, then those further along the steps. Of its
    // columns first all steps, then the next fragment.
    bool a = side.role == MatrixRole::A;
    auto *free_half = a ? low : high, *step_half = a ? high : low;
    int64_t together = side.size == 8 ? 2 : 1;
    Values found;
    for (int64_t i = 0; i < side.fragments; i += together) {
        bool last = i + together > side.fragments;
        auto *free = _b.add(side.first, _b.index(i * side.size));
        if (!last) {
            free = _b.add(free, _b.mul(free_half, _b.index(8)));
        }
        auto *along = _b.add(step, _b.mul(step_half, _b.index(per_matrix)));
        if (how.along_steps) {
            free = clamped(_b.add(free, line), side, 1);
        } else {
            free = clamped(free, side, per_matrix);
            along = _b.add(along, line);
        }
        auto elements = static_cast<uint16_t>(4 * 4 / size_of(side.type));
        auto *type = _b.module().vector(side.type, elements);
        auto *all = _b.fixed(Opcode::LOAD_MATRIX, {address(how, panel, free, along)},
                             ir::LoadMatrixPayload{4, !how.along_steps}, type);
        for (int64_t j = 0; j < together && i + j < side.fragments; ++j) {
            int64_t count = elements / together;
            found.push_back(together == 1 ? all : part(all, j * count, count));
        }
    }
    return found;
}

/// A fragment element by element.
ir::Value *WarpMatrices::by_elements(const Side &side, const plan::StagedOperand &how,
                                     ir::Value *panel, ir::Value *step, int64_t number) {
    auto layout = target::fragment_layout(_atom, side.role);
    bool a = side.role == MatrixRole::A;
    auto *free = _b.add(side.first, _b.index(number * side.size)), *along = step;
    for (size_t bit = 0; bit < layout.lane_bits.size(); ++bit) {
        auto *one = bits(static_cast<int64_t>(bit), 1);
        const auto &place = layout.lane_bits[bit];
        free = _b.add(free, _b.mul(one, _b.index(a ? place.row : place.column)));
        along = _b.add(along, _b.mul(one, _b.index(a ? place.column : place.row)));
    }
    Values all;
    for (int e = 0; e < layout.elements; ++e) {
        auto place = layout.at(0, e);
        auto *at = clamped(_b.add(free, _b.index(a ? place.row : place.column)), side, 1);
        auto *k = _b.add(along, _b.index(a ? place.column : place.row));
        all.push_back(
            _b.read(Opcode::READ, {address(how, panel, at, k)},
                    ir::MemoryPayload{static_cast<uint32_t>(size_of(side.type)), false, false},
                    _b.module().scalar(side.type)));
    }
    return joined(all, 0, all.size());
}

Values WarpMatrices::fragments(const Side &side, const plan::StagedOperand &how, ir::Value *panel,
                               ir::Value *step) {
    if (loads_matrices(side, how)) {
        return by_matrices(side, how, panel, step);
    }
    Values all;
    for (int64_t i = 0; i < side.fragments; ++i) {
        all.push_back(by_elements(side, how, panel, step, i));
    }
    return all;
}

Values WarpMatrices::steps_at(size_t product, const Panels &panels, ir::Value *step, Values sums) {
    auto across = fragments(_across, operand(product, 1), panels.columns, step);
    auto tall = fragments(_tall, operand(product, 0), panels.rows, step);
    auto count = static_cast<size_t>(_atom.m * _atom.n / 32);
    auto *type = _b.module().vector(_wide, static_cast<uint16_t>(count));
    size_t at = 0;
    for (auto *a : tall) {
        for (auto *b : across) {
            auto *sum = joined(sums, at, count);
            auto *next = _b.fixed(Opcode::MULTIPLY_MATRIX, {a, b, sum},
                                  ir::MultiplyMatrixPayload{_atom.m, _atom.n, _atom.k}, type);
            for (size_t i = 0; i < count; ++i) {
                sums[at + i] = _b.pure(Opcode::EXTRACT_LANE, {next},
                                       ir::IndexPayload{static_cast<int64_t>(i)},
                                       _b.module().scalar(_wide));
            }
            at += count;
        }
    }
    return sums;
}

/// Steps that do not exist are zeros: all that fill up the last atom are multiplied.
Values WarpMatrices::multiply(size_t product, const Panels &panels, ir::Value *,
                              const Values &sums) {
    const auto &how = operand(product, 0);
    auto depth = how.along_steps ? how.length : how.lines;
    int64_t unroll = _s.unroll;
    auto now = _b.loop(_b.index(0), _b.index(depth / unroll * unroll), unroll, sums,
                       [&](ir::Value *first, const Values &before) {
                           auto next = before;
                           for (int64_t k = 0; k < unroll; k += _atom.k) {
                               next = steps_at(product, panels, _b.add(first, _b.index(k)), next);
                           }
                           return next;
                       });
    for (auto k = depth / unroll * unroll; k < depth; k += _atom.k) {
        now = steps_at(product, panels, _b.index(k), now);
    }
    return now;
}

}// namespace

void lower_by_warps(BlockLowering &lowering, const plan::Contraction &contraction) {
    WarpMatrices{lowering, contraction}.run();
}

}// namespace luisa::tile::simt

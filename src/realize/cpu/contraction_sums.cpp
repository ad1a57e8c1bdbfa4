// SPDX-License-Identifier: Apache-2.0
#include "realize/cpu/contraction_lowering.h"

#include <algorithm>

namespace luisa::tile::cpu {

using ir::DimExtent;
using ir::Opcode;

void ContractionLowering::start_sums(Point &point, const ColumnBlock &columns) {
    each_sum(point, columns, [&](Point &place, ir::Value *address) {
        auto *start = _b.splat(_l.convert(_l.evaluate(_c.initial, place), _wide), _c.lanes);
        _b.effect(Opcode::WRITE, {address, start}, sum_payload());
    });
    _b.forget_reads();
}

void ContractionLowering::finish_sums(Point &point, const ColumnBlock &columns) {
    each_sum(point, columns, [&](Point &place, ir::Value *address) {
        auto *sum = _b.read(Opcode::READ, {address}, sum_payload(), sum_type());
        std::vector<Point> places{place};
        finish_block(places, {sum});
    });
    _b.forget_reads();
}

/// The steps of the nest, `panel_steps` at a time.
void ContractionLowering::each_panel(const std::function<void()> &body) {
    auto range = _l.range_of(*_c.nests.front());
    auto *stride = _b.mul(range.step, _b.index(_c.panel_steps));
    _b.loop(range.begin, range.end, stride, {}, [&](ir::Value *iv, const Values &) {
        _panel_begin = iv;
        _panel_end = _b.minimum(range.end, _b.add(iv, stride));
        body();
        _panel_begin = _panel_end = nullptr;
        return Values{};
    });
    _b.forget_reads();
}

/// The columns of a block panel by panel: all rows use a panel while it is in the first-level cache, and
/// partial sums wait in scratch memory.
void ContractionLowering::panel_loop(Point &point, const ColumnBlock &columns) {
    int64_t rows = 1;
    for (const auto &d : _rows) {
        rows *= d.extent;
    }
    _sum_width = int64_t{columns.vectors} * _c.lanes;
    _sum_offset = _l.allocate_bytes(rows * _sum_width * element_bytes());
    start_sums(point, columns);
    each_panel([&] { row_blocks(point, columns); });
    finish_sums(point, columns);
}

/// A few steps of all columns, then the next: the vector operand comes in the order of memory, once.
void ContractionLowering::sweep(Point &point) {
    auto width = _columns.back().extent;
    _sum_width = (width + _c.lanes - 1) / _c.lanes * _c.lanes;
    _sum_offset = _l.allocate_bytes(_rows.back().extent * _sum_width * element_bytes());
    auto pass = [&](Pass which) {
        _pass = which;
        column_blocks(point);
    };
    pass(Pass::START);
    each_panel([&] { pass(Pass::STEPS); });
    pass(Pass::FINISH);
    _pass = Pass::ALL;
    _sum_column = nullptr;
}

/// Every vector of the block's partial sums, as loops: what is done to them is emitted once.
void ContractionLowering::each_sum(Point &point, const ColumnBlock &columns,
                                   const std::function<void(Point &, ir::Value *)> &body) {
    auto vector = [&](Point &inner, ir::Value *row, ir::Value *offset) {
        auto place = element(inner, row, 0, {_b.add(columns.column, offset), 1, nullptr});
        if (columns.left) {
            auto *type = _b.module().vector(ScalarType::BOOL, static_cast<uint16_t>(_c.lanes));
            place.mask = _b.pure(Opcode::LANE_MASK, {_b.sub(columns.left, offset)}, ir::None{},
                                 type);
        }
        body(place, _b.address(sum_address(row, 0), offset, element_bytes()));
    };
    leading_rows(point, [&](Point &inner) {
        auto *rows = _b.maximum(end_of(_rows.back()), _b.index(0));
        _b.loop(_b.index(0), rows, 1, {}, [&](ir::Value *row, const Values &) {
            auto *width = _b.index(int64_t{columns.vectors} * _c.lanes);
            _b.loop(_b.index(0), width, _c.lanes, {}, [&](ir::Value *offset, const Values &) {
                vector(inner, row, offset);
                return Values{};
            });
            return Values{};
        });
    });
}

ir::Value *ContractionLowering::sum_address(ir::Value *row, int vector) {
    auto bytes = element_bytes();
    auto *base = _b.address(_l._scratch, nullptr, 1, _sum_offset);
    if (_sum_column) {
        base = _b.address(base, _sum_column, bytes);
    }
    return _b.address(base, _b.add(_row_base, row), _sum_width * bytes,
                      int64_t{vector} * sum_lanes() * bytes);
}

ir::MemoryPayload ContractionLowering::sum_payload() const {
    return {static_cast<uint32_t>(size_of(_wide)), false, false};
}

const ir::Type *ContractionLowering::sum_type() {
    return _b.module().vector(_wide, static_cast<uint16_t>(sum_lanes()));
}

void ContractionLowering::write_sum(ir::Value *row, int vector, ir::Value *value) {
    _b.effect(Opcode::WRITE, {sum_address(row, vector), value}, sum_payload());
}

ir::Value *ContractionLowering::read_sum(ir::Value *row, int vector) {
    return _b.read(Opcode::READ, {sum_address(row, vector)}, sum_payload(), sum_type());
}

}// namespace luisa::tile::cpu

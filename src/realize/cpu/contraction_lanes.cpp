// SPDX-License-Identifier: Apache-2.0
#include "realize/cpu/contraction_lowering.h"
#include "realize/cpu/reducers.h"

#include <algorithm>

// Both operands are contiguous along the steps, and sums may be grouped in any way: each is a vector, whose lanes are
// added up when all steps are done.

namespace luisa::tile::cpu {

using ir::DimExtent;
using ir::Opcode;

/// The columns of a block with all rows. Sums wait in scratch memory for the end, where they are dealt with one by one.
void ContractionLowering::lanes_columns(Point &point, const ColumnBlock &columns) {
    auto extent = _rows.empty() ? int64_t{1} : _rows.back().extent;
    auto *rows = _rows.empty() || extent == 1 ? _b.index(1)
                                              : _b.maximum(end_of(_rows.back()), _b.index(0));
    _row_base = _b.index(0);
    _sum_width = int64_t{columns.vectors} * sum_lanes();
    _sum_offset = _l.allocate_bytes(extent * _sum_width * element_bytes());
    auto each = [&](const std::function<void(ir::Value * row, ir::Value * column)> &body) {
        _b.loop(_b.index(0), rows, 1, {}, [&](ir::Value *row, const Values &) {
            auto *width = _b.index(columns.vectors);
            _b.loop(_b.index(0), width, 1, {}, [&](ir::Value *column, const Values &) {
                body(row, column);
                return Values{};
            });
            return Values{};
        });
        _b.forget_reads();
    };
    auto address = [&](ir::Value *row, ir::Value *column) {
        return _b.address(sum_address(row, 0), column, sum_lanes() * element_bytes());
    };
    if (_c.panel_steps) {
        auto *nothing = _b.splat(_b.constant(_wide, identity_bits(Reducer::ADD, _wide)),
                                 sum_lanes());
        each([&](ir::Value *row, ir::Value *column) {
            _b.effect(Opcode::WRITE, {address(row, column), nothing}, sum_payload());
        });
        each_panel([&] { row_blocks(point, columns); });
    } else {
        row_blocks(point, columns);
        _b.forget_reads();
    }
    each([&](ir::Value *row, ir::Value *column) {
        auto *lanes = _b.read(Opcode::READ, {address(row, column)}, sum_payload(), sum_type());
        auto *sum = _l.merge_parts(Reducer::ADD, {lanes}, true);
        auto at = columns;
        at.column = columns.column ? _b.add(columns.column, column) : nullptr;
        std::vector<Point> places{element(point, row, 0, at)};
        auto *start = _l.convert(_l.evaluate(_c.initial, places.front()), _wide);
        finish_block(places, {_b.pure(Opcode::ADD, {start, sum})});
    });
}

void ContractionLowering::lanes_block(Point &point, const RegisterBlock &block) {
    Values sums;
    auto each = [&](const std::function<void(ir::Value * row, int vector)> &body) {
        for (int i = 0; i < block.height; ++i) {
            for (int j = 0; j < block.columns.vectors; ++j) {
                body(_b.add(block.row, _b.index(i)), j);
            }
        }
    };
    auto *nothing = _b.constant(_wide, identity_bits(Reducer::ADD, _wide));
    each([&](ir::Value *row, int vector) {
        sums.push_back(_panel_begin ? read_sum(row, vector) : _b.splat(nothing, sum_lanes()));
    });
    sums = nest_steps(0, point, block, sums);
    size_t next = 0;
    each([&](ir::Value *row, int vector) { write_sum(row, vector, sums[next++]); });
}

/// The contracted dimension in vectors, a few a turn; the last ones masked where its end is no multiple of them.
Values ContractionLowering::lane_steps(size_t product, const DimExtent &dim, Point &point,
                                       const RegisterBlock &block, const Values &accumulators) {
    constexpr int64_t most = 4;
    int64_t lanes = sum_lanes(), unrolled = std::clamp<int64_t>(dim.extent / lanes, 1, most);
    auto *end = depth_end(product, dim, point);
    auto inner = point.derived();
    for (const auto &d : contracted(product)) {
        inner.at[d.dim.id] = {_b.index(0), 0, nullptr};
    }
    auto step = [&](ir::Value *at, const Values &now, ir::Value *mask) {
        auto place = inner.derived();
        place.at[dim.dim.id] = {at, 1, nullptr};
        return multiply_lanes(product, place, block, now, mask);
    };
    auto *whole = _b.sub(end, _b.rem(end, _b.index(unrolled * lanes)));
    auto sums = _b.loop(_b.index(0), whole, unrolled * lanes, accumulators,
                        [&](ir::Value *iv, Values now) {
                            for (int64_t i = 0; i < unrolled; ++i) {
                                now = step(_b.add(iv, _b.index(i * lanes)), now, nullptr);
                            }
                            return now;
                        });
    return _b.loop(whole, end, lanes, sums, [&](ir::Value *iv, const Values &now) {
        auto *type = _b.module().vector(ScalarType::BOOL, static_cast<uint16_t>(lanes));
        auto *mask = _b.pure(Opcode::LANE_MASK, {_b.sub(end, iv)}, ir::None{}, type);
        return step(iv, now, mask);
    });
}

Values ContractionLowering::multiply_lanes(size_t product, const Point &point,
                                           const RegisterBlock &block, Values accumulators,
                                           ir::Value *mask) {
    _b.set_location(_c.products[product]->loc);
    auto vector = [&](Side side, Point place) {
        place.lanes = sum_lanes();
        place.mask = mask;
        auto *value = _l.evaluate(operand(side, product), place);
        return _b.splat(_l.convert(value, _wide), sum_lanes());
    };
    Values columns;
    for (int j = 0; j < block.columns.vectors; ++j) {
        columns.push_back(vector(Side::VECTOR, element(point, block.row, j, block.columns)));
    }
    size_t next = 0;
    for (int i = 0; i < block.height; ++i) {
        auto place = element(point, _b.add(block.row, _b.index(i)), 0, {block.columns.column});
        auto *row = vector(Side::SCALAR, place);
        for (auto *column : columns) {
            auto &sum = accumulators[next++];
            auto *added = is_float(_wide)
                              ? _b.pure(Opcode::FMA, {row, column, sum})
                              : _b.pure(Opcode::ADD, {_b.pure(Opcode::MUL, {row, column}), sum});
            sum = mask ? _l.select(mask, added, sum) : added;
        }
    }
    return accumulators;
}

/// Each step asks for what lies so far behind it in the same columns that it arrives in time.
void ContractionLowering::prefetch_columns(const Point &point, const RegisterBlock &block) {
    constexpr int64_t line = 64, distance = 1024;
    const auto *source = operand(Side::VECTOR, 0);
    auto bytes = static_cast<int64_t>(size_of(source->scalar()));
    for (int j = 0; j < block.columns.vectors; ++j) {
        auto place = element(point, block.row, j, block.columns);
        place.lanes = 1;
        DimExtent along{Dim{}, 1};
        for (const auto &d : contracted(0)) {
            place.at[d.dim.id] = {_b.index(0), 0, nullptr};
            along = d.extent != 1 ? d : along;
        }
        for (int64_t k = 0; k < along.extent * bytes; k += line) {
            place.at[along.dim.id] = {_b.index((distance + k) / bytes), 0, nullptr};
            ask_for(_l.load_access(*source->definition(), Bounds::ASSUME, place).address, {});
        }
    }
}

}// namespace luisa::tile::cpu

// SPDX-License-Identifier: Apache-2.0
#include "realize/cpu/contraction_lowering.h"

#include <algorithm>

namespace luisa::tile::cpu {

using ir::DimExtent;
using ir::Opcode;

namespace {

constexpr int64_t line_bytes = 64;

}// namespace

/// Each step of a register block asks for its share of what comes later.
void ContractionLowering::prefetch(Point &point, const RegisterBlock &block) {
    if (_c.prefetch_panel) {
        prefetch_next_panel(block);
    }
    if (_c.prefetch_rows) {
        prefetch_rows(point, block);
    }
    if (_c.prefetch_columns) {
        prefetch_columns(point, block);
    }
    if (_c.prefetch_results) {
        prefetch_results(point, block);
    }
}

void ContractionLowering::ask_for(ir::Value *address, const ir::PrefetchPayload &how) {
    _b.effect(Opcode::PREFETCH, {address}, how);
}

/// The panel that follows lies right behind the current one: it is in the second-level cache before its first
/// block reads it.
void ContractionLowering::prefetch_next_panel(const RegisterBlock &block) {
    const auto &nest = *_c.nests.front();
    int64_t depth = 1, rows = 1;
    for (const auto &d : contracted(0)) {
        depth *= d.extent;
    }
    depth = _c.atom == plan::Atom::MULTIPLY_ADD ? depth : group_words();
    for (const auto &d : _rows) {
        rows *= d.extent;
    }
    auto steps = _c.panel_steps ? std::min(_c.panel_steps, plan::trips(nest)) : plan::trips(nest);
    auto panel = steps * depth * panel_width() * element_bytes();
    auto share = (panel * block.height / rows / std::max<int64_t>(steps, 1) + line_bytes - 1) /
                 line_bytes;
    auto *step = step_number(nest);
    auto *end = _b.index(plan::trips(nest));
    if (_panel_begin) {
        step = _b.sub(step, steps_until(nest, _panel_begin));
        end = steps_until(nest, _panel_end);
    }
    auto *first = _b.add(_b.mul(_b.index(panel / rows), _b.add(_row_base, block.row)),
                         _b.mul(_b.index(share * line_bytes), step));
    auto *next = panel_address(0, _b.mul(end, _b.index(depth)), block.columns.column, 0);
    for (int64_t i = 0; i < share; ++i) {
        ask_for(_b.address(next, first, 1, i * line_bytes), {});
    }
}

/// The lines of the block's rows that the step after this one reads; in the last step, those that the block
/// below starts with.
void ContractionLowering::prefetch_rows(const Point &point, const RegisterBlock &block) {
    const auto *operand = _c.atom == plan::Atom::MULTIPLY_ADD ? this->operand(Side::SCALAR, 0)
                                                              : group_source(Side::SCALAR).value;
    const auto &load = *operand->definition();
    const auto &nest = *_c.nests.front();
    DimExtent along{Dim{}, 1};
    auto place = point.derived();
    place.lanes = 1;
    place.mask = place.guard = nullptr;
    for (const auto &d : contracted(0)) {
        place.at[d.dim.id] = {_b.index(0), 0, nullptr};
        along = d.extent != 1 ? d : along;
    }
    auto bytes = static_cast<int64_t>(size_of(operand->scalar()));
    auto line = std::max<int64_t>(1, line_bytes / bytes);
    // Far enough ahead for the latency of a cache that is not near, in whole steps.
    auto ahead = std::clamp<int64_t>((2 * line + along.extent - 1) / along.extent, 1,
                                     plan::trips(nest));
    auto *last = _b.compare(Opcode::GE, step_number(nest), _b.index(plan::trips(nest) - ahead));
    auto *column = _l.select(last, _b.index((ahead - plan::trips(nest)) * along.extent),
                             _b.index(ahead * along.extent));
    auto *row = _b.add(block.row, _l.select(last, _b.index(block.height), _b.index(0)));
    for (int i = 0; i < block.height; ++i) {
        if (!_rows.empty()) {
            place.at[_rows.back().dim.id] = {_b.add(row, _b.index(i)), 0, nullptr};
        }
        for (int64_t k = 0; k < along.extent; k += line) {
            place.at[along.dim.id] = {_b.add(column, _b.index(k)), 0, nullptr};
            ask_for(_l.load_access(load, Bounds::ASSUME, place).address, {1, false});
        }
    }
}

/// The last steps ask for the lines that the block stores, a few a step.
void ContractionLowering::prefetch_results(const Point &point, const RegisterBlock &block) {
    const auto &nest = *_c.nests.front();
    int64_t lines = int64_t{block.height} * block.columns.vectors;
    auto steps = std::min(plan::trips(nest), lines);
    auto share = (lines + steps - 1) / steps;
    auto *step = _b.maximum(_b.sub(step_number(nest), _b.index(plan::trips(nest) - steps)),
                            _b.index(0));
    for (int64_t i = 0; i < share; ++i) {
        auto *number = _b.minimum(_b.add(_b.mul(step, _b.index(share)), _b.index(i)),
                                  _b.index(lines - 1));
        auto *vectors = _b.index(block.columns.vectors);
        auto place = point.derived();
        place.mask = place.guard = nullptr;
        if (!_rows.empty()) {
            auto *row = _b.add(block.row, _b.div(number, vectors));
            place.at[_rows.back().dim.id] = {row, 0, nullptr};
        }
        if (!_columns.empty()) {
            auto *offset = _b.mul(_b.rem(number, vectors), _b.index(_c.lanes));
            place.at[_columns.back().dim.id] = {_b.add(block.columns.column, offset), 0, nullptr};
        }
        for (const auto &root : _c.epilogue) {
            if (root.kind == plan::Root::Kind::STORE && !root.op->get<ir::StorePayload>().mapped) {
                ask_for(_l.store_access(*root.op, Bounds::ASSUME, place).address, {2, true});
            }
        }
    }
}

}// namespace luisa::tile::cpu

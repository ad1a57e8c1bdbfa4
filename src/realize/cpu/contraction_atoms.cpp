// SPDX-License-Identifier: Apache-2.0
#include "realize/cpu/contraction_lowering.h"

#include <algorithm>

// Blocks of products of groups: dot products of vectors, and matrix registers.

namespace luisa::tile::cpu {

using ir::GroupFactors;
using ir::MatrixAction;
using ir::Opcode;

namespace {

constexpr int matrix_rows = plan::matrix_rows;
constexpr int64_t row_bytes = 64;// of a matrix register
constexpr int registers_for_sums = 4, registers = 8;

/// The register that holds the sums of a tile of rows and one of columns.
int sum_register(int row, int column, int columns) { return row * columns + column; }

}// namespace

/// Integers without a sign and with one have the same sums.
ir::Value *ContractionLowering::sums_as(ScalarType type, ir::Value *value) {
    if (value->scalar() == type) {
        return value;
    }
    auto *vector = _b.module().vector(type, static_cast<uint16_t>(_c.lanes));
    return _b.pure(Opcode::REGROUP, {value}, ir::None{}, vector);
}

void ContractionLowering::dot_block(Point &point, const RegisterBlock &block) {
    auto vectors = static_cast<size_t>(block.columns.vectors);
    auto height = static_cast<size_t>(block.height);
    auto summed = is_float(_wide) ? ScalarType::FLOAT32 : ScalarType::INT32;
    std::vector<Point> places;
    Values sums;
    for (size_t i = 0; i < height * vectors; ++i) {
        auto *row = _b.add(block.row, _b.index(static_cast<int64_t>(i / vectors)));
        places.push_back(element(point, row, static_cast<int>(i % vectors), block.columns));
        auto *start = _b.splat(_l.convert(_l.evaluate(_c.initial, places.back()), _wide), _c.lanes);
        sums.push_back(sums_as(summed, start));
    }
    bool offset = offsets_factors();
    auto *zero = _b.splat(_b.constant(ScalarType::INT32, 0), _c.lanes);
    auto *by = _b.splat(_b.constant(ScalarType::INT32, 0x80808080), _c.lanes);
    sums.resize(sums.size() + (offset ? vectors : 0), zero);
    // The scalar operand has the other signedness after its offset.
    auto factors = _factors == GroupFactors::S8S8   ? GroupFactors::U8S8
                   : _factors == GroupFactors::U8U8 ? GroupFactors::S8U8
                                                    : _factors;
    auto *word_type = _b.module().vector(ScalarType::INT32, static_cast<uint16_t>(_c.lanes));
    auto *depth = _b.index(panels(Side::VECTOR).of_product.front().shape.depth);
    sums = _b.loop(_b.index(0), depth, 1, sums, [&](ir::Value *word, const Values &now) {
        auto next = now;
        auto add = [&](size_t to, ir::Value *a, ir::Value *b) {
            next[to] = _b.pure(Opcode::DOT, {a, b, next[to]}, ir::DotPayload{factors});
        };
        Values wide;
        for (size_t j = 0; j < vectors; ++j) {
            auto *address = panel_address(0, word, block.columns.column, static_cast<int>(j));
            wide.push_back(_b.read(Opcode::READ, {address}, sum_payload(), word_type));
        }
        for (size_t i = 0; i < height; ++i) {
            auto *address = element_address(0, word, block.row, static_cast<int64_t>(i));
            auto *one = _b.splat(_b.read(Opcode::READ, {address}, sum_payload(),
                                         _b.module().scalar(ScalarType::INT32)),
                                 _c.lanes);
            for (size_t j = 0; j < vectors; ++j) {
                add(i * vectors + j, one, wide[j]);
            }
        }
        for (size_t j = 0; j < vectors && offset; ++j) {
            add(height * vectors + j, by, wide[j]);
        }
        return next;
    });
    for (size_t i = 0; i < height * vectors; ++i) {
        if (offset) {
            sums[i] = _b.pure(Opcode::SUB, {sums[i], sums[height * vectors + i % vectors]});
        }
        sums[i] = sums_as(_wide, sums[i]);
    }
    sums.resize(height * vectors);
    finish_block(places, sums);
}

void ContractionLowering::matrix(ir::MatrixPayload payload, const Values &operands) {
    payload.factors = _factors;
    _b.effect(Opcode::MATRIX, operands, payload);
}

/// All registers are as large as they can be: what lies beyond the rows and columns of a block is not stored.
void ContractionLowering::configure_matrices() {
    auto room = _l.allocate_bytes(row_bytes);
    auto *start = _b.address(_l._scratch, nullptr, 1, room);
    // Palette 1; a 16-bit row length for each register from byte 16 on, and from byte 48 on how many rows.
    constexpr uint64_t lengths = 0x0040'0040'0040'0040, rows = 0x1010'1010'1010'1010;
    constexpr uint64_t words[] = {1, 0, lengths, lengths, 0, 0, rows, 0};
    for (size_t i = 0; i < std::size(words); ++i) {
        auto *at = _b.address(start, nullptr, 1, static_cast<int64_t>(8 * i));
        _b.effect(Opcode::WRITE, {at, _b.index(static_cast<int64_t>(words[i]))},
                  ir::MemoryPayload{8, false, false});
    }
    matrix({MatrixAction::CONFIGURE}, {start});
    _sum_width = block_width();
    int64_t kept = _c.panel_steps ? (axis_of(Side::SCALAR).extent + _c.rows - 1) / _c.rows * _c.rows
                                  : _c.rows;
    _sum_offset = _l.allocate_bytes(kept * _sum_width * element_bytes());
    _row_base = _b.index(0);
}

/// The rows in blocks; a rest that fewer registers cover takes fewer. `left` is null for whole blocks.
void ContractionLowering::each_matrix_block(
    const ColumnBlock &columns,
    const std::function<void(const RegisterBlock &, ir::Value *left)> &body) {
    auto axis = axis_of(Side::SCALAR);
    auto *end = axis.extent == 1 ? _b.index(1) : _b.maximum(end_of(axis), _b.index(0));
    auto *whole = _b.sub(end, _b.rem(end, _b.index(_c.rows)));
    if (axis.extent >= _c.rows) {
        _b.loop(_b.index(0), whole, _c.rows, {}, [&](ir::Value *row, const Values &) {
            body({row, _c.rows, columns}, nullptr);
            return Values{};
        });
    }
    auto *left = _b.sub(end, whole);
    for (int height = matrix_rows; height <= _c.rows; height += matrix_rows) {
        auto emit = [&] {
            body({whole, height, columns}, left);
            return Values{};
        };
        int64_t known = 0;
        if (MachineBuilder::is_constant(left, known)) {
            if (known > height - matrix_rows && known <= height) {
                emit();
            }
            continue;
        }
        if (height - matrix_rows < axis.extent) {
            auto *chosen = _b.both(_b.compare(Opcode::GT, left, _b.index(height - matrix_rows)),
                                   _b.compare(Opcode::LE, left, _b.index(height)));
            _b.branch(chosen, emit, [] { return Values{}; });
        }
    }
}

/// A block of columns: sums into registers, all steps, out to scratch memory, and from there to what consumes them. With
/// panels all rows use one, with their sums in scratch memory, before the next.
void ContractionLowering::matrix_column_block(Point &point, const ColumnBlock &columns) {
    auto consume = [&](const RegisterBlock &block, ir::Value *left) {
        _b.forget_reads();
        matrix_sums(point, block, left, [&](Point &place, ir::Value *address) {
            auto *sum = _b.read(Opcode::READ, {address}, sum_payload(), sum_type());
            std::vector<Point> places{place};
            finish_block(places, {sum});
        });
        _b.forget_reads();
    };
    if (_c.panel_steps == 0) {
        return each_matrix_block(columns, [&](const RegisterBlock &block, ir::Value *left) {
            matrix_start(point, block, left);
            matrix_steps(point, block);
            move_matrix_sums(MatrixAction::STORE, block);
            consume(block, left);
        });
    }
    auto range = _l.range_of(*_c.nests.front());
    auto *stride = _b.mul(range.step, _b.index(_c.panel_steps));
    auto panel = [&](ir::Value *begin, bool first) {
        _panel_begin = begin;
        _panel_end = _b.minimum(range.end, _b.add(begin, stride));
        each_matrix_block(columns, [&](const RegisterBlock &block, ir::Value *left) {
            first ? matrix_start(point, block, left) : move_matrix_sums(MatrixAction::LOAD, block);
            matrix_steps(point, block);
            move_matrix_sums(MatrixAction::STORE, block);
        });
        _panel_begin = _panel_end = nullptr;
    };
    panel(range.begin, true);
    _b.loop(_b.add(range.begin, stride), range.end, stride, {}, [&](ir::Value *iv, const Values &) {
        panel(iv, false);
        return Values{};
    });
    each_matrix_block(columns, consume);
}

/// Rows of sums in scratch memory before those of the block.
ir::Value *ContractionLowering::first_sum(const RegisterBlock &block) {
    return _c.panel_steps ? block.row : _b.index(0);
}

void ContractionLowering::move_matrix_sums(MatrixAction action, const RegisterBlock &block) {
    auto *pitch = _b.index(_sum_width * element_bytes());
    for (int i = 0; i < block.height / matrix_rows; ++i) {
        for (int j = 0; j < block.columns.vectors; ++j) {
            auto *row = _b.add(first_sum(block), _b.index(int64_t{i} * matrix_rows));
            matrix({action, sum_register(i, j, block.columns.vectors)},
                   {sum_address(row, j), pitch});
        }
    }
}

void ContractionLowering::matrix_start(Point &point, const RegisterBlock &block, ir::Value *left) {
    const auto *op = _c.initial->definition();
    bool zero = op && op->opcode() == Opcode::CONSTANT && op->get<ir::ConstantPayload>().bits == 0;
    if (zero) {
        for (int i = 0; i < block.height / matrix_rows * block.columns.vectors; ++i) {
            matrix({MatrixAction::ZERO, i});
        }
        return;
    }
    matrix_sums(point, block, left, [&](Point &place, ir::Value *address) {
        auto *start = _b.splat(_l.convert(_l.evaluate(_c.initial, place), _wide), _c.lanes);
        _b.effect(Opcode::WRITE, {address, start}, sum_payload());
    });
    _b.forget_reads();
    move_matrix_sums(MatrixAction::LOAD, block);
}

/// All steps: those of panels lie one after the other, whatever nests they come from.
void ContractionLowering::matrix_steps(Point &point, const RegisterBlock &block) {
    int heights = block.height / matrix_rows;
    auto *zero = _b.index(0);
    auto over = [&](int64_t words, ir::Value *first) {
        _b.loop(zero, _b.index(words), matrix_rows, {}, [&](ir::Value *word, const Values &) {
            matrix_step(point, block, heights, _b.add(first, word), word);
            return Values{};
        });
    };
    if (group_words() % matrix_rows != 0) {
        return over(panels(Side::VECTOR).of_product.front().shape.depth, zero);
    }
    nest_positions(0, zero, [&](ir::Value *position) {
        if (_c.prefetch_rows) {
            prefetch_rows(point, block);
        }
        over(group_words(), _b.mul(position, _b.index(group_words())));
    });
}

/// One row of words of all registers: from `panel_word` on in panels, from `word` of the current turn of the nests on in
/// an operand that is read where it is.
void ContractionLowering::matrix_step(const Point &point, const RegisterBlock &block, int heights,
                                      ir::Value *panel_word, ir::Value *word) {
    auto *word_pitch = _b.index(panel_width() * element_bytes());
    int vectors = block.columns.vectors;
    require(heights * vectors <= registers_for_sums && (heights <= 2 || vectors == 1),
            "a block has more sums or factors than there are matrix registers");
    auto load_row = [&](int i, int to) {
        auto *row = _b.add(block.row, _b.index(int64_t{i} * matrix_rows));
        // Blocks of rows pass while the columns stay.
        matrix({MatrixAction::LOAD, to, 1},
               {matrix_row_address(point, row, _c.scalar_panel ? panel_word : word),
                matrix_row_pitch()});
    };
    auto load_column = [&](int j, int to) {
        matrix({MatrixAction::LOAD, to},
               {panel_address(0, panel_word, block.columns.column, j), word_pitch});
    };
    auto multiply = [&](int i, int j, int row, int column) {
        matrix({MatrixAction::MULTIPLY, sum_register(i, j, vectors), row, column});
    };
    // The factors of which there are fewer stay; the others take turns.
    bool columns_stay = vectors == 1;
    int stay = columns_stay ? 1 : heights, turns = registers - registers_for_sums - stay;
    for (int s = 0; s < stay; ++s) {
        columns_stay ? load_column(s, registers_for_sums + s) : load_row(s, registers_for_sums + s);
    }
    for (int t = 0; t < (columns_stay ? heights : vectors); ++t) {
        int other = registers_for_sums + stay + t % turns;
        columns_stay ? load_row(t, other) : load_column(t, other);
        for (int s = 0; s < stay; ++s) {
            int kept = registers_for_sums + s;
            columns_stay ? multiply(t, s, other, kept) : multiply(s, t, kept, other);
        }
    }
}

ir::Value *ContractionLowering::matrix_row_address(const Point &point, ir::Value *row,
                                                   ir::Value *word) {
    if (_c.scalar_panel) {
        return element_address(0, word, row, 0);
    }
    auto source = group_source(Side::SCALAR);
    auto place = point.derived();
    place.at[axis_of(Side::SCALAR).dim.id] = {row, 0, nullptr};
    auto *step = _b.mul(word, _b.index(plan::group_size(_factors)));
    place.at[source.steps.dim.id] = {step, 0, nullptr};
    return _l.load_access(*source.value->definition(), Bounds::ASSUME, place).address;
}

/// Bytes from one row to the next.
ir::Value *ContractionLowering::matrix_row_pitch() {
    if (_c.scalar_panel) {
        return _b.index(panels(Side::SCALAR).of_product.front().shape.neighbour * element_bytes());
    }
    const auto &load = *group_source(Side::SCALAR).value->definition();
    auto axis = static_cast<size_t>(load.result()->type()->find(axis_of(Side::SCALAR).dim));
    auto bytes = static_cast<int64_t>(size_of(load.result()->scalar()));
    return _b.mul(_l.view_stride(load.operand(0), axis), _b.index(bytes));
}

/// Every vector of the block's sums in scratch memory that exists, row by row.
void ContractionLowering::matrix_sums(Point &point, const RegisterBlock &block, ir::Value *left,
                                      const std::function<void(Point &, ir::Value *)> &body) {
    auto *rows = left ? left : _b.index(block.height);
    _b.loop(_b.index(0), rows, 1, {}, [&](ir::Value *row, const Values &) {
        for (int j = 0; j < block.columns.vectors; ++j) {
            auto place = element(point, _b.add(block.row, row), j, block.columns);
            body(place, sum_address(_b.add(first_sum(block), row), j));
        }
        return Values{};
    });
}

}// namespace luisa::tile::cpu

// SPDX-License-Identifier: Apache-2.0
#include "realize/cpu/contraction_lowering.h"

#include <algorithm>

namespace luisa::tile::cpu {

using ir::DimExtent;
using ir::Opcode;

namespace {

bool is_constant(const ir::Value *value, int64_t expected) {
    auto known = analysis::interval_of(value);
    return known.low == expected && known.high == expected;
}

}// namespace

ContractionLowering::ContractionLowering(Lowering &lowering, const plan::Contraction &contraction)
    : _l{lowering}, _b{lowering._b}, _c{contraction} {
    const auto &roles = _c.roles;
    _columns = _c.transposed ? roles.rows : roles.columns;
    _rows = _c.transposed ? roles.columns : roles.rows;
    _type = _c.result->scalar();
    // Narrow accumulators are kept in f32; ordered ones round to their type at every step.
    _wide = is_half(_type) ? ScalarType::FLOAT32 : _type;
    if (_c.atom != plan::Atom::MULTIPLY_ADD) {
        auto factors = plan::group_factors(group_source(Side::SCALAR).value->scalar(),
                                           group_source(Side::VECTOR).value->scalar());
        require(factors.has_value() && _columns.size() && _rows.size() == 1,
                "products of groups are planned for narrow elements of matrices");
        _factors = *factors;
    }
}

void ContractionLowering::run() {
    _b.forget_reads();
    _l._written.clear();
    _l._stores_in_step = !_c.epilogue.empty();
    if (const auto *home = _l._plan->home(_c.result)) {
        _l._written.insert(home);
    }
    for (const auto &root : _c.epilogue) {
        if (root.target) {
            _l._written.insert(_l._plan->home(root.target));
        }
    }
    Point point;
    std::vector<DimExtent> space;
    for (const auto *role :
         std::initializer_list<const DimExtents *>{&_c.roles.batch, &_rows, &_columns}) {
        for (const auto &d : *role) {
            if (d.extent != 1) {
                space.push_back(d);
            }
        }
    }
    _ends = _l.clip_loops(_c.epilogue, space, point);
    if (_c.atom == plan::Atom::MATRIX) {
        configure_matrices();
    }
    plain_loops(outer_dims(), 0, point, [&](Point &inner) {
        for (auto side : {Side::VECTOR, Side::SCALAR}) {
            if (const auto *panel = panel_plan(_c, side)) {
                lay_out_panels(side);
                if (!panel->shared) {
                    // Panels are filled to the ends of their tiles, whatever rows and columns are computed.
                    auto whole = inner.derived();
                    whole.clips.clear();
                    fill_panels(side, whole);
                }
            }
        }
        if (_c.sweeps_columns) {
            sweep(inner);
        } else {
            column_blocks(inner);
        }
    });
    if (_c.atom == plan::Atom::MATRIX) {
        matrix({ir::MatrixAction::RELEASE});
    }
    _b.forget_reads();
    _l._written.clear();
    _l._stores_in_step = false;
}

ir::Value *ContractionLowering::end_of(const DimExtent &dim) {
    auto found = _ends.find(dim.dim.id);
    return found == _ends.end() ? _b.index(dim.extent) : found->second;
}

/// Loops around the columns that are cut into blocks: the batch, and all columns but the last.
ContractionLowering::DimExtents ContractionLowering::outer_dims() const {
    auto dims = _c.roles.batch;
    if (!_columns.empty()) {
        dims.insert(dims.end(), _columns.begin(), _columns.end() - 1);
    }
    return dims;
}

void ContractionLowering::plain_loops(const DimExtents &dims, size_t depth, Point &point,
                                      const std::function<void(Point &)> &body) {
    if (depth == dims.size()) {
        return body(point);
    }
    auto end = dims[depth].extent == 1 ? _b.index(1) : end_of(dims[depth]);
    _b.loop(_b.index(0), end, 1, {}, [&](ir::Value *iv, const Values &) {
        auto inner = point.derived();
        inner.at[dims[depth].dim.id] = {iv, 0, nullptr};
        plain_loops(dims, depth + 1, inner, body);
        return Values{};
    });
}

/// All rows but the last dimension, with the number of rows before the current ones.
void ContractionLowering::leading_rows(Point &point, const std::function<void(Point &)> &body) {
    if (_rows.size() < 2) {
        _row_base = _b.index(0);
        return body(point);
    }
    DimExtents dims{_rows.begin(), _rows.end() - 1};
    plain_loops(dims, 0, point, [&](Point &inner) {
        _row_base = _b.index(0);
        for (const auto &d : _rows) {
            auto *at = d.dim == _rows.back().dim || d.extent == 1 ? _b.index(0)
                                                                  : inner.at.at(d.dim.id).base;
            _row_base = _b.add(_b.mul(_row_base, _b.index(d.extent)), at);
        }
        body(inner);
    });
}

void ContractionLowering::column_blocks(Point &point) {
    if (_columns.empty()) {
        return _c.step_lanes ? lanes_columns(point, {}) : row_blocks(point, {});
    }
    auto axis = _columns.back();
    auto *end = axis.extent == 1 ? _b.index(1) : end_of(axis);
    auto width = block_width();
    auto *positive = _b.maximum(end, _b.index(0));
    auto *whole = _b.sub(positive, _b.rem(positive, _b.index(width)));
    if (axis.extent >= width) {
        _b.loop(_b.index(0), whole, width, {}, [&](ir::Value *iv, const Values &) {
            column_block(point, {iv, _c.vectors, nullptr});
            return Values{};
        });
    }
    for (auto rest : column_rests(axis, end, width)) {
        auto *left = _b.sub(positive, whole);
        int vectors = static_cast<int>((rest + _c.lanes - 1) / _c.lanes);
        int64_t known = 0;
        bool rare = vectors != (axis.extent % width + _c.lanes - 1) / _c.lanes;
        auto emit = [&] {
            column_block(point, {whole, vectors, left, rare});
            return Values{};
        };
        if (MachineBuilder::is_constant(left, known)) {
            emit();
            continue;
        }
        // Several widths may occur: each has its own block, chosen by what is left.
        auto *low = _b.index(int64_t{vectors - 1} * _c.lanes);
        auto *high = _b.index(int64_t{vectors} * _c.lanes);
        auto *chosen = _b.both(_b.compare(Opcode::GT, left, low),
                               _b.compare(Opcode::LE, left, high));
        _b.branch(chosen, emit, [] { return Values{}; });
    }
}

/// One block of columns: all steps in registers, or panel by panel where the plan says so.
void ContractionLowering::column_block(Point &point, const ColumnBlock &columns) {
    if (_c.atom == plan::Atom::MATRIX) {
        matrix_column_block(point, columns);
    } else if (_c.step_lanes) {
        lanes_columns(point, columns);
    } else if (_pass != Pass::ALL) {
        _sum_column = columns.column;
        _pass == Pass::START   ? start_sums(point, columns)
        : _pass == Pass::STEPS ? row_blocks(point, columns)
                               : finish_sums(point, columns);
    } else if (_c.panel_steps == 0) {
        row_blocks(point, columns);
    } else {
        panel_loop(point, columns);
    }
}

/// The rests that can occur, one a number of vectors.
std::vector<int64_t> ContractionLowering::column_rests(const DimExtent &axis, ir::Value *end,
                                                       int64_t width) {
    std::set<int64_t> vectors;
    auto add = [&](int64_t extent) {
        if (extent > 0 && extent % width) {
            vectors.insert((extent % width + _c.lanes - 1) / _c.lanes);
        }
    };
    int64_t known = 0;
    if (MachineBuilder::is_constant(end, known)) {
        add(known);
    } else if (auto last = last_extent(axis)) {
        add(axis.extent);
        add(*last);
    } else {
        for (int64_t v = 1;
             v <= std::min<int64_t>(_c.vectors, (axis.extent + _c.lanes - 1) / _c.lanes); ++v) {
            vectors.insert(v);
        }
    }
    std::vector<int64_t> rests;
    for (auto v : vectors) {
        rests.push_back(v * _c.lanes);
    }
    return rests;
}

/// What the last tile of a static axis holds, when tiles cut it evenly from zero.
std::optional<int64_t> ContractionLowering::last_extent(const DimExtent &axis) const {
    for (const auto &root : _c.epilogue) {
        if (root.kind != plan::Root::Kind::STORE || root.op->get<ir::StorePayload>().mapped) {
            continue;
        }
        const auto &box = root.op->get<ir::StorePayload>().box;
        for (size_t i = 0; i < box.size(); ++i) {
            if (!(box[i].dim == axis.dim)) {
                continue;
            }
            auto extent = root.op->operand(0)->type()->axes[i].extent;
            auto *origin = root.op->operand(2 + i)->definition();
            bool tiled = origin && origin->opcode() == Opcode::MUL &&
                         is_constant(origin->operand(1), axis.extent);
            if (extent != ir::runtime_value && tiled) {
                return extent % axis.extent;
            }
        }
    }
    return std::nullopt;
}

void ContractionLowering::row_blocks(Point &point, const ColumnBlock &columns) {
    leading_rows(point, [&](Point &inner) { row_axis_blocks(inner, columns); });
}

/// The last dimension of the rows in blocks as equal as possible: at most two heights for one extent.
void ContractionLowering::row_axis_blocks(Point &point, const ColumnBlock &columns) {
    if (_rows.empty() || _rows.back().extent == 1) {
        return register_block(point, {_b.index(0), 1, columns});
    }
    auto axis = _rows.back();
    auto *end = end_of(axis);
    int64_t known = 0;
    std::optional<int64_t> last;
    bool is_static = MachineBuilder::is_constant(end, known);
    if (!is_static) {
        last = last_extent(axis);
    }
    if (is_static || last) {
        std::set<int64_t> heights;
        for (auto extent : {is_static ? known : axis.extent, last.value_or(0)}) {
            if (extent > 0) {
                auto blocks = (extent + _c.rows - 1) / _c.rows;
                heights.insert((extent + blocks - 1) / blocks);
                heights.insert(extent / blocks);
            }
        }
        if (heights.size() <= 3) {
            return even_rows(point, end, columns, heights);
        }
    }
    auto *positive = _b.maximum(end, _b.index(0));
    auto *whole = _b.sub(positive, _b.rem(positive, _b.index(_c.rows)));
    row_loop(point, _b.index(0), whole, _c.rows, columns);
    row_loop(point, whole, positive, 1, columns);
}

void ContractionLowering::even_rows(Point &point, ir::Value *end, const ColumnBlock &columns,
                                    const std::set<int64_t> &heights) {
    auto *positive = _b.maximum(end, _b.index(0));
    auto *most = _b.index(_c.rows);
    auto *blocks = _b.div(_b.add(positive, _b.index(_c.rows - 1)), most);
    auto *some = _b.maximum(blocks, _b.index(1));
    auto *low = _b.div(positive, some);
    auto *tall_count = _b.sub(positive, _b.mul(low, some));
    // `tall_count` blocks of low + 1 rows, then blocks of low rows.
    auto *split = _b.mul(tall_count, _b.add(low, _b.index(1)));
    for (auto it = heights.rbegin(); it != heights.rend(); ++it) {
        auto height = *it;
        if (height == 0) {
            continue;
        }
        auto *is_low = _b.compare(Opcode::EQ, low, _b.index(height));
        auto *is_tall = _b.compare(Opcode::EQ, low, _b.index(height - 1));
        auto *zero = _b.index(0);
        auto choose = [&](ir::Value *condition, ir::Value *yes, ir::Value *no) {
            int64_t known = 0;
            if (MachineBuilder::is_constant(condition, known)) {
                return known ? yes : no;
            }
            return _l.select(condition, yes, no);
        };
        auto *begin = choose(is_low, split, zero);
        auto *stop = choose(is_low, positive, choose(is_tall, split, zero));
        row_loop(point, begin, stop, height, columns);
    }
}

void ContractionLowering::row_loop(Point &point, ir::Value *begin, ir::Value *end, int64_t height,
                                   const ColumnBlock &columns) {
    _b.loop(begin, end, height, {}, [&](ir::Value *iv, const Values &) {
        register_block(point, {iv, static_cast<int>(height), columns});
        return Values{};
    });
}

void Lowering::lower_contraction(const plan::Contraction &contraction) {
    ContractionLowering{*this, contraction}.run();
}

}// namespace luisa::tile::cpu

// SPDX-License-Identifier: Apache-2.0
#include "realize/cpu/lowering.h"

#include <algorithm>
#include <optional>
#include <set>

namespace luisa::tile::cpu {

using ir::DimExtent;
using ir::Opcode;
using plan::Contraction;

namespace {

bool is_half(ScalarType t) { return t == ScalarType::FLOAT16 || t == ScalarType::BFLOAT16; }

}// namespace

/// Realizes one register-blocked contraction: blocks of rows × columns, every step of the
/// contracted loops inside a block, consumers applied to the accumulators.
class ContractionLowering {
public:
    ContractionLowering(Lowering &lowering, const Contraction &contraction)
        : _l{lowering}, _b{lowering._b}, _c{contraction} {
        const auto &roles = _c.roles;
        _columns = _c.transposed ? roles.rows : roles.columns;
        _rows = _c.transposed ? roles.columns : roles.rows;
        _type = _c.result->scalar();
        // Narrow accumulators are kept in f32; ordered ones round to their type at every step.
        _wide = is_half(_type) ? ScalarType::FLOAT32 : _type;
    }

    void run() {
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
        const auto &batch = _c.roles.batch;
        for (const auto *role :
             std::initializer_list<const std::vector<DimExtent> *>{&batch, &_rows, &_columns}) {
            for (const auto &d : *role) {
                if (d.extent != 1) {
                    space.push_back(d);
                }
            }
        }
        _ends = _l.clip_loops(_c.epilogue, space, point);
        outer_loops(0, point);
        _b.forget_reads();
        _l._written.clear();
        _l._stores_in_step = false;
    }

private:
    ir::Value *end_of(const DimExtent &dim) {
        auto found = _ends.find(dim.dim.id);
        return found == _ends.end() ? _b.index(dim.extent) : found->second;
    }

    /// Batch dimensions, and all but the last of the rows and columns, are plain loops.
    std::vector<DimExtent> plain_dims() const {
        std::vector<DimExtent> dims = _c.roles.batch;
        for (const auto *role : {&_rows, &_columns}) {
            dims.insert(dims.end(), role->begin(), role->empty() ? role->end() : role->end() - 1);
        }
        return dims;
    }

    void outer_loops(size_t depth, Point &point) {
        auto dims = plain_dims();
        if (depth == dims.size()) {
            if (_c.pack) {
                lay_out_panels();
                if (!_c.shared) {
                    fill_panels(point);
                }
            }
            return column_blocks(point);
        }
        auto end = dims[depth].extent == 1 ? _b.index(1) : end_of(dims[depth]);
        _b.loop(_b.index(0), end, 1, {}, [&](ir::Value *iv, const Values &) {
            auto inner = point.derived();
            inner.at[dims[depth].dim.id] = {iv, 0, nullptr};
            outer_loops(depth + 1, inner);
            return Values{};
        });
    }

    // Columns: whole blocks of `vectors` vectors, then one narrower block with a masked last vector.

    void column_blocks(Point &point) {
        if (_columns.empty()) {
            return row_blocks(point, nullptr, 1, nullptr);
        }
        auto axis = _columns.back();
        auto *end = axis.extent == 1 ? _b.index(1) : end_of(axis);
        int64_t width = int64_t{_c.vectors} * _c.lanes;
        auto *positive = _b.maximum(end, _b.index(0));
        auto *whole = _b.sub(positive, _b.rem(positive, _b.index(width)));
        if (axis.extent >= width) {
            _b.loop(_b.index(0), whole, width, {}, [&](ir::Value *iv, const Values &) {
                column_block(point, iv, _c.vectors, nullptr);
                return Values{};
            });
        }
        for (auto rest : column_rests(axis, end, width)) {
            auto *left = _b.sub(positive, whole);
            int vectors = static_cast<int>((rest + _c.lanes - 1) / _c.lanes);
            int64_t known = 0;
            auto emit = [&] {
                column_block(point, whole, vectors, left);
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
    void column_block(Point &point, ir::Value *column, int vectors, ir::Value *left) {
        if (_c.panel_steps == 0) {
            return row_blocks(point, column, vectors, left);
        }
        auto rows = _rows.back();
        auto bytes = static_cast<int64_t>(size_of(_wide));
        _sum_width = int64_t{vectors} * _c.lanes;
        _sum_offset = _l.allocate_bytes(rows.extent * _sum_width * bytes);
        each_sum(point, column, vectors, left, [&](Point &place, ir::Value *address) {
            auto *start = _b.splat(_l.convert(_l.evaluate(_c.initial, place), _wide), _c.lanes);
            _b.effect(Opcode::WRITE, {address, start}, sum_payload());
        });
        _b.forget_reads();
        auto range = _l.range_of(*_c.nests.front());
        auto *stride = _b.mul(range.step, _b.index(_c.panel_steps));
        _b.loop(range.begin, range.end, stride, {}, [&](ir::Value *iv, const Values &) {
            _panel_begin = iv;
            _panel_end = _b.minimum(range.end, _b.add(iv, stride));
            row_blocks(point, column, vectors, left);
            _panel_begin = _panel_end = nullptr;
            return Values{};
        });
        _b.forget_reads();
        each_sum(point, column, vectors, left, [&](Point &place, ir::Value *address) {
            auto *sum = _b.read(Opcode::READ, {address}, sum_payload(), sum_type());
            std::vector<Point> places{place};
            finish_block(places, {sum});
        });
        _b.forget_reads();
    }

    /// Every vector of the block's partial sums, as loops: what is done to them is emitted once.
    void each_sum(Point &point, ir::Value *column, int vectors, ir::Value *left,
                  const std::function<void(Point &, ir::Value *)> &body) {
        auto *rows = _b.maximum(end_of(_rows.back()), _b.index(0));
        _b.loop(_b.index(0), rows, 1, {}, [&](ir::Value *row, const Values &) {
            auto *width = _b.index(int64_t{vectors} * _c.lanes);
            _b.loop(_b.index(0), width, _c.lanes, {}, [&](ir::Value *offset, const Values &) {
                auto place = element(point, row, _b.add(column, offset), 0, nullptr, 1);
                if (left) {
                    auto *type = _b.module().vector(ScalarType::BOOL,
                                                    static_cast<uint16_t>(_c.lanes));
                    place.mask = _b.pure(Opcode::LANE_MASK, {_b.sub(left, offset)}, ir::None{},
                                         type);
                }
                auto *address = _b.address(sum_address(row, 0), offset,
                                           static_cast<int64_t>(size_of(_wide)));
                body(place, address);
                return Values{};
            });
            return Values{};
        });
    }

    // Partial sums of a column block between panels.

    ir::Value *sum_address(ir::Value *row, int vector) {
        auto bytes = static_cast<int64_t>(size_of(_wide));
        auto *base = _b.address(_l._scratch, nullptr, 1, _sum_offset);
        return _b.address(base, row, _sum_width * bytes, int64_t{vector} * _c.lanes * bytes);
    }

    [[nodiscard]] ir::MemoryPayload sum_payload() const {
        return {static_cast<uint32_t>(size_of(_wide)), false, false};
    }

    const ir::Type *sum_type() {
        return _b.module().vector(_wide, static_cast<uint16_t>(_c.lanes));
    }

    void write_sum(ir::Value *row, int vector, ir::Value *value) {
        _b.effect(Opcode::WRITE, {sum_address(row, vector), value}, sum_payload());
    }

    ir::Value *read_sum(ir::Value *row, int vector) {
        return _b.read(Opcode::READ, {sum_address(row, vector)}, sum_payload(), sum_type());
    }

    /// The rests that can occur, one a number of vectors.
    std::vector<int64_t> column_rests(const DimExtent &axis, ir::Value *end, int64_t width) {
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
    std::optional<int64_t> last_extent(const DimExtent &axis) const {
        for (const auto &root : _c.epilogue) {
            if (root.kind != plan::Root::Kind::STORE) {
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
                             constant_of(origin->operand(1)) == axis.extent;
                if (extent != ir::runtime_value && tiled) {
                    return extent % axis.extent;
                }
            }
        }
        return std::nullopt;
    }

    static int64_t constant_of(const ir::Value *value) {
        auto *op = value->definition();
        return op && op->opcode() == Opcode::CONSTANT
                   ? static_cast<int64_t>(op->get<ir::ConstantPayload>().bits)
                   : -1;
    }

    // Rows: as equal blocks as possible, so at most two heights for one extent.

    void row_blocks(Point &point, ir::Value *column, int vectors, ir::Value *left) {
        if (_rows.empty() || _rows.back().extent == 1) {
            return register_block(point, _b.index(0), 1, column, vectors, left);
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
                return even_rows(point, axis, end, column, vectors, left, heights);
            }
        }
        auto *positive = _b.maximum(end, _b.index(0));
        auto *whole = _b.sub(positive, _b.rem(positive, _b.index(_c.rows)));
        row_loop(point, _b.index(0), whole, _c.rows, column, vectors, left);
        row_loop(point, whole, positive, 1, column, vectors, left);
    }

    void even_rows(Point &point, const DimExtent &, ir::Value *end, ir::Value *column, int vectors,
                   ir::Value *left, const std::set<int64_t> &heights) {
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
            row_loop(point, begin, stop, height, column, vectors, left);
        }
    }

    void row_loop(Point &point, ir::Value *begin, ir::Value *end, int64_t height, ir::Value *column,
                  int vectors, ir::Value *left) {
        _b.loop(begin, end, height, {}, [&](ir::Value *iv, const Values &) {
            register_block(point, iv, static_cast<int>(height), column, vectors, left);
            return Values{};
        });
    }

    // One register block.

    Point element(const Point &point, ir::Value *row, ir::Value *column, int vector,
                  ir::Value *left, int vectors) {
        auto place = point.derived();
        if (!_rows.empty()) {
            place.at[_rows.back().dim.id] = {row, 0, nullptr};
        }
        if (!_columns.empty()) {
            auto *base = _b.add(column, _b.index(int64_t{vector} * _c.lanes));
            place.at[_columns.back().dim.id] = {base, _c.lanes > 1 ? 1 : 0, nullptr};
            place.lanes = _c.lanes;
            if (left && vector == vectors - 1 && _c.lanes > 1) {
                auto *type = _b.module().vector(ScalarType::BOOL, static_cast<uint16_t>(_c.lanes));
                auto *rest = _b.sub(left, _b.index(int64_t{vector} * _c.lanes));
                place.mask = _b.pure(Opcode::LANE_MASK, {rest}, ir::None{}, type);
            }
        }
        return place;
    }

    void register_block(Point &point, ir::Value *row, int height, ir::Value *column, int vectors,
                        ir::Value *left) {
        Values accumulators;
        int lanes = _columns.empty() ? 1 : _c.lanes;
        if (_panel_begin) {
            for (int i = 0; i < height; ++i) {
                for (int j = 0; j < vectors; ++j) {
                    accumulators.push_back(read_sum(_b.add(row, _b.index(i)), j));
                }
            }
            auto sums = nest_steps(0, point, row, height, column, vectors, left, accumulators);
            for (int i = 0; i < height; ++i) {
                for (int j = 0; j < vectors; ++j) {
                    write_sum(_b.add(row, _b.index(i)), j,
                              sums[static_cast<size_t>(i * vectors + j)]);
                }
            }
            return;
        }
        std::vector<Point> places;
        for (int i = 0; i < height; ++i) {
            for (int j = 0; j < vectors; ++j) {
                places.push_back(
                    element(point, _b.add(row, _b.index(i)), column, j, left, vectors));
                auto *start = _l.evaluate(_c.initial, places.back());
                accumulators.push_back(_b.splat(_l.convert(start, _wide), lanes));
            }
        }
        accumulators = nest_steps(0, point, row, height, column, vectors, left, accumulators);
        finish_block(places, accumulators);
    }

    /// The interchanged temporal nests, then the contracted dimensions of each product.
    Values nest_steps(size_t depth, Point &point, ir::Value *row, int height, ir::Value *column,
                      int vectors, ir::Value *left, const Values &accumulators) {
        if (depth == _c.nests.size()) {
            auto now = accumulators;
            for (size_t p = 0; p < _c.products.size(); ++p) {
                now = product_steps(p, 0, point, row, height, column, vectors, left, now);
            }
            return now;
        }
        return nest_loop(*_c.nests[depth], 0, accumulators, [&](const Values &now) {
            return nest_steps(depth + 1, point, row, height, column, vectors, left, now);
        });
    }

    /// A temporal nest as loops, binding its indices; `axis` is the domain axis that comes next.
    Values nest_loop(const ir::Operation &nest, size_t axis, const Values &states,
                     const std::function<Values(const Values &)> &body) {
        const auto &payload = nest.get<ir::NestPayload>();
        auto *region = nest.body();
        if (payload.is_range) {
            auto range = _l.range_of(nest);
            auto *begin = _panel_begin ? _panel_begin : range.begin;
            auto *end = _panel_begin ? _panel_end : range.end;
            return _b.loop(begin, end, range.step, states, [&](ir::Value *iv, const Values &now) {
                _l._scalars[region->argument(0)] = range.index(_b, iv);
                return body(now);
            });
        }
        if (axis == payload.dims.size()) {
            return body(states);
        }
        auto *end = _l.scalar_value(nest.operand(axis));
        return _b.loop(_b.index(0), end, 1, states, [&](ir::Value *iv, const Values &now) {
            _l._scalars[region->argument(axis)] = iv;
            return nest_loop(nest, axis + 1, now, body);
        });
    }

    std::vector<DimExtent> contracted(size_t product) const {
        const auto &type = *_c.products[product]->operand(0)->type();
        const auto &result = *_c.products[product]->result()->type();
        std::vector<DimExtent> dims;
        for (const auto &d : type.dims) {
            if (result.find(d.dim) < 0) {
                dims.push_back(d);
            }
        }
        return dims;
    }

    Values product_steps(size_t product, size_t depth, Point &point, ir::Value *row, int height,
                         ir::Value *column, int vectors, ir::Value *left,
                         const Values &accumulators) {
        auto dims = contracted(product);
        if (depth == dims.size()) {
            return multiply(product, point, row, height, column, vectors, left, accumulators);
        }
        auto *end = depth_end(product, dims[depth], point);
        return _b.loop(_b.index(0), end, 1, accumulators, [&](ir::Value *iv, const Values &now) {
            auto inner = point.derived();
            inner.at[dims[depth].dim.id] = {iv, 0, nullptr};
            return product_steps(product, depth + 1, inner, row, height, column, vectors, left,
                                 now);
        });
    }

    /// Steps beyond both operands multiply zeros: a reassociable product may leave them out.
    ir::Value *depth_end(size_t product, const DimExtent &dim, Point &point) {
        auto *full = _b.index(dim.extent);
        auto clip_a = load_clip(product, 0, dim), clip_b = load_clip(product, 1, dim);
        const auto &policy = _c.products[product]->get<ir::MmaPayload>().policy;
        if (!policy.allow_reassociation || !clip_a || !clip_b || !clip_a->origin ||
            !clip_b->origin || !analysis::same_scalar(clip_a->origin, clip_b->origin)) {
            return full;
        }
        bool same = clip_a->extent == clip_b->extent;
        if (same && clip_a->extent == ir::runtime_value) {
            same = clip_a->view->type()->axes[clip_a->axis].name ==
                   clip_b->view->type()->axes[clip_b->axis].name;
        }
        auto known = analysis::interval_of(clip_a->origin);
        if (!same || known.low < 0) {
            return full;
        }
        if (clip_a->extent != ir::runtime_value && known.high <= clip_a->extent - dim.extent) {
            return full;
        }
        point.clips[dim.dim.id] = *clip_a;
        auto *left = _b.sub(_l.view_extent(clip_a->view, clip_a->axis),
                            _l.scalar_value(clip_a->origin));
        return _b.minimum(full, left);
    }

    /// The load that an operand is (through casts and the like) and where `dim` stands in it.
    std::optional<Clip> load_clip(size_t product, size_t operand, const DimExtent &dim) const {
        const auto *value = _c.products[product]->operand(operand);
        while (auto *op = value->definition()) {
            if (_l._plan->home(value)) {
                return std::nullopt;
            }
            if (op->opcode() == Opcode::LOAD) {
                auto position = value->type()->find(dim.dim);
                const auto &payload = op->get<ir::LoadPayload>();
                if (position < 0 || payload.has_fallback || payload.bounds != Bounds::ZERO) {
                    return std::nullopt;
                }
                auto axis = static_cast<size_t>(position);
                return Clip{op->operand(1 + axis), op->operand(0)->type()->axes[axis].extent,
                            op->operand(0), axis};
            }
            if (op->opcode() != Opcode::CAST && op->opcode() != Opcode::BROADCAST) {
                return std::nullopt;
            }
            value = op->operand(0);
        }
        return std::nullopt;
    }

    Values multiply(size_t product, Point &point, ir::Value *row, int height, ir::Value *column,
                    int vectors, ir::Value *left, Values accumulators) {
        const auto &op = *_c.products[product];
        _b.set_location(op.loc);
        const auto *vector_operand = op.operand(_c.transposed ? 0 : 1);
        const auto *scalar_operand = op.operand(_c.transposed ? 1 : 0);
        int lanes = _columns.empty() ? 1 : _c.lanes;
        Values wide;
        for (int j = 0; j < vectors; ++j) {
            auto place = element(point, row, column, j, left, vectors);
            wide.push_back(_b.splat(_l.convert(_c.pack ? read_panel(product, place)
                                                       : _l.evaluate(vector_operand, place),
                                               _wide),
                                    lanes));
        }
        bool rounds = is_half(_type) && !op.get<ir::MmaPayload>().policy.allow_reassociation;
        for (int i = 0; i < height; ++i) {
            auto place = element(point, _b.add(row, _b.index(i)), column, 0, nullptr, vectors);
            place.lanes = 1;
            if (!_columns.empty()) {
                place.at.erase(_columns.back().dim.id);
            }
            auto *one = _b.splat(_l.convert(_l.evaluate(scalar_operand, place), _wide), lanes);
            for (int j = 0; j < vectors; ++j) {
                auto &sum = accumulators[static_cast<size_t>(i * vectors + j)];
                sum = is_float(_wide)
                          ? _b.pure(Opcode::FMA, {one, wide[static_cast<size_t>(j)], sum})
                          : _b.pure(
                                Opcode::ADD,
                                {_b.pure(Opcode::MUL, {one, wide[static_cast<size_t>(j)]}), sum});
                if (rounds) {
                    sum = _l.convert(_l.convert(sum, _type), _wide);
                }
            }
        }
        return accumulators;
    }

    void finish_block(std::vector<Point> &places, const Values &accumulators) {
        const auto *home = _l._plan->home(_c.result);
        for (size_t i = 0; i < places.size(); ++i) {
            auto *value = _l.convert(accumulators[i], _type);
            auto &place = places[i];
            if (_c.epilogue.empty()) {
                if (home) {
                    _l.write_storage(home, value, place);
                } else {
                    _l._scalars[_c.result] = value;
                }
                continue;
            }
            place.known.clear();
            place.known[_c.result] = value;
            for (const auto &root : _c.epilogue) {
                _l.emit_root(root, place);
            }
        }
    }

    // Panels: the vector operand of the whole contraction, contiguous along the vector axis.

public:
    /// The part of a launch's shared memory that all instances' panels take.
    int64_t shared_bytes(const ir::Operation &root) {
        lay_out_panels();
        int64_t bytes = _panel_bytes;
        for (auto axis : _c.shared_axes) {
            bytes *= analysis::interval_of(root.operand(axis)).low;
        }
        return bytes;
    }

    /// Fills the panels of the instance whose axes are bound.
    void run_pack() {
        lay_out_panels();
        Point point;
        fill_panels(point);
    }

private:
    void lay_out_panels() {
        _panels.clear();
        _panel_bytes = 0;
        auto axis = _columns.empty() ? DimExtent{Dim{}, 1} : _columns.back();
        int64_t width = (axis.extent + _c.lanes - 1) / _c.lanes * _c.lanes;
        auto bytes = static_cast<int64_t>(size_of(_wide));
        for (size_t p = 0; p < _c.products.size(); ++p) {
            Panel panel;
            panel.width = width;
            panel.depth = panel_depth(p);
            auto size = (panel.depth * width * bytes + 127) / 64 * 64;
            panel.offset = _c.shared ? _panel_bytes : _l.allocate_bytes(size);
            _panel_bytes += size;
            _panels.push_back(panel);
        }
    }

    void fill_panels(Point &point) {
        nest_positions(0, _b.index(0), [&](ir::Value *position) {
            for (size_t p = 0; p < _c.products.size(); ++p) {
                fill_panel(p, 0, point, position);
            }
        });
        _b.forget_reads();
    }

    /// Steps of all nests together; every nest must have a static trip count to have panels.
    int64_t trips(const ir::Operation &nest) const {
        const auto &payload = nest.get<ir::NestPayload>();
        auto at = [&](size_t i) {
            auto known = analysis::interval_of(nest.operand(i));
            if (known.low != known.high) {
                throw UnsupportedError{"a product whose vector operand is not contiguous needs a "
                                       "static trip count on the CPU",
                                       nest.loc};
            }
            return known.low;
        };
        if (payload.is_range) {
            auto begin = at(0), end = at(1), step = at(2);
            return step > 0 ? std::max<int64_t>(0, (end - begin + step - 1) / step)
                            : std::max<int64_t>(0, (begin - end - step - 1) / -step);
        }
        int64_t count = 1;
        for (size_t i = 0; i < payload.dims.size(); ++i) {
            count *= at(i);
        }
        return count;
    }

    int64_t panel_depth(size_t product) const {
        int64_t depth = 1;
        for (const auto *nest : _c.nests) {
            depth *= trips(*nest);
        }
        for (const auto &d : contracted(product)) {
            depth *= d.extent;
        }
        return depth;
    }

    void nest_positions(size_t depth, ir::Value *position,
                        const std::function<void(ir::Value *)> &body) {
        if (depth == _c.nests.size()) {
            return body(position);
        }
        nest_loop(*_c.nests[depth], 0, {}, [&](const Values &) {
            auto *here = _b.add(_b.mul(position, _b.index(trips(*_c.nests[depth]))),
                                step_number(*_c.nests[depth]));
            nest_positions(depth + 1, here, body);
            return Values{};
        });
    }

    /// How many steps came before the current one of a nest.
    ir::Value *step_number(const ir::Operation &nest) {
        const auto &payload = nest.get<ir::NestPayload>();
        auto *region = nest.body();
        if (payload.is_range) {
            auto *from = _b.sub(_l._scalars.at(region->argument(0)),
                                _l.scalar_value(nest.operand(0)));
            return _b.pure(Opcode::DIV, {from, _l.scalar_value(nest.operand(2))});
        }
        auto *number = _b.index(0);
        for (size_t i = 0; i < payload.dims.size(); ++i) {
            number = _b.add(_b.mul(number, _l.scalar_value(nest.operand(i))),
                            _l._scalars.at(region->argument(i)));
        }
        return number;
    }

    ir::Value *panel_row(size_t product, ir::Value *position, const Point &point) {
        auto *row = position;
        for (const auto &d : contracted(product)) {
            row = _b.add(_b.mul(row, _b.index(d.extent)),
                         d.extent == 1 ? _b.index(0) : point.at.at(d.dim.id).base);
        }
        return row;
    }

    ir::Value *panel_address(size_t product, ir::Value *row, ir::Value *column) {
        const auto &panel = _panels[product];
        auto *index = _b.add(_b.mul(row, _b.index(panel.width)), column);
        auto *base = _b.address(_l._scratch, nullptr, 1, panel.offset);
        if (_c.shared) {
            // One set of panels for each combination of the axes that they depend on.
            auto *instance = _b.index(0);
            for (auto axis : _c.shared_axes) {
                const auto &root = *_l._root;
                instance = _b.add(_b.mul(instance, _l.scalar_value(root.operand(axis))),
                                  _l._scalars.at(root.body()->argument(axis)));
            }
            auto start = _l._shared_offsets.at(&_c) + panel.offset;
            base = _b.address(_b.address(_l._shared, instance, _panel_bytes), nullptr, 1, start);
        }
        return _b.address(base, index, static_cast<int64_t>(size_of(_wide)));
    }

    void fill_panel(size_t product, size_t depth, Point &point, ir::Value *position) {
        auto dims = contracted(product);
        const auto *operand = _c.products[product]->operand(_c.transposed ? 0 : 1);
        if (depth < dims.size()) {
            _b.loop(_b.index(0), _b.index(dims[depth].extent), 1, {},
                    [&](ir::Value *iv, const Values &) {
                        auto inner = point.derived();
                        inner.at[dims[depth].dim.id] = {iv, 0, nullptr};
                        fill_panel(product, depth + 1, inner, position);
                        return Values{};
                    });
            return;
        }
        auto *row = panel_row(product, position, point);
        auto axis = _columns.empty() ? DimExtent{Dim{}, 1} : _columns.back();
        auto align = static_cast<uint32_t>(size_of(_wide));
        _l.vector_loop(axis.dim, _b.index(axis.extent), axis.extent,
                       _columns.empty() ? 1 : _c.lanes, 1, point, {},
                       [&](Point &inner, int, const Values &) {
                           auto *column = axis.extent == 1 && _columns.empty()
                                              ? _b.index(0)
                                              : inner.at.at(axis.dim.id).base;
                           auto *value = _l.convert(_l.evaluate(operand, inner), _wide);
                           value = _b.splat(value, _columns.empty() ? 1 : _c.lanes);
                           // Lanes past the end are padding of the panel.
                           _b.effect(Opcode::WRITE, {panel_address(product, row, column), value},
                                     ir::MemoryPayload{align, false, false});
                           return Values{};
                       });
    }

    ir::Value *read_panel(size_t product, const Point &place) {
        auto *position = _b.index(0);
        for (const auto *nest : _c.nests) {
            position = _b.add(_b.mul(position, _b.index(trips(*nest))), step_number(*nest));
        }
        auto *row = panel_row(product, position, place);
        auto *column = _columns.empty() ? _b.index(0) : place.at.at(_columns.back().dim.id).base;
        int lanes = _columns.empty() ? 1 : _c.lanes;
        auto *type = lanes > 1 ? _b.module().vector(_wide, static_cast<uint16_t>(lanes))
                               : _b.module().scalar(_wide);
        auto align = static_cast<uint32_t>(size_of(_wide));
        return _b.stable_read(Opcode::READ, {panel_address(product, row, column)},
                              ir::MemoryPayload{align, false, false}, type);
    }

    struct Panel {
        int64_t offset = 0, width = 0, depth = 0;
    };

    Lowering &_l;
    MachineBuilder &_b;
    const Contraction &_c;
    std::vector<DimExtent> _columns, _rows;
    ScalarType _type{}, _wide{};
    std::unordered_map<uint32_t, ir::Value *> _ends;
    std::vector<Panel> _panels;
    int64_t _panel_bytes = 0;                                ///< of all panels of one instance
    ir::Value *_panel_begin = nullptr, *_panel_end = nullptr;///< steps of the current panel
    int64_t _sum_offset = 0, _sum_width = 0;                 ///< partial sums between panels
};

void Lowering::lower_pack(const plan::Contraction &contraction, const ir::Operation &root,
                          const std::string &name, Phase &out) {
    _shared_offsets[&contraction] = _shared_used;
    begin_function(name);
    _root = &root;
    ContractionLowering packing{*this, contraction};
    _shared_used += (packing.shared_bytes(root) + 63) / 64 * 64;
    out.function = name;
    out.task_count = 1;
    std::vector<std::pair<size_t, ir::Value *>> axes;
    for (auto axis : contraction.shared_axes) {
        auto extent = analysis::interval_of(root.operand(axis)).low;
        out.task_count *= extent;
        axes.emplace_back(axis, _b.index(extent));
    }
    _b.loop(_begin, _end, 1, {}, [&](ir::Value *task, const Values &) {
        auto *rest = task;
        for (size_t i = axes.size(); i-- > 0;) {
            _scalars[root.body()->argument(axes[i].first)] = i == 0 ? rest
                                                                    : _b.rem(rest, axes[i].second);
            rest = i == 0 ? rest : _b.div(rest, axes[i].second);
        }
        _b.forget_reads();
        packing.run_pack();
        return Values{};
    });
}

void Lowering::lower_contraction(const Contraction &contraction) {
    ContractionLowering{*this, contraction}.run();
}

}// namespace luisa::tile::cpu

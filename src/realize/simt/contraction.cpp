// SPDX-License-Identifier: Apache-2.0
#include "realize/simt/block_lowering.h"

#include <algorithm>

// Products: each thread holds a block of the result in registers through all steps, which keeps their order. Its
// columns lie as far apart as there are blocks, so that neighbouring threads read and write neighbours.

namespace luisa::tile::simt {

using ir::DimExtent;
using ir::Opcode;

class ThreadContraction {
public:
    ThreadContraction(BlockLowering &lowering, const plan::Contraction &contraction)
        : _l{lowering}, _b{lowering._b}, _c{contraction}, _type{contraction.result->scalar()} {
        auto of = [](const std::vector<DimExtent> &dims) {
            std::vector<DimExtent> kept;
            std::copy_if(dims.begin(), dims.end(), std::back_inserter(kept),
                         [](const DimExtent &d) { return d.extent != 1; });
            return kept;
        };
        _batch = of(_c.roles.batch);
        _columns = of(_c.transposed ? _c.roles.rows : _c.roles.columns);
        _rows = of(_c.transposed ? _c.roles.columns : _c.roles.rows);
        bool half = _type == ScalarType::FLOAT16 || _type == ScalarType::BFLOAT16;
        // Narrow accumulators are kept in f32; ordered ones round to their type at every step.
        _wide = half ? ScalarType::FLOAT32 : _type;
        _rounds_narrow = half;
    }

    void run() {
        Point point;
        auto space = _batch;
        space.insert(space.end(), _rows.begin(), _rows.end());
        space.insert(space.end(), _columns.begin(), _columns.end());
        _ends = _l.clip_loops(_c.epilogue, space, point);
        // A scalar is the same sum in all threads.
        if (space.empty() && _c.epilogue.empty() && _c.result->type()->is_scalar()) {
            return block(point);
        }
        auto blocks = space;
        for (auto &d : blocks) {
            auto size = size_of_block(d);
            d.extent = (d.extent + size - 1) / size;
        }
        _l.deal_out(blocks, {}, point, [&](Point &inner) { inside(space, inner); });
    }

private:
    /// How many elements along a dimension one thread holds.
    [[nodiscard]] int64_t size_of_block(const DimExtent &d) const {
        return !_columns.empty() && d.dim == _columns.back().dim ? _c.vectors
               : !_rows.empty() && d.dim == _rows.back().dim     ? _c.rows
                                                                 : 1;
    }
    [[nodiscard]] ir::Value *end_of(const DimExtent &d) {
        auto found = _ends.find(d.dim.id);
        return found == _ends.end() ? _b.index(d.extent) : found->second;
    }

    /// Nothing is done for a block whose first element does not exist.
    void inside(const std::vector<DimExtent> &space, Point &point) {
        ir::Value *exists = nullptr;
        for (const auto &d : space) {
            int64_t known = 0;
            auto *end = end_of(d);
            if (!MachineBuilder::is_constant(end, known) || known < d.extent) {
                exists = _b.both(exists, _b.compare(Opcode::LT, point.at.at(d.dim.id).base, end));
            }
        }
        if (!exists) {
            return block(point);
        }
        _b.branch(
            exists,
            [&] {
                block(point);
                return Values{};
            },
            [] { return Values{}; });
    }

    struct Element {
        Point at;
        ir::Value *exists = nullptr;///< null: always
    };
    /// Element `i` of the block along the last of `dims`. For one that does not exist stands the first one of the
    /// same thread: another thread may be writing any other.
    void move(Element &element, const std::vector<DimExtent> &dims, int i) {
        if (dims.empty()) {
            return;
        }
        const auto &d = dims.back();
        auto size = size_of_block(d);
        auto blocks = (d.extent + size - 1) / size;
        auto &at = element.at.at[d.dim.id];
        auto *first = at.base;
        at.base = _b.add(first, _b.index(i * blocks));
        int64_t known = 0;
        auto *end = end_of(d);
        bool whole = MachineBuilder::is_constant(end, known) && known >= size * blocks;
        if (i > 0 && !whole) {
            auto *exists = _b.compare(Opcode::LT, at.base, end);
            element.exists = _b.both(element.exists, exists);
            at.base = _l.select(exists, at.base, first);
        }
    }
    Element element(const Point &point, int row, int column) {
        Element e{point.derived(), nullptr};
        move(e, _rows, row);
        move(e, _columns, column);
        return e;
    }
    [[nodiscard]] int rows() const { return _rows.empty() ? 1 : _c.rows; }
    [[nodiscard]] int columns() const { return _columns.empty() ? 1 : _c.vectors; }

    void block(Point &point) {
        std::vector<Element> elements;
        Values sums;
        for (int i = 0; i < rows(); ++i) {
            for (int j = 0; j < columns(); ++j) {
                elements.push_back(element(point, i, j));
                sums.push_back(_l.convert(_l.evaluate(_c.initial, elements.back().at), _wide));
            }
        }
        sums = steps(0, point, sums);
        for (size_t i = 0; i < elements.size(); ++i) {
            finish(elements[i], sums[i]);
        }
    }

    void finish(Element &element, ir::Value *sum) {
        auto *value = _l.convert(sum, _type);
        auto write = [&] {
            auto place = element.at.derived();
            if (_c.epilogue.empty()) {
                if (const auto *home = _l._plan->home(_c.result)) {
                    _l.write_storage(home, value, place);
                } else {
                    _l._scalars[_c.result] = value;
                }
                return Values{};
            }
            place.known[_c.result] = value;
            for (const auto &root : _c.epilogue) {
                _l.emit_root(root, place);
            }
            return Values{};
        };
        if (element.exists) {
            _b.branch(element.exists, write, [] { return Values{}; });
        } else {
            write();
        }
    }

    /// The temporal nests, then the contracted dimensions of each product.
    Values steps(size_t depth, Point &point, const Values &sums) {
        if (depth == _c.nests.size()) {
            auto now = sums;
            for (size_t p = 0; p < _c.products.size(); ++p) {
                now = product(p, contracted(p), 0, point, now);
            }
            return now;
        }
        return nest(*_c.nests[depth], 0, sums,
                    [&](const Values &now) { return steps(depth + 1, point, now); });
    }

    Values nest(const ir::Operation &op, size_t axis, const Values &states,
                const std::function<Values(const Values &)> &body) {
        const auto &payload = op.get<ir::NestPayload>();
        if (payload.is_range) {
            auto range = _l.range_of(op);
            return _b.loop(range.begin, range.end, range.step, states,
                           [&](ir::Value *iv, const Values &now) {
                               _l._scalars[op.body()->argument(0)] = range.index(_b, iv);
                               return body(now);
                           });
        }
        if (axis == payload.dims.size()) {
            return body(states);
        }
        auto *end = _l.scalar_value(op.operand(axis));
        return _b.loop(_b.index(0), end, 1, states, [&](ir::Value *iv, const Values &now) {
            _l._scalars[op.body()->argument(axis)] = iv;
            return nest(op, axis + 1, now, body);
        });
    }

    [[nodiscard]] std::vector<DimExtent> contracted(size_t product) const {
        const auto &result = *_c.products[product]->result()->type();
        std::vector<DimExtent> dims;
        for (const auto &d : _c.products[product]->operand(0)->type()->dims) {
            if (result.find(d.dim) < 0) {
                dims.push_back(d);
            }
        }
        return dims;
    }

    Values product(size_t p, const std::vector<DimExtent> &dims, size_t depth, Point &point,
                   const Values &sums) {
        if (depth == dims.size()) {
            return multiply(*_c.products[p], point, sums);
        }
        return _b.loop(_b.index(0), _b.index(dims[depth].extent), 1, sums,
                       [&](ir::Value *iv, const Values &now) {
                           auto inner = point.derived();
                           inner.at[dims[depth].dim.id] = {iv, 0, nullptr};
                           return product(p, dims, depth + 1, inner, now);
                       });
    }

    Values multiply(const ir::Operation &op, Point &point, Values sums) {
        _b.set_location(op.loc);
        Values wide, tall;
        for (int j = 0; j < columns(); ++j) {
            auto place = element(point, 0, j).at;
            wide.push_back(operand(op, _c.transposed ? 0 : 1, place));
        }
        for (int i = 0; i < rows(); ++i) {
            auto place = element(point, i, 0).at;
            tall.push_back(operand(op, _c.transposed ? 1 : 0, place));
        }
        bool rounds = _rounds_narrow && !op.get<ir::MmaPayload>().policy.allow_reassociation;
        for (size_t i = 0; i < sums.size(); ++i) {
            auto *a = tall[i / wide.size()], *b = wide[i % wide.size()];
            sums[i] = is_float(_wide)
                          ? _b.pure(Opcode::FMA, {a, b, sums[i]})
                          : _b.pure(Opcode::ADD, {_b.pure(Opcode::MUL, {a, b}), sums[i]});
            sums[i] = rounds ? _l.convert(_l.convert(sums[i], _type), _wide) : sums[i];
        }
        return sums;
    }
    ir::Value *operand(const ir::Operation &op, size_t i, Point &place) {
        return _l.convert(_l.evaluate(op.operand(i), place), _wide);
    }

    BlockLowering &_l;
    MachineBuilder &_b;
    const plan::Contraction &_c;
    ScalarType _type{}, _wide{};
    bool _rounds_narrow = false;
    std::vector<DimExtent> _batch, _rows, _columns;
    BlockLowering::Ends _ends;
};

void BlockLowering::lower_contraction(const plan::Contraction &c) {
    _b.forget_reads();
    _written.clear();
    _stores_in_step = !c.epilogue.empty();
    if (const auto *home = _plan->home(c.result)) {
        _written.insert(home);
    }
    for (const auto &root : c.epilogue) {
        if (root.target) {
            _written.insert(_plan->home(root.target));
        }
    }
    if (c.stage && !_alone_in_team && _alone == 0) {
        lower_staged(c);
    } else {
        ThreadContraction{*this, c}.run();
    }
    end_group();
    _stores_in_step = false;
}

}// namespace luisa::tile::simt

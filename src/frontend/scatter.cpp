// SPDX-License-Identifier: Apache-2.0
#include <luisa/tile/scatter.h>

#include "frontend/element_maps.h"
#include "ir/check_operations.h"

// scatter as an ordered loop over contributions; what is built from it is in histograms.cpp.

namespace luisa::tile::core {

using ir::DimExtent;
using ir::Opcode;

namespace {

/// A tile that a loop carries.
class Carried {
public:
    Carried(Value *initial, SourceLoc loc) : _variable{declare(initial, loc)} {}
    Carried(const Carried &) = delete;
    Carried &operator=(const Carried &) = delete;
    ~Carried() { destroy(_variable); }
    [[nodiscard]] Value *read(SourceLoc loc) const { return core::read(_variable, loc); }
    void assign(Value *value, SourceLoc loc) { core::assign(_variable, value, loc); }

private:
    Variable *_variable;
};

const char *elementwise_name(Reducer reducer) {
    static constexpr ReducerFunction functions[] = {add,     multiply, minimum,     maximum,
                                                    fmin,    fmax,     logical_and, logical_or,
                                                    bit_and, bit_or,   bit_xor};
    for (const auto &function : functions) {
        if (function.reducer == reducer) {
            return function.op;
        }
    }
    internal_error("a reducer without an elementwise form");
}

/// The dimensions of `to` and those of `from` that it lacks; an extent of one gives way to another.
void join(std::vector<DimExtent> &to, const Value *from, SourceLoc loc) {
    for (const auto &d : from->type()->dims) {
        auto known = std::find_if(to.begin(), to.end(),
                                  [&](const DimExtent &t) { return t.dim == d.dim; });
        if (known == to.end()) {
            to.push_back(d);
        } else if (known->extent == 1) {
            known->extent = d.extent;
        } else if (d.extent != 1 && d.extent != known->extent) {
            fail(ErrorKind::SHAPE,
                 "scatter: a dimension has extent " + std::to_string(known->extent) +
                     " in one tile and " + std::to_string(d.extent) + " in another",
                 loc, made_at(from, "the other tile made here"));
        }
    }
}

bool has(const std::vector<DimExtent> &dims, Dim dim) {
    return std::any_of(dims.begin(), dims.end(), [&](const DimExtent &d) { return d.dim == dim; });
}

IndexSpace space_of(const std::vector<DimExtent> &dims, SourceLoc loc) {
    Shape shape;
    shape.loc = loc;
    for (const auto &d : dims) {
        shape.entries.push_back({d.dim, Index{d.extent, loc}});
    }
    return {shape};
}

/// Where a loop over dimensions stands.
struct Place {
    std::vector<DimExtent> dims;
    std::vector<Value *> at;

    /// x at this place: what remains are dimensions that the loop does not go over.
    [[nodiscard]] Value *part_of(Value *x, SourceLoc loc) const {
        auto &c = current(loc);
        ir::AccessPayload payload;
        std::vector<Value *> operands{x};
        std::vector<DimExtent> rest;
        for (const auto &d : x->type()->dims) {
            auto found = std::find_if(dims.begin(), dims.end(),
                                      [&](const DimExtent &l) { return l.dim == d.dim; });
            if (found == dims.end()) {
                rest.push_back(d);
                continue;
            }
            payload.dims.push_back(d.dim);
            operands.push_back(d.extent == 1 ? integer(c, 0, loc)
                                             : at[static_cast<size_t>(found - dims.begin())]);
        }
        return payload.dims.empty() ? x
                                    : emit_value(c, Opcode::EXTRACT, operands,
                                                 c.module->tile(x->scalar(), rest), payload, loc);
    }
};

/// `part` with exactly these dimensions.
Value *broadcast_to(Capture &c, Value *part, const std::vector<DimExtent> &dims, SourceLoc loc) {
    return part->type()->dims == dims
               ? part
               : emit_value(c, Opcode::BROADCAST, {part}, c.module->tile(part->scalar(), dims),
                            ir::None{}, loc);
}

/// x with a part replaced; outside of x nothing is.
Value *insert_part(Capture &c, Value *x, const Place &target, Value *part, SourceLoc loc) {
    ir::AccessPayload payload;
    std::vector<Value *> operands{x, part};
    for (size_t i = 0; i < target.dims.size(); ++i) {
        payload.dims.push_back(target.dims[i].dim);
        operands.push_back(target.at[i]);
    }
    return emit_value(c, Opcode::INSERT, operands, x->type(), payload, loc);
}

/// Runs `body` once for every place of `dims`, in order.
template<class F> void for_each_place(std::vector<DimExtent> dims, SourceLoc loc, const F &body) {
    if (dims.empty()) {
        return body(Place{});
    }
    auto range = serial(space_of(dims, loc), loc);
    for (auto &nest : range) {
        Place place{dims, {}};
        for (size_t i = 0; i < dims.size(); ++i) {
            place.at.push_back(nest.index(static_cast<int>(i), loc).value(loc));
        }
        body(place);
    }
}

void check_types(const Value *target, ScalarType element, const Value *values, ScatterRule rule,
                 SourceLoc loc) {
    if (values->scalar() != element) {
        fail(ErrorKind::TYPE,
             std::string{"scatter: values of "} + to_string(values->scalar()) +
                 " into elements of " + to_string(element) + "; write cast<T>(…)",
             loc, made_at(target, "target made here"));
    }
    if (rule.kind != ScatterRule::Kind::REDUCE) {
        return;
    }
    if (!ir::folds(rule.reducer, element)) {
        fail(ErrorKind::TYPE,
             std::string{"scatter: this reducer does not combine "} + to_string(element) +
                 "; cast the tiles first",
             loc);
    }
}

struct AtomicReducer {
    Reducer reducer;
    AtomicOp op;
};
constexpr AtomicReducer atomic_reducers[] = {
    {Reducer::ADD, AtomicOp::ADD},         {Reducer::MINIMUM, AtomicOp::MINIMUM},
    {Reducer::MAXIMUM, AtomicOp::MAXIMUM}, {Reducer::BIT_AND, AtomicOp::AND},
    {Reducer::BIT_OR, AtomicOp::OR},       {Reducer::BIT_XOR, AtomicOp::XOR},
};

/// The atomic update that does what the rule asks for, where it is to be atomic; null: load and store.
const AtomicOp *atomic_for(ScatterRule rule, ScalarType type, bool wanted, SourceLoc loc) {
    if (rule.kind == ScatterRule::Kind::REDUCE && (wanted || is_integer(type))) {
        for (const auto &row : atomic_reducers) {
            if (row.reducer == rule.reducer && ir::supports_atomic(row.op, type)) {
                return &row.op;
            }
        }
    }
    if (wanted) {
        fail(ErrorKind::UNSUPPORTED,
             std::string{"scatter: no atomic update combines elements of "} + to_string(type) +
                 " so; there are add, minimum and maximum of integers, f16, bf16, f32 and f64, and "
                 "bit_and, bit_or and bit_xor of integers",
             loc);
    }
    return nullptr;
}

}// namespace

namespace {

/// The loops of a scatter into a tile: over what decides the target beside the axis, then over contributions.
struct TileLoops {
    std::vector<DimExtent> dims;
    size_t batches = 0;
};

TileLoops loops_of(const Value *x, Dim axis, const Value *index, const Value *values,
                   SourceLoc loc) {
    const auto &own = x->type()->dims;
    std::vector<DimExtent> joined;
    join(joined, values, loc);
    join(joined, index, loc);
    TileLoops loops;
    for (const auto &d : own) {
        auto found = std::find_if(joined.begin(), joined.end(),
                                  [&](const DimExtent &j) { return j.dim == d.dim; });
        if (d.dim == axis || found == joined.end()) {
            continue;
        }
        if (found->extent != d.extent && found->extent != 1) {
            fail(ErrorKind::SHAPE,
                 "scatter: a dimension has extent " + std::to_string(d.extent) +
                     " in the tile and " + std::to_string(found->extent) +
                     " in the values or the index",
                 loc, made_at(x, "tile made here"));
        }
        if (index->type()->find(d.dim) >= 0) {
            loops.dims.push_back(d);
        }
    }
    loops.batches = loops.dims.size();
    for (const auto &d : joined) {
        if (d.dim == axis || !has(own, d.dim)) {
            loops.dims.push_back(d);
        }
    }
    return loops;
}

}// namespace

Value *scatter(Value *x, Dim axis, Value *index, Value *values, ScatterRule rule, SourceLoc loc) {
    auto &c = current(loc);
    if (x->type()->find(axis) < 0) {
        fail(ErrorKind::INDEX,
             "scatter: the tile of shape " + shape_text(x) +
                 " has no such axis; scatter along one of its own",
             loc, made_at(x, "tile made here"));
    }
    check_types(x, x->scalar(), values, rule, loc);
    auto loops = loops_of(x, axis, index, values, loc);
    auto batches = static_cast<std::ptrdiff_t>(loops.batches);
    Carried result{x, loc};
    for_each_place(loops.dims, loc, [&](const Place &place) {
        Place target{{place.dims.begin(), place.dims.begin() + batches},
                     {place.at.begin(), place.at.begin() + batches}};
        target.dims.push_back({axis, INT64_MAX});
        target.at.push_back(place.part_of(index, loc));
        auto *now = result.read(loc);
        auto *old = target.part_of(now, loc);
        auto *part = place.part_of(values, loc);
        part = rule.kind == ScatterRule::Kind::REDUCE
                   ? elementwise(elementwise_name(rule.reducer), {old, part}, loc)
                   : broadcast_to(c, part, old->type()->dims, loc);
        result.assign(insert_part(c, now, target, part, loc), loc);
    });
    return result.read(loc);
}

namespace {

/// One scatter into a view: indices address its first dimensions, the rest of the values the others.
struct ViewScatter {
    const ViewHandle &view;
    const std::vector<Value *> &indices;
    Value *values;
    ScatterRule rule;
    const AtomicOp *atomic;///< null: load and store
    SourceLoc loc;
    std::vector<DimExtent> joined{}, rest{};

    /// Finds what is joined, and which dimensions of the values are a box in the view.
    void split() {
        std::vector<DimExtent> indexed;
        for (auto *index : indices) {
            join(indexed, index, loc);
        }
        join(joined, values, loc);
        for (auto *index : indices) {
            join(joined, index, loc);
        }
        auto rank = view->parameter->type()->rank();
        if (indices.size() < rank) {
            for (const auto &d : values->type()->dims) {
                if (!has(indexed, d.dim)) {
                    rest.push_back(d);
                }
            }
        }
        if (indices.size() + rest.size() != rank) {
            fail(ErrorKind::SHAPE,
                 "scatter: the view has rank " + std::to_string(rank) + ", " +
                     std::to_string(indices.size()) + " index tiles are given and " +
                     std::to_string(rest.size()) +
                     " dimensions of the values have no index; together they are the dimensions "
                     "of the view, as in scatter(view, {rows, columns}, …)",
                 loc);
        }
    }

    [[nodiscard]] Coord target(const Place &place) const {
        Coord at;
        at.loc = loc;
        for (auto *index : indices) {
            at.parts.emplace_back(Index{place.part_of(index, loc), loc}, loc);
        }
        return at;
    }

    [[nodiscard]] Value *combined(Value *old, Value *value) const {
        return rule.kind == ScatterRule::Kind::REDUCE
                   ? elementwise(elementwise_name(rule.reducer), {old, value}, loc)
                   : value;
    }

    void by_elements() const {
        for_each_place(joined, loc, [&](const Place &place) {
            auto at = target(place);
            for (const auto &d : rest) {
                auto found = std::find(place.dims.begin(), place.dims.end(), d);
                at.parts.emplace_back(
                    Index{place.at.at(static_cast<size_t>(found - place.dims.begin())), loc}, loc);
            }
            auto *value = place.part_of(values, loc);
            if (atomic) {
                (void)atomic_element(view, at, *atomic, value, nullptr, loc);
                return;
            }
            bool reads = rule.kind == ScatterRule::Kind::REDUCE;
            auto *old = reads ? load_element(view, at, loc) : nullptr;
            store_element(view, at, combined(old, value), loc);
        });
    }

    /// A box a contribution: what the vectors run over.
    void by_boxes() const {
        std::vector<DimExtent> loops;
        for (const auto &d : joined) {
            if (!has(rest, d.dim)) {
                loops.push_back(d);
            }
        }
        Shape box;
        box.loc = loc;
        for (size_t i = 0; i < indices.size(); ++i) {
            box.entries.push_back({dim("target"), Index{1, loc}});
        }
        for (const auto &d : rest) {
            box.entries.push_back({d.dim, Index{d.extent, loc}});
        }
        for_each_place(loops, loc, [&](const Place &place) {
            auto at = target(place);
            for (size_t i = 0; i < rest.size(); ++i) {
                at.parts.emplace_back(0, loc);
            }
            auto *value = place.part_of(values, loc);
            bool reads = rule.kind == ScatterRule::Kind::REDUCE;
            auto *old = reads ? load(view, at, box, Bounds::ZERO, nullptr, loc) : nullptr;
            store(view, at, box, Bounds::ZERO, combined(old, value), loc);
        });
    }
};

}// namespace

void scatter(const ViewHandle &view, const std::vector<Value *> &indices, Value *values,
             ScatterRule rule, ScatterOptions options, SourceLoc loc) {
    auto element = view->parameter->scalar();
    check_types(view->parameter, element, values, rule, loc);
    const auto *atomic = atomic_for(rule, element, options.atomic, loc);
    ViewScatter request{view, indices, values, rule, atomic, loc};
    request.split();
    if (atomic || request.rest.empty()) {
        request.by_elements();
    } else {
        request.by_boxes();
    }
}

}// namespace luisa::tile::core

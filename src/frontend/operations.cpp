// SPDX-License-Identifier: Apache-2.0
#include "frontend/element_maps.h"

#include "ir/check_operations.h"
#include "types/constant.h"

#include <algorithm>

namespace luisa::tile::core {

using ir::DimExtent;
using ir::Opcode;

namespace {

Opcode opcode_of(const char *name) {
    Opcode op{};
    require(ir::parse_opcode(name, op), "the surface names an unknown operation");
    return op;
}

Value *index_constant(Capture &c, int64_t value, SourceLoc loc) {
    return emit_value(c, Opcode::CONSTANT, {}, c.module->scalar(ScalarType::INT64),
                      ir::ConstantPayload{static_cast<uint64_t>(value)}, loc);
}

}// namespace

Value *constant_bits(ScalarType type, uint64_t bits, SourceLoc loc) {
    auto &c = current(loc);
    return emit_value(c, Opcode::CONSTANT, {}, c.module->scalar(type), ir::ConstantPayload{bits},
                      loc);
}

Value *constant(ScalarType type, Literal literal, SourceLoc loc) {
    auto &c = current(loc);
    auto bits = guarded(c, [&] {
        switch (literal.kind) {
            case Literal::Kind::SIGNED: return encode_literal(type, literal.i, loc);
            case Literal::Kind::UNSIGNED: return encode_literal(type, literal.u, loc);
            default: return encode_literal(type, literal.d, loc);
        }
    });
    return constant_bits(type, bits, loc);
}

Value *elementwise(const char *name, std::initializer_list<Value *> operands, SourceLoc loc) {
    auto &c = current(loc);
    auto op = opcode_of(name);
    ir::Payload payload = ir::None{};
    if (ir::info(op).family == ir::Family::MATH) {
        payload = ir::MathPayload{c.options.math};
    }
    require_visible(c, operands, loc);
    c.builder.loc = loc;
    auto *value = guarded(c, [&] { return c.builder.elementwise(op, operands, payload); });
    return value;
}

static Value *convert(Opcode op, Value *x, ScalarType to, ir::Payload payload, SourceLoc loc) {
    auto &c = current(loc);
    return emit_value(c, op, {x}, c.module->tile(to, x->type()->dims), std::move(payload), loc);
}

Value *cast(Value *x, ScalarType to, SourceLoc loc) {
    if (is_float(to) && !info(to).computes) {
        fail(ErrorKind::TYPE,
             std::string{"cast: "} + to_string(to) +
                 " needs a named overflow rule; cast<float> first, quantize after",
             loc, made_at(x, "operand made here"));
    }
    return x->scalar() == to ? x : convert(Opcode::CAST, x, to, ir::None{}, loc);
}

Value *bitcast(Value *x, ScalarType to, SourceLoc loc) {
    if (size_of(x->scalar()) != size_of(to) ||
        (x->scalar() == ScalarType::BOOL) != (to == ScalarType::BOOL)) {
        fail(ErrorKind::TYPE,
             std::string{"bitcast: "} + to_string(x->scalar()) + " has " +
                 std::to_string(info(x->scalar()).bits) + " bits, " + to_string(to) + " has " +
                 std::to_string(info(to).bits) + "; widths must agree, and bool has no bit form",
             loc);
    }
    return convert(Opcode::BITCAST, x, to, ir::None{}, loc);
}

Value *quantize(Value *x, ScalarType to, bool saturate, SourceLoc loc) {
    if (x->scalar() != ScalarType::FLOAT32 || !is_float(to) || size_of(to) != 1) {
        fail(ErrorKind::TYPE,
             std::string{"quantize: from "} + to_string(x->scalar()) + " to " + to_string(to) +
                 "; it rounds f32 to e4m3fn or e5m2",
             loc);
    }
    return convert(Opcode::QUANTIZE, x, to, ir::QuantizePayload{saturate}, loc);
}

std::vector<DimExtentInfo> dims_of(Value *x) {
    std::vector<DimExtentInfo> dims;
    for (const auto &d : x->type()->dims) {
        dims.push_back({d.dim, d.extent});
    }
    return dims;
}

Value *require_scalar(Value *x, const char *what, SourceLoc loc) {
    auto &c = current(loc);
    if (auto *fitted = fit_dims(c, x, {}, loc)) {
        return fitted;
    }
    fail(ErrorKind::SHAPE,
         std::string{what} + " has shape " + shape_text(x) + ", expected a single element", loc,
         made_at(x, "made here"));
}

Value *index_of(Value *integer, SourceLoc loc) { return cast(integer, ScalarType::INT64, loc); }

int rank_of(Value *x) { return static_cast<int>(x->type()->rank()); }

Axis axis_of(Value *x, int i, SourceLoc loc) {
    const auto &dims = x->type()->dims;
    if (i < 0 || static_cast<size_t>(i) >= dims.size()) {
        fail(ErrorKind::INDEX,
             "axis " + std::to_string(i) + " of a tile of rank " + std::to_string(dims.size()), loc,
             made_at(x, "tile made here"));
    }
    const auto &d = dims[static_cast<size_t>(i)];
    return {d.dim, d.extent, loc};
}

Shape shape_of(Value *x, SourceLoc loc) {
    Shape s;
    s.loc = loc;
    for (const auto &d : x->type()->dims) {
        s.entries.push_back({d.dim, Index{d.extent, loc}});
    }
    return s;
}

IndexSpace domain_of(Value *x, std::initializer_list<DimArg> dims, SourceLoc loc) {
    Shape s;
    s.loc = loc;
    for (const auto &arg : dims) {
        if (!arg.present) {
            continue;
        }
        auto at = x->type()->find(arg.dim);
        if (at < 0) {
            fail(ErrorKind::INDEX,
                 "domain: the tile of shape " + shape_text(x) + " has no such dimension", loc,
                 made_at(x, "tile made here"));
        }
        for (const auto &entry : s.entries) {
            if (entry.dim == arg.dim) {
                fail(ErrorKind::VALUE, "domain: a dimension is given twice", loc,
                     made_at(x, "tile made here"));
            }
        }
        s.entries.push_back({arg.dim, Index{x->type()->dims[static_cast<size_t>(at)].extent, loc}});
    }
    return s;
}

std::vector<DimExtent> static_dims(const Shape &shape, SourceLoc loc) {
    std::vector<DimExtent> dims;
    for (const auto &entry : shape.entries) {
        if (!entry.extent.is_static()) {
            fail(ErrorKind::CONSTRAINT,
                 "a tile shape is static, and this extent is known at launch only; use a static "
                 "tile "
                 "extent and a loop",
                 loc, {{"extent made here", entry.extent.location()}});
        }
        auto extent = int64_t(entry.extent);
        if (extent < 0) {
            fail(ErrorKind::VALUE, "extent must be >= 0, got " + std::to_string(extent), loc);
        }
        dims.push_back({entry.dim, extent});
    }
    check_count(dims, "a tile", loc);
    return dims;
}

void check_count(const std::vector<DimExtent> &dims, const char *what, SourceLoc loc) {
    int64_t count = 1;
    for (const auto &d : dims) {
        if (d.extent == 0) {
            return;
        }
    }
    for (const auto &d : dims) {
        if (__builtin_mul_overflow(count, d.extent, &count)) {
            fail(ErrorKind::VALUE,
                 std::string{what} + " of these extents has more elements than int64 counts", loc);
        }
    }
}

Value *full(const Shape &shape, Value *scalar, SourceLoc loc) {
    auto &c = current(loc);
    auto *type = c.module->tile(scalar->scalar(), static_dims(shape, loc));
    if (auto *op = scalar->definition(); op && op->opcode() == Opcode::CONSTANT) {
        return emit_value(c, Opcode::CONSTANT, {}, type, op->payload(), loc);
    }
    return emit_value(c, Opcode::BROADCAST, {scalar}, type, ir::None{}, loc);
}

Value *iota(ScalarType type, Axis axis, SourceLoc loc) {
    auto &c = current(loc);
    if (type == ScalarType::BOOL || !info(type).computes) {
        fail(ErrorKind::TYPE, std::string{"iota: no sequence of "} + to_string(type), loc);
    }
    auto *result = c.module->tile(type, {{axis.dim, axis.extent}});
    return emit_value(c, Opcode::IOTA, {}, result, ir::None{}, loc);
}

/// A dimension as messages name it: its label, or its position.
static std::string name_of(Dim d) {
    return d.is_positional() ? std::to_string(d.id) : "'" + std::string{d.label} + "'";
}

Value *mma(Value *a, Value *b, Value *acc, const MmaPolicy *policy, SourceLoc loc) {
    auto &c = current(loc);
    const auto &ta = *a->type(), &tb = *b->type(), &tc = *acc->type();
    auto notes = made_at(a, "a made here");
    auto add = [&](const Value *x, const char *what) {
        auto more = made_at(x, what);
        notes.insert(notes.end(), more.begin(), more.end());
    };
    add(b, "b made here");
    add(acc, "accumulator made here");
    auto shapes = "a " + shape_text(a) + ", b " + shape_text(b) + ", accumulator " +
                  shape_text(acc);
    if (is_float(tc.scalar) && !info(tc.scalar).computes) {
        fail(ErrorKind::TYPE,
             std::string{"mma: nothing accumulates in "} + to_string(tc.scalar) +
                 "; accumulate in f32, and quantize after",
             loc, notes);
    }
    if (is_float(tc.scalar) != is_float(ta.scalar) || is_float(ta.scalar) != is_float(tb.scalar) ||
        !info(tc.scalar).computes || ta.scalar == ScalarType::BOOL) {
        fail(ErrorKind::TYPE,
             std::string{"mma: "} + to_string(ta.scalar) + " · " + to_string(tb.scalar) + " into " +
                 to_string(tc.scalar) +
                 "; operands and accumulator are all floats or all integers, and "
                 "the accumulator computes",
             loc, notes);
    }
    bool contracts = false;
    auto check = [&](const ir::Type &t, const char *name, const ir::Type &other,
                     const char *other_name) {
        for (const auto &d : t.dims) {
            int in_other = other.find(d.dim), in_acc = tc.find(d.dim);
            if (in_other < 0 && in_acc < 0) {
                fail(ErrorKind::SHAPE,
                     "mma: dimension " + name_of(d.dim) + " of " + name +
                         " is in neither the other operand nor the accumulator: " + shapes +
                         "; reduce over it before, or relate it to one of theirs by with_dims",
                     loc, notes);
            }
            auto require_equal = [&](const ir::Type &type, int at, const char *where) {
                if (at >= 0 && type.dims[static_cast<size_t>(at)].extent != d.extent) {
                    fail(ErrorKind::SHAPE,
                         "mma: dimension " + name_of(d.dim) + " is " + std::to_string(d.extent) +
                             " in " + name + " and " +
                             std::to_string(type.dims[static_cast<size_t>(at)].extent) + " in " +
                             where + ": " + shapes,
                         loc, notes);
                }
            };
            require_equal(other, in_other, other_name);
            require_equal(tc, in_acc, "the accumulator");
            contracts |= in_other >= 0 && in_acc < 0;
        }
    };
    check(ta, "a", tb, "b");
    check(tb, "b", ta, "a");
    for (const auto &d : tc.dims) {
        if (ta.find(d.dim) < 0 && tb.find(d.dim) < 0) {
            fail(ErrorKind::SHAPE,
                 "mma: dimension " + name_of(d.dim) +
                     " of the accumulator is in neither operand: " + shapes +
                     "; broadcast the result after, or relate it to one of theirs by with_dims",
                 loc, notes);
        }
    }
    if (!contracts) {
        fail(ErrorKind::SHAPE,
             "mma: no dimension is contracted (in a and b, not in the accumulator); positional "
             "shapes "
             "give every operand the same dimensions: use axis(…), or matmul",
             loc, notes);
    }
    return emit_value(c, Opcode::MMA, {a, b, acc}, acc->type(),
                      ir::MmaPayload{policy ? *policy : c.options.mma}, loc);
}

ReductionPolicy default_reduction(SourceLoc loc) { return current(loc).options.reduction; }

Value *reduce(Reducer reducer, Value *x, const std::vector<Dim> &dims, ReductionPolicy policy,
              Value *mask, NanPolicy nan, SourceLoc loc) {
    auto &c = current(loc);
    auto element = x->scalar();
    if (!ir::folds(reducer, element)) {
        bool arithmetic = reducer == Reducer::ADD || reducer == Reducer::MULTIPLY;
        fail(ErrorKind::TYPE,
             std::string{"reduce: this reducer does not fold "} + to_string(element) +
                 (arithmetic && is_float(element) ? "; cast<float> first, quantize after"
                                                  : "; cast the tile first"),
             loc, made_at(x, "tile made here"));
    }
    std::vector<DimExtent> kept = x->type()->dims;
    for (size_t i = 0; i < dims.size(); ++i) {
        auto found = std::find_if(kept.begin(), kept.end(),
                                  [&](const DimExtent &d) { return d.dim == dims[i]; });
        if (found == kept.end()) {
            bool twice = x->type()->find(dims[i]) >= 0;
            fail(twice ? ErrorKind::VALUE : ErrorKind::INDEX,
                 twice ? std::string{"reduce: an axis is given twice"}
                       : "reduce: the tile of shape " + shape_text(x) + " has no such axis",
                 loc, made_at(x, "tile made here"));
        }
        if (found->extent == 0 && (reducer == Reducer::ARGMIN || reducer == Reducer::ARGMAX)) {
            fail(ErrorKind::VALUE,
                 "reduce: argmin and argmax of no elements have no answer; give the axis at least "
                 "one element, or leave the reduction out",
                 loc, made_at(x, "tile made here"));
        }
        kept.erase(found);
    }
    check_mask("reduce", x, mask, loc);
    bool position = reducer == Reducer::ARGMIN || reducer == Reducer::ARGMAX;
    if (nan == NanPolicy::IGNORE && !position) {
        // The NaN-ignoring extremes are reducers of their own.
        reducer = reducer == Reducer::MINIMUM   ? Reducer::FMIN
                  : reducer == Reducer::MAXIMUM ? Reducer::FMAX
                                                : reducer;
        nan = NanPolicy::PROPAGATE;
    }
    std::vector<Value *> operands{x};
    if (mask) {
        operands.push_back(mask);
    }
    // The folded dimensions in the order of the tile: that is the order of contributions.
    std::vector<Dim> folded;
    for (const auto &d : x->type()->dims) {
        if (std::find(dims.begin(), dims.end(), d.dim) != dims.end()) {
            folded.push_back(d.dim);
        }
    }
    ir::ReducePayload payload{reducer, folded, policy, nan, mask != nullptr};
    auto *type = c.module->tile(position ? ScalarType::INT64 : element, kept);
    return emit_value(c, Opcode::REDUCE_EXPR, operands, type, payload, loc);
}

Value *fit_dims(Capture &c, Value *x, const std::vector<DimExtent> &dims, SourceLoc loc) {
    const auto &own = x->type()->dims;
    if (own == dims) {
        return x;
    }
    auto find = [](const std::vector<DimExtent> &list, const DimExtent &d) {
        return std::find(list.begin(), list.end(), d) != list.end();
    };
    std::vector<Dim> dropped;
    for (const auto &d : own) {
        if (!find(dims, d)) {
            if (!d.dim.is_positional() || d.extent != 1) {
                return nullptr;
            }
            dropped.push_back(d.dim);
        }
    }
    for (const auto &d : dims) {
        if (!find(own, d) && !(d.dim.is_positional() && d.extent == 1)) {
            return nullptr;
        }
    }
    if (!dropped.empty()) {
        std::vector<DimExtent> rest;
        std::vector<Value *> operands{x};
        for (const auto &d : own) {
            if (find(dims, d)) {
                rest.push_back(d);
            } else {
                operands.push_back(index_constant(c, 0, loc));
            }
        }
        x = emit_value(c, Opcode::EXTRACT, operands, c.module->tile(x->scalar(), rest),
                       ir::AccessPayload{dropped, false}, loc);
        if (rest == dims) {
            return x;
        }
    }
    return emit_value(c, Opcode::BROADCAST, {x}, c.module->tile(x->scalar(), dims), ir::None{},
                      loc);
}

}// namespace luisa::tile::core

// SPDX-License-Identifier: Apache-2.0
#include <luisa/tile/einsum.h>

#include "frontend/element_maps.h"

namespace luisa::tile::core {

using ir::DimExtent;
using ir::Opcode;

namespace {

std::vector<Error::Note> operand_notes(const Value *a, const Value *b) {
    auto notes = made_at(a, "a made here");
    auto more = made_at(b, "b made here");
    notes.insert(notes.end(), more.begin(), more.end());
    return notes;
}

bool has(const std::vector<DimExtent> &dims, Dim d) {
    return std::any_of(dims.begin(), dims.end(), [&](const DimExtent &e) { return e.dim == d; });
}

Value *with(Value *x, const std::vector<DimExtent> &dims, Opcode op, SourceLoc loc) {
    auto &c = current(loc);
    return x->type()->dims == dims
               ? x
               : emit_value(c, op, {x}, c.module->tile(x->scalar(), dims), ir::None{}, loc);
}

/// a · b into zeros over `result`. With nothing to contract, a dimension of one element is contracted.
Value *product(Value *a, Value *b, const std::vector<DimExtent> &result, ScalarType accumulator,
               const MmaPolicy *policy, SourceLoc loc) {
    auto &c = current(loc);
    const auto &dims = a->type()->dims;
    bool contracts = std::any_of(dims.begin(), dims.end(), [&](const DimExtent &d) {
        return !has(result, d.dim) && b->type()->find(d.dim) >= 0;
    });
    if (!contracts) {
        DimExtent unit{dim("unit"), 1};
        auto left = dims, right = b->type()->dims;
        left.push_back(unit);
        right.insert(right.begin(), unit);
        a = with(a, left, Opcode::BROADCAST, loc);
        b = with(b, right, Opcode::BROADCAST, loc);
    }
    check_count(result, "the product", loc);
    auto *zero = emit_value(c, Opcode::CONSTANT, {}, c.module->tile(accumulator, result),
                            ir::ConstantPayload{0}, loc);
    return mma(a, b, zero, policy, loc);
}

/// The letters of an einsum.
struct Letters {
    std::string a, b, out;
};

[[noreturn]] void bad_spec(const char *spec, const std::string &problem, SourceLoc loc) {
    fail(ErrorKind::VALUE,
         std::string{"einsum: \""} + spec + "\": " + problem +
             "; expected one letter a dimension, as in \"mk,kn->mn\"",
         loc);
}

Letters parse(const char *spec, SourceLoc loc) {
    Letters letters;
    std::string *lists[] = {&letters.a, &letters.b, &letters.out};
    const char *names[] = {"a", "b", "the result"};
    int at = 0;
    for (const char *p = spec; *p; ++p) {
        bool letter = (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z');
        if (letter) {
            if (lists[at]->find(*p) != std::string::npos) {
                bad_spec(spec, std::string{"'"} + *p + "' stands twice in " + names[at], loc);
            }
            lists[at]->push_back(*p);
        } else if (*p == ',' && at == 0) {
            at = 1;
        } else if (*p == '-' && p[1] == '>' && at == 1) {
            at = 2;
            ++p;
        } else if (*p != ' ') {
            bad_spec(spec,
                     std::string{"'"} + *p + "' is not expected at position " +
                         std::to_string(p - spec),
                     loc);
        }
    }
    if (at != 2) {
        bad_spec(spec,
                 at == 0 ? "there is no ',' between the operands"
                         : "there is no \"->\" before the result",
                 loc);
    }
    return letters;
}

/// Every letter is in two places at least: mma's roles.
void check_roles(const char *spec, const Letters &l, SourceLoc loc) {
    auto in = [](const std::string &list, char x) { return list.find(x) != std::string::npos; };
    auto summed_alone = [&](const std::string &own, const std::string &other, const char *name) {
        for (char x : own) {
            if (!in(other, x) && !in(l.out, x)) {
                bad_spec(spec,
                         std::string{"'"} + x + "' of " + name +
                             " is in neither the other operand nor the result: reduce(…, add) that "
                             "dimension before",
                         loc);
            }
        }
    };
    summed_alone(l.a, l.b, "a");
    summed_alone(l.b, l.a, "b");
    for (char x : l.out) {
        if (!in(l.a, x) && !in(l.b, x)) {
            bad_spec(spec, std::string{"'"} + x + "' of the result is in neither operand", loc);
        }
    }
}

void check_rank(const char *spec, const std::string &letters, const Value *x, const char *name,
                SourceLoc loc) {
    if (letters.size() != x->type()->rank()) {
        fail(ErrorKind::SHAPE,
             std::string{"einsum: \""} + spec + "\" names " + std::to_string(letters.size()) +
                 " dimensions of " + name + ", whose shape is " + shape_text(x),
             loc, made_at(x, (std::string{name} + " made here").c_str()));
    }
}

/// The dimension that x has for a letter, or null.
const DimExtent *dim_of(const std::string &letters, const Value *x, char letter) {
    auto at = letters.find(letter);
    return at == std::string::npos ? nullptr : &x->type()->dims[at];
}

}// namespace

Value *matmul(Value *a, Value *b, ScalarType accumulator, const MmaPolicy *policy, SourceLoc loc) {
    const auto &da = a->type()->dims, &db = b->type()->dims;
    auto notes = operand_notes(a, b);
    auto shapes = "matmul: " + shape_text(a) + " × " + shape_text(b);
    if (da.size() < 2 || da.size() != db.size()) {
        fail(ErrorKind::SHAPE,
             shapes + "; it reads […, M, K] × […, K, N], with one rank and equal leading extents",
             loc, notes);
    }
    if (da.back().extent != db[db.size() - 2].extent) {
        fail(ErrorKind::SHAPE,
             shapes + ": K is " + std::to_string(da.back().extent) + " in a and " +
                 std::to_string(db[db.size() - 2].extent) +
                 " in b; it reads […, M, K] × […, K, N]: transpose one of them?",
             loc, notes);
    }
    auto rank = da.size();
    for (size_t i = 0; i + 2 < rank; ++i) {
        if (da[i].extent != db[i].extent) {
            fail(ErrorKind::SHAPE,
                 shapes + ": the leading extents " + std::to_string(i) + " are " +
                     std::to_string(da[i].extent) + " and " + std::to_string(db[i].extent),
                 loc, notes);
        }
    }
    // Operands are related by position: they take the identities of the result, which are those that the
    // caller knows where these are distinct.
    std::vector<DimExtent> result{da.begin(), da.end() - 1};
    auto last = db.back().dim;
    if (last.is_positional() && has(result, last)) {
        last = Dim::positional(static_cast<uint32_t>(rank - 1));
    }
    if (has(result, last)) {
        last = dim("n");
    }
    result.push_back({last, db.back().extent});
    DimExtent k{dim("k"), da.back().extent};
    auto left = result, right = result;
    left.back() = k;
    right[rank - 2] = k;
    return product(with(a, left, Opcode::RETYPE, loc), with(b, right, Opcode::RETYPE, loc), result,
                   accumulator, policy, loc);
}

Value *matmul(Value *a, Value *b, const std::vector<Dim> &dims, ScalarType accumulator,
              const MmaPolicy *policy, SourceLoc loc) {
    auto lacks = [&](const Value *x, Dim d, const char *name) {
        if (x->type()->find(d) < 0) {
            fail(ErrorKind::INDEX,
                 std::string{"matmul: "} + name + " of shape " + shape_text(x) +
                     " lacks a dimension to contract" +
                     (d.is_positional() ? "" : std::string{": '"} + d.label + "'"),
                 loc, operand_notes(a, b));
        }
    };
    for (auto d : dims) {
        lacks(a, d, "a");
        lacks(b, d, "b");
    }
    std::vector<DimExtent> result;
    for (const auto *x : {a, b}) {
        for (const auto &d : x->type()->dims) {
            if (std::find(dims.begin(), dims.end(), d.dim) == dims.end() && !has(result, d.dim)) {
                result.push_back(d);
            }
        }
    }
    return product(a, b, result, accumulator, policy, loc);
}

namespace {
void check_vectors(const std::string &what, const Value *a, const Value *b, SourceLoc loc) {
    if (a->type()->rank() != 1 || b->type()->rank() != 1) {
        fail(ErrorKind::SHAPE,
             what + "; each has one dimension: matmul or einsum multiplies other ranks", loc,
             operand_notes(a, b));
    }
}
}// namespace

Value *dot(Value *a, Value *b, ScalarType accumulator, const MmaPolicy *policy, SourceLoc loc) {
    auto shapes = "dot: " + shape_text(a) + " · " + shape_text(b);
    check_vectors(shapes, a, b, loc);
    auto left = a->type()->dims[0].extent, right = b->type()->dims[0].extent;
    if (left != right) {
        fail(ErrorKind::SHAPE,
             shapes + ": a has " + std::to_string(left) + " elements and b " +
                 std::to_string(right) + "; give both one extent",
             loc, operand_notes(a, b));
    }
    return einsum("k,k->", a, b, accumulator, policy, loc);
}

Value *outer(Value *a, Value *b, ScalarType accumulator, SourceLoc loc) {
    check_vectors("outer: " + shape_text(a) + " × " + shape_text(b), a, b, loc);
    return einsum("m,n->mn", a, b, accumulator, nullptr, loc);
}

Value *einsum(const char *spec, Value *a, Value *b, ScalarType accumulator, const MmaPolicy *policy,
              SourceLoc loc) {
    auto letters = parse(spec, loc);
    check_roles(spec, letters, loc);
    check_rank(spec, letters.a, a, "a", loc);
    check_rank(spec, letters.b, b, "b", loc);
    for (char x : letters.a) {
        auto *in_a = dim_of(letters.a, a, x), *in_b = dim_of(letters.b, b, x);
        if (in_b && in_a->extent != in_b->extent) {
            fail(ErrorKind::SHAPE,
                 std::string{"einsum: \""} + spec + "\": '" + x + "' is " +
                     std::to_string(in_a->extent) + " in a " + shape_text(a) + " and " +
                     std::to_string(in_b->extent) + " in b " + shape_text(b),
                 loc, operand_notes(a, b));
        }
    }
    // Letters, not identities, relate the operands, which therefore take one identity a letter: the result's.
    std::vector<DimExtent> result;
    for (char x : letters.out) {
        auto *from = dim_of(letters.a, a, x);
        auto d = *(from ? from : dim_of(letters.b, b, x));
        if (d.dim.is_positional()) {
            d.dim = Dim::positional(static_cast<uint32_t>(result.size()));
        } else if (has(result, d.dim)) {
            d.dim = dim(std::string(1, x).c_str());
        }
        result.push_back(d);
    }
    auto left = a->type()->dims, right = b->type()->dims;
    for (size_t i = 0; i < left.size(); ++i) {
        auto out = letters.out.find(letters.a[i]), in_b = letters.b.find(letters.a[i]);
        left[i].dim = out == std::string::npos ? dim(std::string(1, letters.a[i]).c_str())
                                               : result[out].dim;
        if (in_b != std::string::npos) {
            right[in_b].dim = left[i].dim;
        }
    }
    for (size_t i = 0; i < right.size(); ++i) {
        auto out = letters.out.find(letters.b[i]);
        if (out != std::string::npos) {
            right[i].dim = result[out].dim;
        }
    }
    return product(with(a, left, Opcode::RETYPE, loc), with(b, right, Opcode::RETYPE, loc), result,
                   accumulator, policy, loc);
}

}// namespace luisa::tile::core

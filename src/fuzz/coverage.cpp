// SPDX-License-Identifier: Apache-2.0
#include "fuzz/coverage.h"

#include <algorithm>
#include <cstring>
#include <sstream>

namespace luisa::tile::fuzz {

namespace {

using ir::Opcode;

constexpr const char *region_names[] = {"kernel", "parallel", "serial", "pipeline",
                                        "reduce", "if",       "while",  "map"};
constexpr const char *shape_names[] = {"0", "1", "power of two", "prime", "other"};
constexpr const char *policy_names[] = {"unordered_tree", "ordered_tree", "fold_left", "fold_right",
                                        "balanced_tree"};
constexpr const char *reducer_names[] = {
    "add",        "multiply", "minimum", "maximum", "fmin",   "fmax",  "logical_and",
    "logical_or", "bit_and",  "bit_or",  "bit_xor", "argmin", "argmax"};
constexpr const char *bounds_names[] = {"zero", "assume", "predicate"};

size_t class_of(int64_t extent) {
    if (extent <= 1) {
        return extent == 0 ? 0 : 1;
    }
    if ((extent & (extent - 1)) == 0) {
        return 2;
    }
    for (int64_t d = 2; d * d <= extent; ++d) {
        if (extent % d == 0) {
            return 4;
        }
    }
    return 3;
}

ScalarType type_of(const ir::Operation &op) {
    if (op.result_count()) {
        return op.result()->scalar();
    }
    return op.operand_count() ? op.operand(0)->scalar() : ScalarType::INT64;
}

/// Machine operations are no part of a Candidate program.
bool is_candidate(Opcode op) {
    auto family = ir::info(op).family;
    return family != ir::Family::MACHINE && family != ir::Family::MACHINE_REGION;
}

struct Visitor {
    Coverage &c;
    size_t deepest = 0;

    void region(const ir::Region &body, size_t kind, size_t depth) {
        deepest = std::max(deepest, depth);
        for (const auto *op : body) {
            operation(*op, kind);
            for (const auto *inner : op->regions()) {
                region(*inner, 1 + static_cast<size_t>(op->opcode()), depth + 1);
            }
        }
    }
    void operation(const ir::Operation &op, size_t kind) {
        auto code = static_cast<size_t>(op.opcode());
        ++c.operations[code][static_cast<size_t>(type_of(op))];
        ++c.regions[code][kind];
        for (auto *v : op.results()) {
            for (const auto &d : v->type()->dims) {
                ++c.shapes[class_of(d.extent)];
            }
        }
        if (op.opcode() == Opcode::REDUCE_EXPR) {
            const auto &p = op.get<ir::ReducePayload>();
            ++c.reductions[static_cast<size_t>(p.reducer)][static_cast<size_t>(p.policy)];
        } else if (op.opcode() == Opcode::REDUCE) {
            ++c.folds[static_cast<size_t>(op.get<ir::NestPayload>().policy)];
        } else if (op.opcode() == Opcode::LOAD) {
            ++c.accesses[0][static_cast<size_t>(op.get<ir::LoadPayload>().bounds)];
        } else if (op.opcode() == Opcode::STORE) {
            ++c.accesses[1][static_cast<size_t>(op.get<ir::StorePayload>().bounds)];
        } else if (op.opcode() == Opcode::PARALLEL) {
            for (auto u : op.get<ir::NestPayload>().updates) {
                ++c.updates[static_cast<size_t>(u)];
            }
        }
    }
};

template<size_t N> uint64_t sum(const uint64_t (&row)[N]) {
    uint64_t n = 0;
    for (auto x : row) {
        n += x;
    }
    return n;
}

template<size_t N>
void list(std::ostream &out, const char *what, const uint64_t *counts,
          const char *const (&names)[N]) {
    out << what << ":";
    for (size_t i = 0; i < N; ++i) {
        out << (i ? ", " : " ") << names[i] << " " << counts[i];
    }
    out << "\n";
}

}// namespace

void Coverage::add(const ir::Module &module) {
    static_assert(static_cast<size_t>(Opcode::MAP) + 2 == region_kinds,
                  "region operations come first in the table");
    Visitor visitor{*this};
    visitor.region(*module.kernel()->body, 0, 0);
    ++depths[std::min<size_t>(visitor.deepest, 7)];
}

void Coverage::add(const Coverage &other) {
    constexpr auto count = sizeof(Coverage) / sizeof(uint64_t);
    uint64_t a[count], b[count];
    std::memcpy(a, this, sizeof a);
    std::memcpy(b, &other, sizeof b);
    for (size_t i = 0; i < count; ++i) {
        a[i] += b[i];
    }
    std::memcpy(static_cast<void *>(this), a, sizeof a);
}

std::string Coverage::text() const {
    std::ostringstream out;
    uint64_t types[scalar_type_count] = {};
    out << "operations:";
    for (size_t i = 0, column = 0; i < ir::opcode_count; ++i) {
        for (size_t t = 0; t < scalar_type_count; ++t) {
            types[t] += operations[i][t];
        }
        if (is_candidate(static_cast<Opcode>(i))) {
            out << (column++ % 8 == 0 ? "\n  " : ", ") << ir::to_string(static_cast<Opcode>(i))
                << " " << sum(operations[i]);
        }
    }
    out << "\ntypes:";
    for (size_t t = 0; t < scalar_type_count; ++t) {
        out << (t ? ", " : " ") << to_string(static_cast<ScalarType>(t)) << " " << types[t];
    }
    out << "\n";
    uint64_t inside[region_kinds] = {};
    for (const auto &row : regions) {
        for (size_t k = 0; k < region_kinds; ++k) {
            inside[k] += row[k];
        }
    }
    list(out, "operations inside", inside, region_names);
    list(out, "extents", shapes, shape_names);
    list(out, "policies of reduce", folds, policy_names);
    list(out, "bounds of loads", accesses[0], bounds_names);
    list(out, "bounds of stores", accesses[1], bounds_names);
    out << "programs by depth of nesting:";
    for (auto n : depths) {
        out << " " << n;
    }
    out << "\nupdates of parallel: collective " << updates[0] << ", insert " << updates[1] << "\n";
    uint64_t pairs = 0, possible = 0;
    for (size_t i = 0; i < ir::opcode_count; ++i) {
        for (size_t k = 0; k < region_kinds && is_candidate(static_cast<Opcode>(i)); ++k) {
            ++possible;
            pairs += regions[i][k] >= 5;
        }
    }
    out << "(operation, region) pairs met five times: " << pairs << " of " << possible << "\n";
    return out.str();
}

std::string Coverage::missing() const {
    std::ostringstream out;
    for (size_t i = 0; i < ir::opcode_count; ++i) {
        if (is_candidate(static_cast<Opcode>(i)) && sum(operations[i]) == 0) {
            out << "operation " << ir::to_string(static_cast<Opcode>(i)) << "\n";
        }
    }
    for (size_t r = 0; r < reducers; ++r) {
        for (size_t p = 0; p < policies; ++p) {
            if (reductions[r][p] == 0) {
                out << "reduce.expr " << reducer_names[r] << " with " << policy_names[p] << "\n";
            }
        }
    }
    for (size_t p = 0; p < policies; ++p) {
        if (folds[p] == 0) {
            out << "reduce with " << policy_names[p] << "\n";
        }
    }
    for (size_t b = 0; b < bounds; ++b) {
        for (size_t k = 0; k < 2; ++k) {
            if (accesses[k][b] == 0) {
                out << (k ? "store" : "load") << " with bounds " << bounds_names[b] << "\n";
            }
        }
    }
    for (size_t u = 0; u < 2; ++u) {
        if (updates[u] == 0) {
            out << "parallel with " << (u ? "insert" : "collective") << " updates\n";
        }
    }
    for (size_t s = 0; s < shape_classes; ++s) {
        if (shapes[s] == 0) {
            out << "extents: " << shape_names[s] << "\n";
        }
    }
    return out.str();
}

}// namespace luisa::tile::fuzz

// SPDX-License-Identifier: Apache-2.0
#include "fuzz/coverage.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include <sstream>

namespace luisa::tile::fuzz {

namespace {

using ir::Opcode;

constexpr const char *shape_names[] = {"0", "1", "power of two", "prime", "other"};
constexpr const char *reducer_names[] = {
    "add",        "multiply", "minimum", "maximum", "fmin",   "fmax",  "logical_and",
    "logical_or", "bit_and",  "bit_or",  "bit_xor", "argmin", "argmax"};

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

/// The types that an operation is about: of its states, of what it compares, prints, yields or stores.
std::vector<ScalarType> types_of(const ir::Operation &op) {
    std::vector<ScalarType> types;
    auto note = [&](const ir::Value *v) {
        if (std::find(types.begin(), types.end(), v->scalar()) == types.end()) {
            types.push_back(v->scalar());
        }
    };
    if (op.opcode() == Opcode::ASSERT) {
        note(op.operand(0));
    } else if (op.opcode() == Opcode::STORE || op.opcode() == Opcode::EXTENT ||
               op.opcode() == Opcode::REDUCE_EXPR ||
               ir::info(op.opcode()).types == ir::TypeRule::COMPARE) {
        note(op.operand(0));
    } else {
        for (const auto *v : op.results()) {
            note(v);
        }
        for (size_t i = 0; op.results().empty() && op.regions().empty() && i < op.operand_count();
             ++i) {
            note(op.operand(i));
        }
    }
    return types;
}

int policy_of(const ir::Operation &op) {
    switch (op.opcode()) {
        case Opcode::REDUCE: return static_cast<int>(op.get<ir::NestPayload>().policy);
        case Opcode::REDUCE_EXPR: return static_cast<int>(op.get<ir::ReducePayload>().policy);
        case Opcode::SCAN: return static_cast<int>(op.get<ir::ScanPayload>().policy);
        default: return -1;
    }
}

int bounds_of(const ir::Operation &op) {
    switch (op.opcode()) {
        case Opcode::LOAD: return static_cast<int>(op.get<ir::LoadPayload>().bounds);
        case Opcode::STORE: return static_cast<int>(op.get<ir::StorePayload>().bounds);
        default: return -1;
    }
}

struct Visitor {
    Coverage &c;
    std::vector<bool> features = std::vector<bool>(feature_count);
    size_t deepest = 0;

    void has(Feature f, bool holds = true) {
        if (holds) {
            features[static_cast<size_t>(f)] = true;
        }
    }
    void kernel(const ir::Region &body) {
        size_t nests = 0;
        bool tasks = false, tiles = false;
        for (const auto *op : body) {
            nests += ir::is_nest(op->opcode());
            tasks |= op->opcode() == Opcode::PARALLEL;
            for (auto *v : op->results()) {
                tiles |= ir::is_nest(op->opcode()) || !v->type()->is_scalar();
            }
        }
        has(Feature::SEVERAL_ROOT_NESTS, nests > 1);
        has(Feature::TASKS, tasks && !tiles);
        region(body, 0, 0, 0);
    }
    void region(const ir::Region &body, size_t kind, size_t depth, size_t nests) {
        deepest = std::max(deepest, depth);
        has(Feature::DEEP_NESTS, nests >= 3);
        for (const auto *op : body) {
            operation(*op, kind);
            bool nest = ir::is_nest(op->opcode());
            for (const auto *inner : op->bodies()) {
                region(*inner, 1 + static_cast<size_t>(op->opcode()), depth + 1, nests + nest);
            }
        }
    }
    void operation(const ir::Operation &op, size_t kind) {
        std::vector<size_t> values[aspect_count] = {{static_cast<size_t>(op.opcode())}, {kind}};
        if (auto policy = policy_of(op); policy >= 0) {
            values[static_cast<size_t>(Aspect::POLICY)].push_back(static_cast<size_t>(policy));
        }
        if (auto bounds = bounds_of(op); bounds >= 0) {
            values[static_cast<size_t>(Aspect::BOUNDS)].push_back(static_cast<size_t>(bounds));
        }
        for (auto t : types_of(op)) {
            values[static_cast<size_t>(Aspect::TYPE)].push_back(static_cast<size_t>(t));
        }
        for (size_t first = 0; first < aspect_count; ++first) {
            for (size_t second = first + 1; second < aspect_count; ++second) {
                for (auto a : values[first]) {
                    for (auto b : values[second]) {
                        ++c.pairs[first][second][a][b];
                    }
                }
            }
        }
        ++c.single[static_cast<size_t>(op.opcode())];
        for (auto *v : op.results()) {
            for (const auto &d : v->type()->dims) {
                ++c.shapes[class_of(d.extent)];
            }
        }
        details(op);
    }
    void details(const ir::Operation &op) {
        if (op.opcode() == Opcode::REDUCE_EXPR) {
            const auto &p = op.get<ir::ReducePayload>();
            ++c.reductions[0][static_cast<size_t>(p.reducer)][static_cast<size_t>(p.policy)];
        } else if (op.opcode() == Opcode::SCAN) {
            const auto &p = op.get<ir::ScanPayload>();
            ++c.reductions[1][static_cast<size_t>(p.reducer)][static_cast<size_t>(p.policy)];
            has(Feature::SCAN_SEED, p.has_seed);
            has(Feature::SCAN_MASK, p.has_mask);
        } else if (op.opcode() == Opcode::LOAD) {
            has(Feature::MAPPED_LOAD, op.get<ir::LoadPayload>().mapped);
        } else if (op.opcode() == Opcode::STORE) {
            has(Feature::MAPPED_STORE, op.get<ir::StorePayload>().mapped);
        }
        has(Feature::MEMORY_OBJECT, op.opcode() == Opcode::MEMORY_ALLOC);
        has(Feature::STAGES, op.opcode() == Opcode::STAGE);
        if (ir::is_nest(op.opcode())) {
            nest(op);
        }
    }
    void nest(const ir::Operation &op) {
        const auto &payload = op.get<ir::NestPayload>();
        for (auto u : payload.updates) {
            has(u == ir::AncestorUpdate::INSERT ? Feature::INSERT_UPDATE
                                                : Feature::COLLECTIVE_UPDATE);
        }
        has(Feature::CONTRACT, !payload.contract.empty());
        has(Feature::INSTANCE_ORDER, !payload.layout.empty());
        has(Feature::INDEPENDENT_STATES,
            op.regions().size() > 1 &&
                payload.contract.size() > op.body(1)->terminator()->operand_count());
        for (size_t i = 0; i < payload.dims.size(); ++i) {
            const auto *extent = op.operand(i)->definition();
            has(Feature::ZERO_TRIPS, extent && extent->opcode() == Opcode::CONSTANT &&
                                         extent->get<ir::ConstantPayload>().bits == 0);
        }
        auto *body = op.body();
        auto *last = body->terminator();
        const auto *before = last->previous();
        bool whole = before && before->opcode() == Opcode::IF && op.opcode() != Opcode::REDUCE;
        for (size_t i = 0; whole && i < last->operand_count(); ++i) {
            whole = last->operand(i)->definition() == before;
        }
        has(Feature::CONDITIONAL_DOMAIN, whole);
        auto states = op.result_count(), indices = body->arguments().size() - states;
        for (size_t i = 0; op.opcode() != Opcode::PARALLEL && i < states; ++i) {
            for (size_t k = 0; k < i; ++k) {
                has(Feature::CARRIED_SWAP, last->operand(i) == body->argument(indices + k) &&
                                               last->operand(k) == body->argument(indices + i));
            }
        }
    }
};

template<size_t N>
void list(std::ostream &out, const char *what, const uint64_t *counts,
          const char *const (&names)[N]) {
    out << what << ":";
    for (size_t i = 0; i < N; ++i) {
        out << (i ? ", " : " ") << names[i] << " " << counts[i];
    }
    out << "\n";
}

void each_pair(const Coverage &c, const std::function<void(const Pair &, uint64_t)> &visit) {
    for (size_t first = 0; first < aspect_count; ++first) {
        for (size_t second = first + 1; second < aspect_count; ++second) {
            for (size_t a = 0; a < aspect_sizes[first]; ++a) {
                for (size_t b = 0; b < aspect_sizes[second]; ++b) {
                    visit({static_cast<Aspect>(first), static_cast<Aspect>(second), a, b},
                          c.pairs[first][second][a][b]);
                }
            }
        }
    }
}

bool scans(Reducer reducer, size_t policy) {
    return reducer < Reducer::ARGMIN &&
           !why_impossible(
               {Aspect::OPERATION, Aspect::POLICY, static_cast<size_t>(Opcode::SCAN), policy});
}

}// namespace

void Coverage::add(const std::vector<std::unique_ptr<ir::Module>> &kernels,
                   const std::vector<Feature> &more) {
    static_assert(static_cast<size_t>(Opcode::MAP) + 2 == region_kinds,
                  "region operations come first in the table");
    Visitor visitor{*this};
    for (const auto &kernel : kernels) {
        visitor.kernel(*kernel->kernel()->body);
    }
    visitor.has(Feature::SEVERAL_KERNELS, kernels.size() > 1);
    for (auto f : more) {
        visitor.has(f);
    }
    for (size_t f = 0; f < feature_count; ++f) {
        features[f] += visitor.features[f];
    }
    ++depths[std::min<size_t>(visitor.deepest, 7)];
}

void Coverage::add(const Coverage &other) {
    constexpr auto count = sizeof(Coverage) / sizeof(uint64_t);
    std::vector<uint64_t> a(count), b(count);
    std::memcpy(a.data(), this, sizeof *this);
    std::memcpy(b.data(), &other, sizeof other);
    for (size_t i = 0; i < count; ++i) {
        a[i] += b[i];
    }
    std::memcpy(static_cast<void *>(this), a.data(), sizeof *this);
}

std::string Coverage::text() const {
    std::ostringstream out;
    out << "operations:";
    for (size_t i = 0, column = 0; i < ir::opcode_count; ++i) {
        if (!why_impossible({Aspect::OPERATION, Aspect::REGION, i, 1}) || single[i]) {
            out << (column++ % 8 == 0 ? "\n  " : ", ") << ir::to_string(static_cast<Opcode>(i))
                << " " << single[i];
        }
    }
    out << "\n";
    list(out, "extents", shapes, shape_names);
    out << "programs by depth of nesting:";
    for (auto n : depths) {
        out << " " << n;
    }
    out << "\nprograms with:";
    for (size_t f = 0; f < feature_count; ++f) {
        out << (f ? ", " : " ") << fuzz::to_string(static_cast<Feature>(f)) << " " << features[f];
    }
    uint64_t met = 0, possible = 0;
    std::map<std::string, uint64_t> reasons;
    each_pair(*this, [&](const Pair &pair, uint64_t count) {
        if (const auto *why = why_impossible(pair)) {
            ++reasons[why];
        } else {
            ++possible;
            met += count >= enough;
        }
    });
    out << "\npairs of operation, region, policy, type and bounds met " << enough
        << " times: " << met << " of " << possible << "; that no program can have:";
    for (const auto &[why, count] : reasons) {
        out << "\n  " << count << ": " << why;
    }
    out << "\n";
    return out.str();
}

std::string Coverage::missing(uint64_t least) const {
    std::ostringstream out;
    each_pair(*this, [&](const Pair &pair, uint64_t count) {
        const auto *why = why_impossible(pair);
        if (why && count > 0) {
            out << fuzz::to_string(pair) << " was met, which is held to be impossible: " << why
                << "\n";
        } else if (!why && count < least) {
            out << fuzz::to_string(pair) << " (" << count << ")\n";
        }
    });
    for (size_t r = 0; r < reducers; ++r) {
        for (size_t p = 0; p < policies; ++p) {
            for (size_t k = 0; k < 2; ++k) {
                if (reductions[k][r][p] < least && (k == 0 || scans(static_cast<Reducer>(r), p))) {
                    out << (k ? "scan " : "reduce.expr ") << reducer_names[r] << " with "
                        << policy_names[p] << " (" << reductions[k][r][p] << ")\n";
                }
            }
        }
    }
    for (size_t s = 0; s < shape_classes; ++s) {
        if (shapes[s] < least) {
            out << "extents: " << shape_names[s] << " (" << shapes[s] << ")\n";
        }
    }
    for (size_t f = 0; f < feature_count; ++f) {
        if (features[f] < least) {
            out << fuzz::to_string(static_cast<Feature>(f)) << " (" << features[f] << ")\n";
        }
    }
    return out.str();
}

}// namespace luisa::tile::fuzz

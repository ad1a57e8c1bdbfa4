// SPDX-License-Identifier: Apache-2.0
#include "ir/disjoint.h"

#include "layout/affine.h"
#include "layout/linear_search.h"

#include <algorithm>
#include <map>
#include <optional>

namespace luisa::tile::ir {

namespace {

constexpr int64_t search_budget = 20'000;
/// More than any domain has: what stands for an extent that is not known.
constexpr int64_t any_extent = int64_t{1} << 40;
constexpr int deepest = 64;

/// constant + sum of coefficient * variable. `shift`: plus something unknown that is the same for all instances.
struct Affine {
    int64_t constant = 0;
    std::map<size_t, int64_t> terms;
    bool shift = false;

    [[nodiscard]] bool is_constant() const { return terms.empty() && !shift; }
};

bool add(Affine &a, const Affine &b, int64_t factor) {
    int64_t part = 0;
    auto into = [&](int64_t &to, int64_t what) {
        return __builtin_mul_overflow(what, factor, &part) || __builtin_add_overflow(to, part, &to);
    };
    bool overflow = into(a.constant, b.constant);
    for (const auto &[variable, coefficient] : b.terms) {
        overflow |= into(a.terms[variable], coefficient);
    }
    a.shift |= b.shift;
    return !overflow;
}

/// A coordinate of a nest, or of the box of a store.
struct Variable {
    int64_t extent = any_extent;
    bool known = false;
    int64_t begin = 0, step = 1;///< index = begin + step * variable
};

class Access {
public:
    Access(const Operation &store, const Operation &parallel)
        : _store{store}, _parallel{parallel} {}

    Disjointness prove() {
        if (_store.get<StorePayload>().mapped || !add_nests() || !add_coordinates()) {
            return {};
        }
        bool proven = true;
        for (size_t i = 0; i < _instances; ++i) {
            IndexPoint difference;
            switch (search(i, difference)) {
                case Proof::PROVEN: break;
                case Proof::UNKNOWN: proven = false; break;
                case Proof::DISPROVEN: return disproven(difference);
            }
        }
        return {proven ? Proof::PROVEN : Proof::UNKNOWN, {}, {}, {}};
    }

private:
    /// The nests from the `parallel` inwards, its own coordinates first.
    bool add_nests() {
        std::vector<const Operation *> nests;
        for (auto *op = _store.parent(); op; op = op->parent()) {
            if (is_nest(op->opcode())) {
                nests.push_back(op);
            } else {
                _certain = false;
            }
            if (op == &_parallel) {
                break;
            }
        }
        for (auto *op = _parallel.parent(); op; op = op->parent()) {
            _certain &= is_nest(op->opcode()) && runs(*op);
        }
        for (size_t i = nests.size(); i-- > 0;) {
            add_nest(*nests[i]);
            _instances = i + 1 == nests.size() ? _variables.size() : _instances;
        }
        return _instances > 0;
    }

    void add_nest(const Operation &nest) {
        const auto &payload = nest.get<NestPayload>();
        auto number = [&](size_t i) { return constant(nest.operand(i)); };
        if (payload.is_range) {
            Variable v;
            auto begin = number(0), end = number(1), step = number(2);
            if (begin && end && step && *step != 0 && *begin > -any_extent &&
                *begin<any_extent && * end> - any_extent &&
                *end<any_extent && * step> - any_extent && *step < any_extent) {
                auto span = *step > 0 ? *end - *begin : *begin - *end, by = std::abs(*step);
                v = {std::max<int64_t>(0, (span + by - 1) / by), true, *begin, *step};
            } else {
                // How far the index is from the begin is what counts; the step scales it.
                v.step = step && *step > -any_extent && *step < any_extent ? *step : 0;
                _vague |= v.step == 0 || (!begin && !is_common(nest.operand(0)));
            }
            define(nest.body()->argument(0), v);
            _begins.push_back(begin.has_value());
            return;
        }
        for (size_t i = 0; i < payload.dims.size(); ++i) {
            Variable v;
            if (auto extent = number(i); extent && *extent < any_extent) {
                v = {std::max<int64_t>(0, *extent), true, 0, 1};
            }
            define(nest.body()->argument(i), v);
            _begins.push_back(true);
        }
    }

    void define(const Value *value, const Variable &variable) {
        _numbers[value] = _variables.size();
        _certain &= variable.known && variable.extent > 0;
        _variables.push_back(variable);
    }

    /// Whether a nest around certainly has instances.
    bool runs(const Operation &nest) {
        const auto &payload = nest.get<NestPayload>();
        if (payload.is_range) {
            auto begin = constant(nest.operand(0)), end = constant(nest.operand(1)),
                 step = constant(nest.operand(2));
            return begin && end && step && (*step > 0 ? *begin < *end : *begin > *end);
        }
        for (size_t i = 0; i < payload.dims.size(); ++i) {
            auto extent = constant(nest.operand(i));
            if (!extent || *extent <= 0) {
                return false;
            }
        }
        return true;
    }

    bool add_coordinates() {
        const auto &box = _store.get<StorePayload>().box;
        auto rank = _store.operand(0)->type()->rank();
        for (size_t i = 0; i < rank; ++i) {
            auto place = affine(_store.operand(2 + i), 0);
            if (!place || _vague) {
                return false;
            }
            if (i < box.size()) {
                place->terms[_variables.size()] = 1;
                _variables.push_back({box[i].extent, true, 0, 1});
                _certain &= box[i].extent > 0;
            }
            _places.push_back(std::move(*place));
        }
        return true;
    }

    std::optional<int64_t> constant(const Value *value) {
        auto known = affine(value, 0);
        return known && known->is_constant() ? std::optional{known->constant} : std::nullopt;
    }

    /// Whether all instances see one value: it is made outside of the `parallel`.
    [[nodiscard]] bool is_common(const Value *value) const {
        return !_parallel.body()->encloses(value->region());
    }

    std::optional<Affine> affine(const Value *value, int depth) {
        if (auto found = _numbers.find(value); found != _numbers.end()) {
            const auto &v = _variables[found->second];
            Affine index{v.begin, {{found->second, v.step}}, !_begins[found->second]};
            return index;
        }
        auto common = [&]() -> std::optional<Affine> {
            return is_common(value) ? std::optional{Affine{0, {}, true}} : std::nullopt;
        };
        const auto *op = value->definition();
        if (!op || depth > deepest || value->scalar() != ScalarType::INT64) {
            return common();
        }
        if (op->opcode() == Opcode::CONSTANT && value->type()->is_scalar()) {
            return Affine{static_cast<int64_t>(op->get<ConstantPayload>().bits), {}, false};
        }
        bool sum = op->opcode() == Opcode::ADD || op->opcode() == Opcode::SUB;
        if (!sum && op->opcode() != Opcode::MUL) {
            return common();
        }
        auto a = affine(op->operand(0), depth + 1), b = affine(op->operand(1), depth + 1);
        if (!a || !b) {
            return std::nullopt;
        }
        Affine out;
        if (sum) {
            out = *a;
            return add(out, *b, op->opcode() == Opcode::ADD ? 1 : -1) ? std::optional{out}
                                                                      : std::nullopt;
        }
        if (!a->is_constant()) {
            std::swap(a, b);
        }
        if (!a->is_constant()) {
            return common();
        }
        return add(out, *b, a->constant) ? std::optional{out} : std::nullopt;
    }

    /// A difference of two points with one place whose coordinate `first` of the `parallel` differs.
    Proof search(size_t first, IndexPoint &difference) const {
        core::LinearSearch problem{{}, {}, {}, IndexPoint(_places.size(), 0), false, nullptr};
        for (size_t i = 0; i < _variables.size(); ++i) {
            auto most = _variables[i].extent - 1;
            problem.low.push_back(i == first ? 1 : -std::max<int64_t>(0, most));
            problem.high.push_back(i == first ? most : std::max<int64_t>(0, most));
        }
        if (problem.high[first] < 1) {
            return Proof::PROVEN;
        }
        for (const auto &place : _places) {
            IndexPoint row(_variables.size(), 0);
            for (const auto &[variable, coefficient] : place.terms) {
                int64_t product = 0;
                if (__builtin_mul_overflow(coefficient, _variables[variable].extent, &product)) {
                    return Proof::UNKNOWN;
                }
                row[variable] = coefficient;
            }
            problem.rows.push_back(std::move(row));
        }
        return problem.run(search_budget, difference);
    }

    /// Two points at that distance whose place lies in the view, if there are some at the ends of the domain.
    [[nodiscard]] Disjointness disproven(const IndexPoint &difference) const {
        const auto &view = *_store.operand(0)->type();
        bool fixed = _certain;
        for (size_t i = 0; i < _places.size(); ++i) {
            fixed &= !_places[i].shift && view.axes[i].extent != runtime_value;
        }
        for (bool upper : {false, true}) {
            IndexPoint point;
            for (size_t i = 0; i < _variables.size() && fixed; ++i) {
                auto low = std::max<int64_t>(0, -difference[i]),
                     high = _variables[i].extent - 1 - std::max<int64_t>(0, difference[i]);
                point.push_back(upper ? high : low);
            }
            std::vector<int64_t> element;
            bool inside = fixed;
            for (size_t i = 0; i < _places.size() && inside; ++i) {
                core::Wide at = _places[i].constant;
                for (const auto &[variable, coefficient] : _places[i].terms) {
                    at += core::Wide{coefficient} * point[variable];
                }
                inside = at >= 0 && at < view.axes[i].extent;
                element.push_back(static_cast<int64_t>(at));
            }
            if (inside) {
                return {Proof::DISPROVEN, instance(point, {}), instance(point, difference),
                        element};
            }
        }
        return {};
    }

    [[nodiscard]] std::vector<int64_t> instance(const IndexPoint &point,
                                                const IndexPoint &difference) const {
        std::vector<int64_t> index;
        for (size_t i = 0; i < _instances; ++i) {
            auto at = point[i] + (difference.empty() ? 0 : difference[i]);
            index.push_back(_variables[i].begin + _variables[i].step * at);
        }
        return index;
    }

    const Operation &_store, &_parallel;
    std::vector<Variable> _variables;
    std::vector<bool> _begins;///< whether the begin of a nest's variable is known
    std::map<const Value *, size_t> _numbers;
    std::vector<Affine> _places;
    size_t _instances = 0;///< the first variables are coordinates of the `parallel`
    bool _certain = true; ///< each point of the domain runs the store
    bool _vague = false;
};

std::string text_of(const std::vector<int64_t> &point) {
    std::string text;
    for (auto c : point) {
        text += (text.empty() ? "(" : ", ") + std::to_string(c);
    }
    return text.empty() ? "()" : text + ")";
}

void check_store(const Module &module, const Operation &store, const Operation &parallel) {
    auto found = prove_disjoint(store, parallel);
    if (found.proof != Proof::DISPROVEN) {
        return;
    }
    auto index = store.operand(0)->index();
    const auto &names = module.kernel()->parameter_names;
    auto name = index < names.size() && !names[index].empty() ? "'" + names[index] + "'"
                                                              : std::to_string(index);
    throw RaceError{"store: instances " + text_of(found.first) + " and " + text_of(found.second) +
                        " of one parallel both write element " + text_of(found.element) +
                        " of parameter " + name +
                        "; make their parts disjoint, or combine them with reduce",
                    store.loc,
                    {{"the parallel opened here", parallel.loc}}};
}

void check_region(const Module &module, const Region &region,
                  std::vector<const Operation *> &parallels) {
    for (auto *op : region) {
        if (op->opcode() == Opcode::STORE) {
            for (const auto *parallel : parallels) {
                check_store(module, *op, *parallel);
            }
        }
        bool parallel = op->opcode() == Opcode::PARALLEL;
        if (parallel) {
            parallels.push_back(op);
        }
        for (auto *inner : op->regions()) {
            check_region(module, *inner, parallels);
        }
        if (parallel) {
            parallels.pop_back();
        }
    }
}

}// namespace

Disjointness prove_disjoint(const Operation &store, const Operation &parallel) {
    return Access{store, parallel}.prove();
}

void check_stores(const Module &module) {
    std::vector<const Operation *> parallels;
    if (module.kernel()) {
        check_region(module, *module.kernel()->body, parallels);
    }
}

}// namespace luisa::tile::ir

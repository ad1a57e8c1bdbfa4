// SPDX-License-Identifier: Apache-2.0
#include "analysis/work.h"

#include "analysis/roles.h"

#include <algorithm>
#include <bit>

namespace luisa::tile::analysis {

using ir::Opcode;

namespace {

/// Bodies of nests that are looked at one by one; beyond that, so many places along an axis stand for all.
constexpr int64_t most_bodies = 20'000, most_instances = 4096, samples = 9;
constexpr int deepest = 64;

/// An index of a domain and how many it stands for.
struct Sample {
    int64_t index;
    double weight;
};

/// All indices, or places at even distances and the last one, where views end.
std::vector<Sample> samples_of(int64_t extent, bool all) {
    std::vector<Sample> chosen;
    if (all || extent <= samples) {
        for (int64_t i = 0; i < extent; ++i) {
            chosen.push_back({i, 1});
        }
        return chosen;
    }
    auto others = static_cast<double>(extent - 1);
    for (int64_t i = 0; i + 1 < samples; ++i) {
        auto at = others * (static_cast<double>(i) + 0.5) / (samples - 1);
        chosen.push_back({static_cast<int64_t>(at), others / (samples - 1)});
    }
    chosen.push_back({extent - 1, 1});
    return chosen;
}

std::optional<int64_t> arithmetic_on(Opcode op, int64_t a, int64_t b) {
    int64_t r = 0;
    bool divides = b != 0 && !(a == INT64_MIN && b == -1);
    auto floor_div = [&] { return a / b - (a % b != 0 && (a < 0) != (b < 0)); };
    switch (op) {
        case Opcode::ADD: return __builtin_add_overflow(a, b, &r) ? std::nullopt : std::optional{r};
        case Opcode::SUB: return __builtin_sub_overflow(a, b, &r) ? std::nullopt : std::optional{r};
        case Opcode::MUL: return __builtin_mul_overflow(a, b, &r) ? std::nullopt : std::optional{r};
        case Opcode::MINIMUM: return std::min(a, b);
        case Opcode::MAXIMUM: return std::max(a, b);
        case Opcode::DIV: return divides ? std::optional{a / b} : std::nullopt;
        case Opcode::REM: return divides ? std::optional{a % b} : std::nullopt;
        case Opcode::FLOOR_DIV: return divides ? std::optional{floor_div()} : std::nullopt;
        case Opcode::FLOOR_MOD: return divides ? std::optional{a - floor_div() * b} : std::nullopt;
        case Opcode::CEIL_DIV:
            return divides ? std::optional{a / b + (a % b != 0 && (a < 0) == (b < 0))}
                           : std::nullopt;
        default: return std::nullopt;
    }
}

class Counter {
public:
    Counter(const ir::Function &kernel, const LaunchFacts &launch)
        : _kernel{kernel}, _launch{launch} {}

    Work count() {
        run(*_kernel.body, 1);
        for (const auto &[op, work] : _work.of) {
            _work.flops += work.flops;
            _work.loaded += work.loaded;
            _work.stored += work.stored;
        }
        return std::move(_work);
    }

private:
    std::optional<int64_t> view_extent(const ir::Value *view, size_t axis) {
        if (view->owner() == _kernel.body && view->index() < _launch.extents.size() &&
            axis < _launch.extents[view->index()].size()) {
            return _launch.extents[view->index()][axis];
        }
        auto extent = view->type()->axes.at(axis).extent;
        return extent == ir::runtime_value ? std::nullopt : std::optional{extent};
    }

    std::optional<int64_t> argument(const ir::Value *value) {
        if (auto found = _indices.find(value); found != _indices.end()) {
            return found->second;
        }
        bool parameter = value->owner() == _kernel.body && value->index() < _launch.scalars.size();
        return parameter ? _launch.scalars[value->index()] : std::nullopt;
    }

    std::optional<int64_t> evaluate(const ir::Value *value, int depth = 0) {
        auto *op = value->definition();
        if (!op || depth > deepest) {
            return argument(value);
        }
        switch (op->opcode()) {
            case Opcode::CONSTANT:
                return is_integer(value->scalar()) ? std::optional{static_cast<int64_t>(
                                                         op->get<ir::ConstantPayload>().bits)}
                                                   : std::nullopt;
            case Opcode::EXTENT:
                return view_extent(op->operand(0),
                                   static_cast<size_t>(op->get<ir::IndexPayload>().index));
            case Opcode::CAST:
                return is_integer(value->scalar()) ? evaluate(op->operand(0), depth + 1)
                                                   : std::nullopt;
            default: break;
        }
        if (op->operand_count() != 2 || !ir::is_elementwise(op->opcode()) ||
            !value->type()->is_scalar()) {
            return std::nullopt;
        }
        auto a = evaluate(op->operand(0), depth + 1), b = evaluate(op->operand(1), depth + 1);
        return a && b ? arithmetic_on(op->opcode(), *a, *b) : std::nullopt;
    }

    [[nodiscard]] double elements(const std::vector<ir::DimExtent> &dims) const {
        double count = 1;
        for (const auto &d : dims) {
            auto found = _inside.find(d.dim.id);
            count *= static_cast<double>(
                found == _inside.end() ? d.extent : std::min(found->second, d.extent));
        }
        return count;
    }

    /// The elements of a box that lie in the view, along one axis.
    int64_t inside(const ir::Value *view, size_t axis, const ir::Value *origin, int64_t length) {
        auto extent = view_extent(view, axis), first = evaluate(origin);
        int64_t end = 0;
        if (!extent || !first || __builtin_add_overflow(*first, length, &end)) {
            return length;
        }
        return std::max<int64_t>(0, std::min(end, *extent) - std::max<int64_t>(*first, 0));
    }

    template<class F> void each_axis(const ir::Operation &access, const F &f) {
        bool load = access.opcode() == Opcode::LOAD;
        bool mapped = load ? access.get<ir::LoadPayload>().mapped
                           : access.get<ir::StorePayload>().mapped;
        const auto &box = load ? access.result()->type()->dims : access.get<ir::StorePayload>().box;
        for (size_t i = 0; i < box.size(); ++i) {
            f(box[i], mapped ? box[i].extent
                             : inside(access.operand(0), i, access.operand((load ? 1 : 2) + i),
                                      box[i].extent));
        }
    }

    double bytes(const ir::Operation &access) {
        auto count = static_cast<double>(size_of(access.operand(0)->scalar()));
        each_axis(access, [&](const ir::DimExtent &, int64_t valid) {
            count *= static_cast<double>(valid);
        });
        return count;
    }

    /// How far the dimensions of the region's accesses lie in their views.
    void clip(const ir::Region &region) {
        std::unordered_map<uint32_t, int64_t> here;
        for (auto *op : region) {
            if (op->opcode() == Opcode::LOAD || op->opcode() == Opcode::STORE) {
                each_axis(*op, [&](const ir::DimExtent &d, int64_t valid) {
                    auto &most = here.emplace(d.dim.id, 0).first->second;
                    most = std::max(most, valid);
                });
            }
        }
        for (const auto &[dim, valid] : here) {
            _inside[dim] = valid;
        }
    }

    double flops(const ir::Operation &op) {
        auto code = op.opcode();
        if (op.result_count() != 1 || !is_float(op.result()->scalar())) {
            return 0;
        }
        const auto &type = *op.result()->type();
        switch (code) {
            case Opcode::MMA: {
                auto roles = contraction_roles(op);
                return 2 * elements(roles.batch) * elements(roles.rows) * elements(roles.columns) *
                       elements(roles.contracted);
            }
            case Opcode::REDUCE_EXPR:
            case Opcode::SCAN: return elements(op.operand(0)->type()->dims);
            case Opcode::MAP: {
                double each = 0;
                for (auto *inner : *op.body()) {
                    each += flops(*inner);
                }
                return each * elements(type.dims);
            }
            case Opcode::FMA: return 2 * elements(type.dims);
            case Opcode::ITE:
            case Opcode::CAST:
            case Opcode::BITCAST:
            case Opcode::QUANTIZE: return 0;
            default: return ir::is_elementwise(code) ? elements(type.dims) : 0;
        }
    }

    void run(const ir::Region &region, double weight) {
        auto outer = _inside;
        clip(region);
        for (auto *op : region) {
            auto &work = _work.of[op];
            work.executions += weight;
            work.flops += weight * flops(*op);
            if (op->opcode() == Opcode::LOAD) {
                work.loaded += weight * bytes(*op);
            } else if (op->opcode() == Opcode::STORE) {
                work.stored += weight * bytes(*op);
            } else if (ir::is_nest(op->opcode())) {
                run_nest(*op, weight);
            } else if (op->opcode() == Opcode::WHILE) {
                _work.known = false;
                run(*op->body(), weight);
            } else if (op->opcode() == Opcode::IF) {
                _work.exact = false;
                run(*op->body(), weight);
            }
        }
        _inside = std::move(outer);
    }

    void run_nest(const ir::Operation &nest, double weight) {
        const auto &payload = nest.get<ir::NestPayload>();
        std::vector<int64_t> extents;
        int64_t begin = 0, step = 1;
        auto known = [&](const ir::Value *value) {
            auto number = evaluate(value);
            _work.known &= number.has_value();
            return number;
        };
        if (payload.is_range) {
            auto first = known(nest.operand(0)), end = known(nest.operand(1)),
                 by = known(nest.operand(2));
            if (!first || !end || !by || *by == 0) {
                return run(*nest.body(), weight);
            }
            begin = *first;
            step = *by;
            auto length = *by > 0 ? *end - *first : *first - *end, stride = std::abs(*by);
            extents.push_back(std::max<int64_t>(0, (length + stride - 1) / stride));
        }
        for (size_t i = 0; i < payload.dims.size(); ++i) {
            auto extent = known(nest.operand(i));
            if (!extent) {
                return run(*nest.body(), weight);
            }
            extents.push_back(std::max<int64_t>(0, *extent));
        }
        instances(nest, extents, {begin, step}, weight);
    }

    struct Progression {
        int64_t begin, step;
    };
    void instances(const ir::Operation &nest, const std::vector<int64_t> &extents,
                   Progression index, double weight) {
        double total = 1;
        for (auto extent : extents) {
            total *= static_cast<double>(extent);
        }
        bool all = total <= most_instances && total <= static_cast<double>(_bodies);
        std::vector<std::vector<Sample>> places;
        for (auto extent : extents) {
            places.push_back(samples_of(extent, all));
            _work.exact &= places.back().size() == static_cast<size_t>(extent);
        }
        auto visit = [&](auto &self, size_t axis, double so_far) -> void {
            if (axis == places.size()) {
                --_bodies;
                return run(*nest.body(), so_far);
            }
            for (const auto &place : places[axis]) {
                _indices[nest.body()->argument(axis)] = index.begin + index.step * place.index;
                self(self, axis + 1, so_far * place.weight);
            }
        };
        visit(visit, 0, weight);
    }

    const ir::Function &_kernel;
    const LaunchFacts &_launch;
    Work _work;
    std::unordered_map<const ir::Value *, int64_t> _indices;
    std::unordered_map<uint32_t, int64_t>
        _inside;///< of a dimension: elements that lie in the views
    int64_t _bodies = most_bodies;
};

}// namespace

Work count_work(const ir::Function &kernel, const LaunchFacts &launch) {
    return Counter{kernel, launch}.count();
}

}// namespace luisa::tile::analysis

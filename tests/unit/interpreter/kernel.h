// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "interpreter/interpreter.h"
#include "types/convert.h"

#include <luisa/tile/types.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>

namespace luisa::tile::interpreter::test {

using enum ScalarType;
using ir::Opcode;
using Values = std::vector<ir::Value *>;
using Dims = std::vector<ir::DimExtent>;

template<class T> constexpr ScalarType type_of = FLOAT32;
template<> inline constexpr ScalarType type_of<double> = FLOAT64;
template<> inline constexpr ScalarType type_of<int8_t> = INT8;
template<> inline constexpr ScalarType type_of<uint8_t> = UINT8;
template<> inline constexpr ScalarType type_of<int16_t> = INT16;
template<> inline constexpr ScalarType type_of<uint16_t> = UINT16;
template<> inline constexpr ScalarType type_of<int32_t> = INT32;
template<> inline constexpr ScalarType type_of<uint32_t> = UINT32;
template<> inline constexpr ScalarType type_of<int64_t> = INT64;
template<> inline constexpr ScalarType type_of<uint64_t> = UINT64;
template<> inline constexpr ScalarType type_of<half> = FLOAT16;
template<> inline constexpr ScalarType type_of<bfloat16> = BFLOAT16;

template<class T> uint64_t bits_of(T x) {
    uint64_t bits = 0;
    std::memcpy(&bits, &x, sizeof x);
    return bits;
}

inline constexpr auto infinity = std::numeric_limits<float>::infinity();
inline const auto nan = std::numeric_limits<float>::quiet_NaN();

constexpr Dim at(uint32_t position) { return Dim::positional(position); }
inline constexpr Dim M{100, "m"}, N{101, "n"}, K{102, "k"}, B{103, "b"};

/// A kernel under construction with the arguments that it will be run on.
class Kernel {
public:
    ir::Module module;
    ir::Function *function = module.add_function("k", {"k.cpp", 1});
    ir::Builder b{module, function->body};
    std::vector<KernelArgument> arguments;
    Options options;

    struct Layout {
        std::vector<int64_t> extents;
        std::vector<int64_t> strides;///< empty: dense
    };

    /// A parameter over `data`, typed as the launch has it.
    ir::Value *view(ScalarType type, void *data, const Layout &layout) {
        ir::Type t;
        t.kind = ir::TypeKind::VIEW;
        t.scalar = type;
        t.strides = layout.strides;
        for (auto extent : layout.extents) {
            t.axes.push_back({extent, ""});
        }
        return parameter(t, {data, layout.extents, layout.strides, 0});
    }
    /// A parameter with a runtime extent per axis; the launch gives `extents`.
    ir::Value *dynamic_view(ScalarType type, void *data, const std::vector<std::string> &names,
                            const std::vector<int64_t> &extents) {
        ir::Type t;
        t.kind = ir::TypeKind::VIEW;
        t.scalar = type;
        for (const auto &name : names) {
            t.axes.push_back({ir::runtime_value, name});
        }
        return parameter(t, {data, extents, {}, 0});
    }
    template<class T> ir::Value *vector(std::vector<T> &data) {
        return view(type_of<T>, data.data(), {{static_cast<int64_t>(data.size())}, {}});
    }
    template<class T> ir::Value *matrix(std::vector<T> &data, int64_t rows, int64_t columns) {
        return view(type_of<T>, data.data(), {{rows, columns}, {}});
    }
    ir::Value *scalar(ScalarType type, uint64_t bits) {
        auto *value = module.add_argument(function->body, module.scalar(type));
        function->parameter_names.push_back("p" + std::to_string(arguments.size()));
        arguments.push_back({nullptr, {}, {}, bits});
        return value;
    }

    const ir::Type *tile(ScalarType type, Dims dims) { return module.tile(type, std::move(dims)); }
    ir::Value *full(ScalarType type, Dims dims, double x) {
        return b.constant_tile(tile(type, std::move(dims)), arith::from_double(type, x));
    }
    ir::Value *index(int64_t x) { return b.index(x); }
    ir::Value *op(Opcode opcode, const Values &operands) { return b.elementwise(opcode, operands); }
    ir::Value *load(ir::Value *view, const Values &origin, Dims dims, Bounds bounds = Bounds::ZERO,
                    ir::Value *fallback = nullptr) {
        Values operands{view};
        operands.insert(operands.end(), origin.begin(), origin.end());
        if (fallback) {
            operands.push_back(fallback);
        }
        return b.value(Opcode::LOAD, operands, tile(view->scalar(), std::move(dims)),
                       ir::LoadPayload{bounds, fallback != nullptr});
    }
    /// The whole of a vector as a tile of positional dimension 0.
    ir::Value *load_all(ir::Value *view) {
        return load(view, {index(0)}, {{at(0), view->type()->axes[0].extent}});
    }
    void store(ir::Value *view, ir::Value *value, const Values &origin, Dims box,
               Bounds bounds = Bounds::ZERO) {
        Values operands{view, value};
        operands.insert(operands.end(), origin.begin(), origin.end());
        b.emit(Opcode::STORE, operands, {}, ir::StorePayload{bounds, std::move(box)});
    }
    /// At coordinate 0.
    void store_all(ir::Value *view, ir::Value *value) {
        store(view, value, Values(view->type()->rank(), index(0)), value->type()->dims);
    }
    ir::Value *extract(ir::Value *x, const std::vector<Dim> &dims, Values coordinates,
                       ir::Value *fallback = nullptr) {
        coordinates.insert(coordinates.begin(), x);
        if (fallback) {
            coordinates.push_back(fallback);
        }
        return b.value(Opcode::EXTRACT, coordinates, rest(x, dims),
                       ir::AccessPayload{dims, fallback != nullptr});
    }
    ir::Value *insert(ir::Value *x, ir::Value *value, const std::vector<Dim> &dims,
                      Values coordinates) {
        coordinates.insert(coordinates.begin(), {x, value});
        return b.value(Opcode::INSERT, coordinates, x->type(), ir::AccessPayload{dims, false});
    }
    ir::Value *reduce(ir::Value *x, ir::ReducePayload payload, ir::Value *mask = nullptr) {
        payload.has_mask = mask != nullptr;
        const auto *kept = rest(x, payload.dims);
        auto arg = payload.reducer == Reducer::ARGMIN || payload.reducer == Reducer::ARGMAX;
        Values operands = mask ? Values{x, mask} : Values{x};
        return b.value(Opcode::REDUCE_EXPR, operands, arg ? tile(INT64, kept->dims) : kept,
                       payload);
    }
    ir::Value *mma(ir::Value *x, ir::Value *y, ir::Value *acc, bool reassociate = true) {
        return b.value(Opcode::MMA, {x, y, acc}, acc->type(), ir::MmaPayload{{reassociate}});
    }

    using Body = std::function<Values(const Values &indices, const Values &states)>;
    /// A nest; `body` gets indices and states and returns what it yields.
    std::vector<ir::Value *> nest(Opcode opcode, ir::NestPayload payload, const Values &domain,
                                  const Values &states, const Body &body) {
        auto operands = domain;
        operands.insert(operands.end(), states.begin(), states.end());
        auto *op = b.emit(opcode, operands, types(states), payload, 1);
        Values indices, arguments_;
        for (size_t i = 0; i < (payload.is_range ? 1 : domain.size()); ++i) {
            indices.push_back(module.add_argument(op->body(), module.scalar(INT64)));
        }
        for (auto *state : states) {
            arguments_.push_back(module.add_argument(op->body(), state->type()));
        }
        fill(op->body(), [&] { return body(indices, arguments_); });
        return op->results();
    }
    /// A nest over a shape.
    Values over(Opcode opcode, const std::vector<int64_t> &extents, const Values &states,
                const Body &body, ir::NestPayload payload = {}) {
        Values domain;
        for (uint32_t i = 0; i < extents.size(); ++i) {
            payload.dims.push_back(at(i));
            domain.push_back(index(extents[i]));
        }
        return nest(opcode, payload, domain, states, body);
    }
    Values range(Opcode opcode, int64_t begin, int64_t end, int64_t step, const Values &states,
                 const Body &body, ir::NestPayload payload = {}) {
        payload.is_range = true;
        return nest(opcode, payload, {index(begin), index(end), index(step)}, states, body);
    }
    Values if_(ir::Value *condition, const std::vector<const ir::Type *> &results,
               const std::function<Values()> &yes, const std::function<Values()> &no) {
        auto *op = b.emit(Opcode::IF, {condition}, results, ir::None{}, 2);
        fill(op->body(0), yes);
        fill(op->body(1), no);
        return op->results();
    }
    Values while_(const Values &states, const std::function<ir::Value *(const Values &)> &condition,
                  const std::function<Values(const Values &)> &body) {
        auto *op = b.emit(Opcode::WHILE, states, types(states), ir::None{}, 1);
        Values arguments_;
        for (auto *state : states) {
            arguments_.push_back(module.add_argument(op->body(), state->type()));
        }
        fill(op->body(), [&] {
            auto *value = condition(arguments_);
            b.emit(Opcode::CONDITION, {value}, {});
            return body(arguments_);
        });
        return op->results();
    }
    ir::Value *map(const ir::Type *type, const std::function<ir::Value *(const Values &)> &body) {
        auto *op = b.emit(Opcode::MAP, {}, {type}, ir::None{}, 1);
        Values indices;
        for (size_t i = 0; i < type->rank(); ++i) {
            indices.push_back(module.add_argument(op->body(), module.scalar(INT64)));
        }
        fill(op->body(), [&] { return Values{body(indices)}; });
        return op->result();
    }

    void run() { interpreter::run(module, arguments, options); }
    /// Runs and returns the message of the error of class E that it must throw.
    template<class E> std::string error() {
        try {
            run();
        } catch (const E &e) {
            return e.what();
        } catch (const std::exception &e) {
            ADD_FAILURE() << "another error: " << e.what();
            return {};
        }
        ADD_FAILURE() << "no error";
        return {};
    }

private:
    ir::Value *parameter(const ir::Type &type, KernelArgument argument) {
        function->parameter_names.push_back("p" + std::to_string(arguments.size()));
        arguments.push_back(std::move(argument));
        return module.add_argument(function->body, module.intern(type));
    }
    const ir::Type *rest(ir::Value *x, const std::vector<Dim> &dims) {
        Dims kept;
        for (const auto &d : x->type()->dims) {
            if (std::find(dims.begin(), dims.end(), d.dim) == dims.end()) {
                kept.push_back(d);
            }
        }
        return tile(x->scalar(), std::move(kept));
    }
    std::vector<const ir::Type *> types(const Values &values) {
        std::vector<const ir::Type *> result;
        for (auto *value : values) {
            result.push_back(value->type());
        }
        return result;
    }
    void fill(ir::Region *region, const std::function<Values()> &body) {
        auto *outer = b.region();
        b.set_region(region);
        b.emit(Opcode::YIELD, body(), {});
        b.set_region(outer);
    }
};

/// Whether a message contains a text; shows both if not.
inline testing::AssertionResult says(const std::string &message, const std::string &part) {
    if (message.find(part) != std::string::npos) {
        return testing::AssertionSuccess();
    }
    return testing::AssertionFailure() << "'" << part << "' is not in: " << message;
}

}// namespace luisa::tile::interpreter::test

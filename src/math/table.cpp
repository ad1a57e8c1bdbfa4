// SPDX-License-Identifier: Apache-2.0
#include "math/table.h"

#include <iterator>
#include <limits>
#include <mutex>
#include <type_traits>
#include <utility>

#include "core/internal_error.h"
#include "math/bounds.h"
#include "math/functions/all.h"
#include "math/recorder.h"
#include "math/scalar_lanes.h"

namespace luisa::tile::math {

namespace {

static_assert(std::size(function_infos) == function_count);

/// The expansions of a function in one element type.
template<class E> struct Entry {
    Program (*record)() = nullptr;
    Program (*record_fast)() = nullptr;///< null: the same as `record`
    E (*evaluate)(const E *) = nullptr;
    double fast_limit = std::numeric_limits<double>::infinity();
};

template<class E>
using TracedOf = std::conditional_t<sizeof(E) == 4, RecorderLanes::F32, RecorderLanes::F64>;

template<class Text, int Arity, class E> Program record() {
    Recorder recorder;
    using T = TracedOf<E>;
    if constexpr (Arity == 1) {
        return recorder.finish(Text::template apply<RecorderLanes>(T::argument(0)).id);
    } else {
        T first = T::argument(0), second = T::argument(1);
        return recorder.finish(Text::template apply<RecorderLanes>(first, second).id);
    }
}

template<class Text, int Arity, class E> E evaluate_text(const E *a) {
    using S = Scalar<E>;
    if constexpr (Arity == 1) {
        return Text::template apply<ScalarLanes>(S{a[0]}).v;
    } else {
        return Text::template apply<ScalarLanes>(S{a[0]}, S{a[1]}).v;
    }
}

template<class Text, class E, int Arity = 1> constexpr Entry<E> entry() {
    return {&record<Text, Arity, E>, nullptr, &evaluate_text<Text, Arity, E>};
}

template<class Text, class FastText, class E> constexpr Entry<E> entry_with_limit(double limit) {
    return {&record<Text, 1, E>, &record<FastText, 1, E>, &evaluate_text<Text, 1, E>, limit};
}

// In the order of `Function`.
constexpr Entry<float> entries_f32[] = {
    entry<ExpF32, float>(),
    entry<Exp2F32, float>(),
    entry<Expm1F32, float>(),
    entry<LogF32, float>(),
    entry<Log2F32, float>(),
    entry<Log10F32, float>(),
    entry<Log1pF32, float>(),
    entry_with_limit<SinF32<true>, SinF32<false>, float>(trig_limit_f32),
    entry_with_limit<CosF32<true>, CosF32<false>, float>(trig_limit_f32),
    entry_with_limit<TanF32<true>, TanF32<false>, float>(trig_limit_f32),
    entry<TanhF32, float>(),
    entry<ErfF32, float>(),
    entry<ErfcF32, float>(),
    entry<RsqrtF32, float>(),
    entry<PowF32, float, 2>(),
    entry<SigmoidF32, float>(),
    entry<SiluF32, float>(),
    entry<GeluF32, float>(),
    entry<GeluTanhF32, float>(),
    entry<SoftplusF32, float>(),
    entry<CbrtF32, float>(),
};

constexpr Entry<double> entries_f64[] = {
    entry<ExpF64, double>(),      entry<Exp2F64, double>(),     entry<Expm1F64, double>(),
    entry<LogF64, double>(),      entry<Log2F64, double>(),     entry<Log10F64, double>(),
    entry<Log1pF64, double>(),    entry<SinF64, double>(),      entry<CosF64, double>(),
    entry<TanF64, double>(),      entry<TanhF64, double>(),     entry<ErfF64, double>(),
    entry<ErfcF64, double>(),     entry<RsqrtF64, double>(),    entry<PowF64, double, 2>(),
    entry<SigmoidF64, double>(),  entry<SiluF64, double>(),     entry<GeluF64, double>(),
    entry<GeluTanhF64, double>(), entry<SoftplusF64, double>(), entry<CbrtF64, double>(),
};
static_assert(std::size(entries_f64) == function_count);
static_assert(std::size(entries_f32) == function_count);

template<class E> const Entry<E> &entry_of(Function f) {
    if constexpr (sizeof(E) == 4) {
        return entries_f32[static_cast<size_t>(f)];
    } else {
        return entries_f64[static_cast<size_t>(f)];
    }
}

/// Programs by function, type and speed, each recorded by the first caller.
const Program &cached(Function function, bool wide, bool fast) {
    struct Slot {
        std::once_flag once;
        Program program;
    };
    static Slot slots[function_count][2][2];
    Slot &slot = slots[static_cast<size_t>(function)][wide][fast];
    std::call_once(slot.once, [&] {
        auto make = [&](const auto &e) {
            return fast && e.record_fast ? e.record_fast() : e.record();
        };
        slot.program = wide ? make(entry_of<double>(function)) : make(entry_of<float>(function));
    });
    return slot.program;
}

}// namespace

const FunctionInfo &info(Function function) noexcept {
    return function_infos[static_cast<size_t>(function)];
}

bool parse_function(std::string_view name, Function &out) noexcept {
    for (size_t i = 0; i < function_count; i++) {
        if (name == function_infos[i].name) {
            out = static_cast<Function>(i);
            return true;
        }
    }
    return false;
}

bool supports(Function function, ScalarType type) noexcept {
    return type == ScalarType::FLOAT32   ? entry_of<float>(function).record != nullptr
           : type == ScalarType::FLOAT64 ? entry_of<double>(function).record != nullptr
                                         : false;
}

const Program &program(Function function, ScalarType type) {
    require(supports(function, type), "no program of this math function in this type");
    return cached(function, type == ScalarType::FLOAT64, false);
}

const Program &fast_program(Function function, ScalarType type) {
    require(supports(function, type), "no program of this math function in this type");
    return cached(function, type == ScalarType::FLOAT64, true);
}

double fast_limit(Function function, ScalarType type) noexcept {
    return type == ScalarType::FLOAT64 ? entry_of<double>(function).fast_limit
                                       : entry_of<float>(function).fast_limit;
}

float evaluate(Function function, const float *arguments) {
    require(supports(function, ScalarType::FLOAT32), "no program of this math function in f32");
    return entry_of<float>(function).evaluate(arguments);
}

double evaluate(Function function, const double *arguments) {
    require(supports(function, ScalarType::FLOAT64), "no program of this math function in f64");
    return entry_of<double>(function).evaluate(arguments);
}

}// namespace luisa::tile::math

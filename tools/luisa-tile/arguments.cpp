// SPDX-License-Identifier: Apache-2.0
#include "arguments.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <random>

namespace tool {

namespace {

using lt::ScalarType;
using lt::ValueError;

/// Calls `f` with a value of the host type for `type`.
template<class F> auto with_type(ScalarType type, F f) {
    switch (type) {
        case ScalarType::BOOL: return f(bool{});
        case ScalarType::INT8: return f(int8_t{});
        case ScalarType::INT16: return f(int16_t{});
        case ScalarType::INT32: return f(int32_t{});
        case ScalarType::INT64: return f(int64_t{});
        case ScalarType::UINT8: return f(uint8_t{});
        case ScalarType::UINT16: return f(uint16_t{});
        case ScalarType::UINT32: return f(uint32_t{});
        case ScalarType::UINT64: return f(uint64_t{});
        case ScalarType::FLOAT16: return f(lt::half{});
        case ScalarType::BFLOAT16: return f(lt::bfloat16{});
        case ScalarType::FLOAT64: return f(double{});
        case ScalarType::FLOAT8_E4M3FN: return f(lt::float8_e4m3fn{});
        case ScalarType::FLOAT8_E5M2: return f(lt::float8_e5m2{});
        case ScalarType::FLOAT32: break;
    }
    return f(float{});
}

/// The nearest finite value of an 8-bit float, which has no conversion of its own; ties to even.
template<class T> T nearest(double value) {
    auto best = T::from_bits(0);
    for (int bits = 0; bits < 256; ++bits) {
        auto x = T::from_bits(static_cast<uint8_t>(bits));
        auto now = std::abs(static_cast<double>(x) - value);
        auto before = std::abs(static_cast<double>(best) - value);
        if (std::isfinite(static_cast<float>(x)) &&
            (now < before || (now == before && bits % 2 == 0 && best.bits() % 2 != 0))) {
            best = x;
        }
    }
    return best;
}

void set(ScalarType type, void *data, size_t index, double value) {
    with_type(type, [&]<class T>(T) {
        T x;
        if constexpr (std::is_same_v<T, bool>) {
            x = value != 0;
        } else if constexpr (std::is_integral_v<T>) {
            // By way of 64 bits, so that a long iota wraps instead of leaving the type's range.
            x = static_cast<T>(static_cast<int64_t>(value));
        } else if constexpr (std::is_same_v<T, lt::float8_e4m3fn> ||
                             std::is_same_v<T, lt::float8_e5m2>) {
            x = nearest<T>(value);
        } else {
            x = T(value);
        }
        std::memcpy(static_cast<char *>(data) + index * sizeof(T), &x, sizeof(T));
    });
}

template<class T> T number(const std::string &what, const std::string &text) {
    T value{};
    auto *end = text.data() + text.size();
    auto [rest, error] = std::from_chars(text.data(), end, value);
    if (error != std::errc{} || rest != end) {
        throw ValueError{what + " is '" + text + "', expected a number"};
    }
    return value;
}

void read_file(Bound &bound, const std::string &path) {
    std::ifstream file{path, std::ios::binary | std::ios::ate};
    if (!file) {
        throw ValueError{"cannot read '" + path + "'"};
    }
    auto size = static_cast<size_t>(file.tellg());
    if (size != bound.bytes()) {
        throw ValueError{"'" + path + "' has " + std::to_string(size) + " bytes, expected " +
                         std::to_string(bound.bytes()) + " (" + std::to_string(bound.count) +
                         " elements of " + to_string(bound.info.type) + ")"};
    }
    file.seekg(0);
    file.read(static_cast<char *>(bound.memory.get()), static_cast<std::streamsize>(size));
}

void fill(Bound &bound, const std::string &how, size_t seed) {
    if (how != "ones" && how != "iota" && how != "random") {
        read_file(bound, how);
        return;
    }
    // Its own arithmetic on the bits, because the standard's distributions differ among libraries.
    std::mt19937_64 bits{seed};
    bool real = is_float(bound.info.type);
    for (size_t i = 0; i < bound.count; ++i) {
        double value = how == "ones" ? 1.0 : static_cast<double>(i);
        if (how == "random") {
            auto unit = static_cast<double>(bits() >> 11) * 0x1p-53;
            value = real ? 2.0 * unit - 1.0 : static_cast<double>(static_cast<int>(unit * 100.0));
        }
        set(bound.info.type, bound.memory.get(), i, value);
    }
}

int64_t extent_of(const lt::ParameterInfo::Axis &axis, const Settings &extents) {
    if (axis.extent >= 0) {
        return axis.extent;
    }
    auto found = extents.find(axis.name);
    if (found == extents.end()) {
        throw ValueError{"the kernel has a runtime extent '" + axis.name +
                         "'; set it with --extent " + axis.name + "=N"};
    }
    auto value = number<int64_t>("--extent " + axis.name, found->second);
    if (value < 0) {
        throw ValueError{"--extent " + axis.name + " is " + found->second + ", expected >= 0"};
    }
    return value;
}

void make_view(Bound &bound, const Settings &extents) {
    auto &a = bound.argument;
    const auto &info = bound.info;
    a.is_view = true;
    a.read_only = info.read_only;
    a.rank = static_cast<int>(info.axes.size());
    int64_t dense = 1, last = 0;
    bool empty = false;
    for (size_t i = info.axes.size(); i-- > 0;) {
        a.extents[i] = extent_of(info.axes[i], extents);
        a.strides[i] = info.strides.empty() ? dense : info.strides[i];
        if (a.strides[i] < 0) {
            throw ValueError{"this tool makes no views with negative strides"};
        }
        empty = empty || a.extents[i] == 0;
        int64_t reach = 0;
        if (__builtin_mul_overflow(dense, std::max<int64_t>(a.extents[i], 1), &dense) ||
            __builtin_mul_overflow(std::max<int64_t>(a.extents[i] - 1, 0), a.strides[i], &reach) ||
            __builtin_add_overflow(last, reach, &last) || last > INT64_MAX / 16) {
            throw ValueError{"a view of the kernel is larger than memory can be"};
        }
    }
    bound.count = empty ? 0 : static_cast<size_t>(last) + 1;
    constexpr size_t line = 64;
    auto *memory = std::aligned_alloc(line, (bound.bytes() / line + 1) * line);
    if (!memory) {
        throw lt::OutOfMemoryError{"no memory for a view of " + std::to_string(bound.bytes()) +
                                   " bytes"};
    }
    bound.memory = {memory, [](void *p) { std::free(p); }};
    std::memset(memory, 0, bound.bytes());
    a.data = memory;
}

}// namespace

Settings parse_settings(const char *option, const std::vector<std::string> &pairs) {
    Settings settings;
    for (const auto &pair : pairs) {
        auto at = pair.find('=');
        if (at == std::string::npos || at == 0) {
            throw ValueError{std::string{option} + " is '" + pair + "', expected KEY=VALUE"};
        }
        settings[pair.substr(0, at)] = pair.substr(at + 1);
    }
    return settings;
}

size_t find_parameter(const std::vector<lt::ParameterInfo> &parameters, const std::string &key) {
    for (size_t i = 0; i < parameters.size(); ++i) {
        if (key == std::to_string(i) || (!key.empty() && key == parameters[i].name)) {
            return i;
        }
    }
    throw ValueError{"the kernel has no parameter '" + key +
                     "'; expected a name or an index below " + std::to_string(parameters.size())};
}

std::vector<Bound> make_arguments(const std::vector<lt::ParameterInfo> &parameters,
                                  const Settings &inputs, const Settings &extents,
                                  const Settings &scalars) {
    std::vector<Bound> all;
    for (const auto &info : parameters) {
        Bound bound;
        bound.info = info;
        bound.argument.type = info.type;
        if (info.is_view) {
            make_view(bound, extents);
        }
        all.push_back(std::move(bound));
    }
    for (const auto &[key, how] : inputs) {
        auto i = find_parameter(parameters, key);
        if (!parameters[i].is_view) {
            throw ValueError{"--input " + key + " names a scalar; set it with --scalar"};
        }
        fill(all[i], how, i);
    }
    for (const auto &[key, text] : scalars) {
        auto i = find_parameter(parameters, key);
        if (parameters[i].is_view) {
            throw ValueError{"--scalar " + key + " names a view; set it with --input"};
        }
        auto type = parameters[i].type;
        if (type == ScalarType::INT64 || type == ScalarType::UINT64) {
            // Not by way of double, which rounds above 2^53.
            all[i].argument.bits = type == ScalarType::INT64
                                       ? static_cast<uint64_t>(number<int64_t>("--scalar", text))
                                       : number<uint64_t>("--scalar", text);
        } else {
            set(type, &all[i].argument.bits, 0, number<double>("--scalar " + key, text));
        }
    }
    return all;
}

void run_on(const lt::Device &device, const lt::Shader &shader, std::vector<Bound> &bound) {
    // Whatever memory the device has: a copy of all bytes goes there and comes back.
    lt::Stream stream{device};
    std::vector<lt::runtime::Argument> arguments;
    std::vector<lt::runtime::CopyCommand> back;
    for (auto &b : bound) {
        auto argument = b.argument;
        if (b.info.is_view) {
            auto bytes = static_cast<int64_t>(b.bytes());
            auto there = lt::make_tensor<uint8_t>(device, bytes);
            auto *data = static_cast<uint8_t *>(b.memory.get());
            stream << there.copy_from({data, b.bytes()});
            argument.owner = there.argument().owner;
            argument.data = there.data();
            back.push_back(there.copy_to({data, b.bytes()}));
        }
        arguments.push_back(std::move(argument));
    }
    stream << lt::synchronize();
    lt::runtime::dispatch(*shader.impl(), arguments.data(), static_cast<int>(arguments.size()), {});
    for (const auto &copy : back) {
        stream << copy;
    }
    stream << lt::synchronize();
}

double element(const Bound &bound, size_t index) {
    return with_type(bound.info.type, [&]<class T>(T x) {
        std::memcpy(&x, static_cast<const char *>(bound.memory.get()) + index * sizeof(T),
                    sizeof(T));
        return static_cast<double>(x);
    });
}

void write_file(const Bound &bound, const std::string &path) {
    std::ofstream file{path, std::ios::binary};
    file.write(static_cast<const char *>(bound.memory.get()),
               static_cast<std::streamsize>(bound.bytes()));
    if (!file.flush()) {
        throw ValueError{"cannot write '" + path + "'"};
    }
}

}// namespace tool

// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ir/module.h"
#include "ir/report.h"

#include <cstring>
#include <string>
#include <string_view>
#include <vector>

// What is kept of kernels on disk: bytes of fields, and what stands for the places that a program names.

namespace luisa::tile::compiler {

/// The plan and the reports name lines, so a program that moved in its file is compiled again: this stands for
/// all its locations.
[[nodiscard]] std::string location_hash(const ir::Module &module);

/// Names of files for locations that come from disk; errors may carry them for as long as the process lives.
[[nodiscard]] const char *lasting(std::string name);

// One description of the fields serves both directions. Numbers are as in memory: the key names the machine.

class Writer {
public:
    static constexpr bool reading = false;
    template<class T> void number(const T &value) {
        bytes.append(reinterpret_cast<const char *>(&value), sizeof(value));
    }
    void text(const std::string &value) {
        number(uint64_t{value.size()});
        bytes += value;
    }
    template<class T, class Each> void list(const std::vector<T> &values, const Each &each) {
        number(uint64_t{values.size()});
        for (const auto &value : values) {
            each(value);
        }
    }
    void location(const SourceLoc &loc) {
        text(loc.file);
        number(loc.line);
    }
    std::string bytes;
};

class Reader {
public:
    static constexpr bool reading = true;
    explicit Reader(std::string_view bytes) : _rest{bytes} {}
    template<class T> void number(T &value) {
        if (sizeof(value) > _rest.size()) {
            _rest = {};
            _failed = true;
            value = {};
            return;
        }
        std::memcpy(&value, _rest.data(), sizeof(value));
        _rest.remove_prefix(sizeof(value));
    }
    void text(std::string &value) {
        auto size = count();
        value = _rest.substr(0, size);
        _rest.remove_prefix(size);
    }
    template<class T, class Each> void list(std::vector<T> &values, const Each &each) {
        // Every element takes a byte at least, so a wrong number cannot ask for all memory.
        values.resize(count());
        for (auto &value : values) {
            each(value);
        }
    }
    void location(SourceLoc &loc) {
        std::string file;
        text(file);
        loc.file = lasting(std::move(file));
        number(loc.line);
    }
    [[nodiscard]] bool done() const { return !_failed && _rest.empty(); }

private:
    size_t count() {
        uint64_t size = 0;
        number(size);
        if (size > _rest.size()) {
            _failed = true;
            _rest = {};
            return 0;
        }
        return size;
    }
    std::string_view _rest;
    bool _failed = false;
};

template<class Stream, class Report> void describe_report(Stream &s, Report &report) {
    // A byte, since a bool with another value is none.
    auto assertion = static_cast<uint8_t>(report.is_assertion);
    s.number(assertion);
    s.text(report.text);
    // Reports count along dimensions; which ones they are is known to the program alone.
    s.list(report.box, [&](auto &axis) { s.number(axis.extent); });
    s.list(report.types, [&](auto &type) { s.number(type); });
    s.location(report.loc);
    if constexpr (Stream::reading) {
        report.is_assertion = assertion != 0;
    }
}

}// namespace luisa::tile::compiler

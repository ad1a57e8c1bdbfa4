// SPDX-License-Identifier: Apache-2.0
#include "ir/pass_manager.h"

#include "core/internal_error.h"
#include "ir/text.h"
#include "ir/verifier.h"

#include <cstdio>
#include <cstdlib>

namespace luisa::tile::ir {

PassManager::PassManager(PassOptions options) : _options{std::move(options)} {
    if (const auto *asked = std::getenv("LUISA_TILE_DUMP"); asked && _options.dump.empty()) {
        _options.dump = asked;
    }
    if (!_options.sink) {
        _options.sink = [](std::string_view text) {
            std::fwrite(text.data(), 1, text.size(), stderr);
        };
    }
}

PassManager &PassManager::add(std::string name, std::function<void(Module &)> pass) {
    _passes.push_back({std::move(name), std::move(pass)});
    return *this;
}

bool PassManager::dumps(std::string_view name) const {
    std::string_view names = _options.dump;
    while (!names.empty()) {
        auto comma = names.find(',');
        auto one = names.substr(0, comma);
        if (one == name || one == "all") {
            return true;
        }
        names.remove_prefix(comma == std::string_view::npos ? names.size() : comma + 1);
    }
    return false;
}

void PassManager::dump(const PassReport &report, const std::string &text) const {
    auto microseconds = std::chrono::duration_cast<std::chrono::microseconds>(report.time).count();
    auto head = "// after " + report.name + " (" + std::to_string(microseconds) + " us" +
                (report.changed ? "" : ", unchanged") + ")\n";
    _options.sink(report.changed ? head + text : head);
}

void PassManager::run(Module &module) {
    _reports.clear();
    std::string before;// text of the module as it is, where it is known
    for (const auto &pass : _passes) {
        bool dumped = dumps(pass.name);
        if (dumped && before.empty()) {
            before = print(module);
        }
        auto begin = std::chrono::steady_clock::now();
        pass.run(module);
        PassReport report{pass.name, std::chrono::steady_clock::now() - begin, false};
        if (dumped) {
            auto text = print(module);
            report.changed = text != before;
            dump(report, text);
            before = std::move(text);
        } else {
            before.clear();
        }
        _reports.push_back(std::move(report));
        if (_options.verify) {
            try {
                verify(module);
            } catch (const Error &error) {
                internal_error("after pass " + pass.name + ": " + error.message());
            }
        }
    }
}

}// namespace luisa::tile::ir

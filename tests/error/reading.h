// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <luisa/tile/error.h>

#include <functional>
#include <string>

// What the user of a wrong program reads, whole.

namespace luisa::tile::test {

/// The text of the error that `mistake` throws; places in `file` become lines relative to `line`, which
/// the mistake sets: "@+0" is its own line.
inline std::string read_by_user(const std::string &file, const int &line,
                                const std::function<void()> &mistake) {
    std::string text = "no error";
    try {
        mistake();
    } catch (const Error &error) {
        text = error.what();
    }
    for (auto at = text.find(file + ":"); at != std::string::npos;
         at = text.find(file + ":", at + 1)) {
        auto from = at + file.size() + 1, to = text.find_first_not_of("0123456789", from);
        auto offset = std::stoi(text.substr(from)) - line;
        text.replace(at, to - at, (offset < 0 ? "@" : "@+") + std::to_string(offset));
    }
    return text;
}

}// namespace luisa::tile::test

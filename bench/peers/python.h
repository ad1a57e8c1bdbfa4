// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

namespace bench {

/// A Python interpreter in this process, from the environment that `./dev setup peers` makes. Started
/// on first use and never stopped. All of its code runs in one namespace.
class Python {
public:
    /// PeerMissing when there is no environment, or no shared library of its Python.
    static Python &instance();
    /// Runs statements. An exception is printed with its traceback and becomes a std::runtime_error
    /// that says what `purpose` was.
    void run(const std::string &statements, const char *purpose);

private:
    Python();
    int (*_run)(const char *) = nullptr;
};

}// namespace bench

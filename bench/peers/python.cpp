// SPDX-License-Identifier: Apache-2.0
#include "peers/python.h"

#include "peers/library.h"
#include "peers/peer.h"

#include <fmt/format.h>

namespace bench {

namespace {

/// "3.11" of an environment, from its lib/python3.11.
std::string version_of(const std::filesystem::path &environment) {
    const std::string prefix = "python";
    std::error_code ignored;
    for (const auto &entry : std::filesystem::directory_iterator(environment / "lib", ignored)) {
        auto name = entry.path().filename().string();
        if (entry.is_directory() && name.rfind(prefix, 0) == 0) {
            return name.substr(prefix.size());
        }
    }
    return {};
}

}// namespace

Python &Python::instance() {
    static Python python;
    return python;
}

Python::Python() {
    auto environment = python_environment();
    auto version = environment.empty() ? std::string{} : version_of(environment);
    if (version.empty()) {
        throw PeerMissing{"there is no Python environment (.venv); ./dev setup peers makes it"};
    }
    // Extension modules expect the interpreter's symbols to be there.
    std::string why;
    auto library = Library::open({"libpython" + version + ".so.1.0"}, why, true);
    if (!library) {
        throw PeerMissing{fmt::format(
            "libpython{} is not installed ({}); ./dev setup peers brings it", version, why)};
    }
    // The program's name is how Python finds the environment. It keeps the pointer.
    static std::wstring program;
    program = (environment / "bin/python3").wstring();
    library->get<void(const wchar_t *)>("Py_SetProgramName")(program.c_str());
    // 0: signals stay ours.
    library->get<void(int)>("Py_InitializeEx")(0);
    _run = library->get<int(const char *)>("PyRun_SimpleString");
}

void Python::run(const std::string &statements, const char *purpose) {
    if (_run(statements.c_str()) != 0) {
        throw std::runtime_error{fmt::format("Python failed to {}; its message is above", purpose)};
    }
}

}// namespace bench

// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

namespace luisa::tile::test {

/// Runs one test of this program, which may be disabled, in a process of its own that shares nothing with this
/// one but the environment. True if it passed.
inline bool passes_in_a_fresh_process(const std::string &test) {
    auto child = fork();
    if (child == 0) {
        auto filter = "--gtest_filter=" + test;
        if (freopen("/dev/null", "w", stdout)) {
            execl("/proc/self/exe", "test", filter.c_str(), "--gtest_also_run_disabled_tests",
                  static_cast<char *>(nullptr));
        }
        _exit(1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}// namespace luisa::tile::test

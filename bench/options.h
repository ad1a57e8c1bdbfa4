// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

namespace bench {

struct Options {
    std::vector<std::string> suites;///< in the order asked for, each once
    std::string device = "cpu";
    std::vector<int> threads{1};
    std::vector<std::string> dtypes;///< empty: all
    std::string cases;              ///< regular expression on case names; empty: all
    std::vector<std::string> peers;
    std::string json;      ///< path; empty: none
    bool cpu_clock = false;///< processor time in place of wall time; one thread only
    bool quick = false;
};

/// Reads the command line. Throws ValueError for what no suite, peer, device or machine has. When help was
/// asked for, prints it and returns false.
[[nodiscard]] bool parse_options(int argc, char **argv, Options &options);

}// namespace bench

// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdio>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

namespace bench {

/// One line of the results: a case on a device with a number of threads against one peer.
struct Record {
    std::string suite, name, dtype, device;
    int threads = 1;
    std::string
        mode;///< burst, sustained or check on a GPU; cpu-time with that clock; empty: wall time
    std::optional<double> ours_us;///< empty: checked, not timed
    std::optional<std::string> peer, peer_version;
    std::optional<double> peer_us, ratio;///< ratio: peer ÷ ours
    std::string limit;
    std::optional<double> limit_fraction;///< empty: the limit was not measured
    double max_error = 0, compile_ms = 0;
    std::string plan;///< hash of the plan's text
};

/// One JSON object without line ends.
[[nodiscard]] std::string to_json(const Record &record);

/// Prints each record as it comes, writes it to the JSON file, and sums up.
class Report {
public:
    /// An empty path: no file. ValueError when the file cannot be written.
    explicit Report(const std::string &json_path);
    void add(const Record &record);
    /// A case that could not be done, with the reason. It counts as a failure.
    void fail(const std::string &suite, const std::string &name, int threads,
              const std::string &reason);
    /// Per peer and number of threads: geometric mean and minimum of the ratio, how many lose.
    void print_summary() const;
    [[nodiscard]] bool failed() const noexcept { return !_failures.empty(); }

private:
    std::string _path;
    std::ofstream _json;
    std::vector<Record> _records;
    std::vector<std::string> _failures;
};

}// namespace bench

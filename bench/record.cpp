// SPDX-License-Identifier: Apache-2.0
#include "record.h"

#include <fmt/format.h>
#include <luisa/tile/error.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <map>

namespace bench {

namespace {

template<class T> nlohmann::ordered_json nullable(const std::optional<T> &x) {
    return x ? nlohmann::ordered_json(*x) : nlohmann::ordered_json(nullptr);
}

constexpr const char *heading =
    "suite     case                      dtype thr, mode      ours us  peer     "
    "     peer us  ratio  limit   of limit  max error  compile ms";

}// namespace

std::string to_json(const Record &r) {
    nlohmann::ordered_json j;
    j["suite"] = r.suite;
    j["case"] = r.name;
    j["dtype"] = r.dtype;
    j["device"] = r.device;
    j["threads"] = r.threads;
    j["mode"] = r.mode.empty() ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(r.mode);
    j["ours_us"] = nullable(r.ours_us);
    j["peer"] = nullable(r.peer);
    j["peer_version"] = nullable(r.peer_version);
    j["peer_us"] = nullable(r.peer_us);
    j["ratio"] = nullable(r.ratio);
    j["limit"] = r.limit;
    j["limit_fraction"] = nullable(r.limit_fraction);
    j["max_error"] = r.max_error;
    j["compile_ms"] = r.compile_ms;
    j["plan"] = r.plan;
    return j.dump();
}

Report::Report(const std::string &json_path) : _path{json_path} {
    if (!_path.empty()) {
        _json.open(_path, std::ios::trunc);
        if (!_json) {
            throw luisa::tile::ValueError{fmt::format(
                "--json: cannot write '{}' ({}); name a file in a folder that exists and that you "
                "may write to",
                _path, std::strerror(errno))};
        }
    }
}

void Report::add(const Record &r) {
    if (_records.empty()) {
        fmt::print("{}\n", heading);
    }
    _records.push_back(r);
    auto peer_time = r.peer_us ? fmt::format("{:.1f}", *r.peer_us) : "-";
    auto ratio = r.ratio ? fmt::format("{:.2f}", *r.ratio) : "-";
    auto our_time = r.ours_us ? fmt::format("{:.1f}", *r.ours_us) : "-";
    auto fraction = r.limit_fraction ? fmt::format("{:.0f}%", 100 * *r.limit_fraction) : "-";
    // Modes are those of GPUs, which have no threads of ours.
    auto how = r.mode == "burst" || r.mode == "sustained" || r.mode == "check"
                   ? r.mode
                   : std::to_string(r.threads);
    fmt::print("{:<9} {:<25} {:<5} {:>9} {:>12}  {:<9} {:>11} {:>6}  {:<7} {:>8} {:>10.1e} "
               "{:>11.1f}\n",
               r.suite, r.name, r.dtype, how, our_time, r.peer.value_or("-"), peer_time, ratio,
               r.limit, fraction, r.max_error, r.compile_ms);
    std::fflush(stdout);
    if (_json.is_open() && !(_json << to_json(r) << '\n' << std::flush)) {
        throw luisa::tile::ValueError{
            fmt::format("--json: writing '{}' failed; is the disk full?", _path)};
    }
}

void Report::fail(const std::string &suite, const std::string &name, int threads,
                  const std::string &reason) {
    _failures.push_back(fmt::format("{} {} on {} threads: {}", suite, name, threads, reason));
    fmt::print("{:<7} {:<25} {}\n", suite, name, reason);
    std::fflush(stdout);
}

void Report::print_summary() const {
    std::map<std::tuple<std::string, std::string, int>, std::vector<double>> groups;
    for (const auto &r : _records) {
        if (r.ratio) {
            groups[{r.suite, *r.peer, r.threads}].push_back(*r.ratio);
        }
    }
    for (const auto &[key, ratios] : groups) {
        double logs = 0;
        for (auto x : ratios) {
            logs += std::log(x);
        }
        auto lose = std::count_if(ratios.begin(), ratios.end(), [](double x) { return x < 1; });
        fmt::print("{} against {} on {} thread{}: geometric mean {:.2f}, minimum {:.2f}, {} of {} "
                   "lose\n",
                   std::get<0>(key), std::get<1>(key), std::get<2>(key),
                   std::get<2>(key) == 1 ? "" : "s",
                   std::exp(logs / static_cast<double>(ratios.size())),
                   *std::min_element(ratios.begin(), ratios.end()), lose, ratios.size());
    }
    for (const auto &failure : _failures) {
        fmt::print("FAILED {}\n", failure);
    }
    std::fflush(stdout);
}

}// namespace bench

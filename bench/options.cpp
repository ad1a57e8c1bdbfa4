// SPDX-License-Identifier: Apache-2.0
#include "options.h"

#include "suite.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <regex>
#include <set>

namespace bench {

namespace {

template<class T> void drop_repeats(std::vector<T> &values) {
    std::set<T> seen;
    std::erase_if(values, [&](const T &v) { return !seen.insert(v).second; });
}

void check_names(const char *what, const std::vector<std::string> &asked,
                 const std::vector<std::string> &known) {
    for (const auto &name : asked) {
        if (std::find(known.begin(), known.end(), name) == known.end()) {
            throw lt::ValueError{fmt::format("unknown {} '{}'; expected one of {}", what, name,
                                             fmt::join(known, ", "))};
        }
    }
}

template<class T> std::vector<std::string> names(const std::vector<T> &all) {
    std::vector<std::string> result;
    for (const auto &x : all) {
        result.emplace_back(x.name);
    }
    return result;
}

std::string footer() {
    std::string text = "Suites:\n";
    for (const auto &suite : all_suites()) {
        text += fmt::format("  {:<10} {}\n", suite.name, suite.summary);
    }
    return text +
           fmt::format("Peers: {}; ./dev setup peers installs them. {}: the source that a variant "
                       "says in other words.\n",
                       fmt::join(names(all_peers()), ", "), base_peer);
}

/// Threads that this process may use, one a core.
int cores() {
    static const int count = lt::Device::create("cpu", {.threads = 0}).threads();
    return count;
}

/// What runs on GPUs is timed by their events, and compared with their libraries by gpu_peers.py.
void check_device(const Options &o) {
    if (o.device == "cpu") {
        return;
    }
    if (o.device != "cuda-emulator" && !std::regex_match(o.device, std::regex{"cuda(:[0-9]+)?"})) {
        throw lt::ValueError{fmt::format(
            "unknown device '{}'; expected one of cpu, cuda, cuda:1 and so on, cuda-emulator",
            o.device)};
    }
    for (const auto &suite : all_suites()) {
        auto asked = std::find(o.suites.begin(), o.suites.end(), suite.name) != o.suites.end();
        if (asked && !suite.gpu_cases) {
            throw lt::ValueError{fmt::format("suite '{}' is measured on the CPU only", suite.name)};
        }
    }
    if (!o.peers.empty() || o.cpu_clock) {
        throw lt::ValueError{
            "--peers and --clock are of the CPU; gpu_peers.py times the peers of a GPU"};
    }
}

void check(const Options &o) {
    check_names("suite", o.suites, names(all_suites()));
    auto peers = names(all_peers());
    peers.emplace_back(base_peer);
    check_names("peer", o.peers, peers);
    check_device(o);
    check_names("dtype", o.dtypes, {"f32", "bf16", "int8"});
    for (auto t : o.threads) {
        if (t < 1 || t > cores()) {
            throw lt::ValueError{fmt::format(
                "--threads {}: expected 1 to {}, the cores of this machine", t, cores())};
        }
    }
    if (o.cpu_clock && o.threads != std::vector{1}) {
        throw lt::ValueError{
            "--clock cpu adds up the time of all threads; use it with --threads 1"};
    }
    try {
        std::regex{o.cases};
    } catch (const std::regex_error &) {
        throw lt::ValueError{
            fmt::format("--case '{}' is not a regular expression; try a part of a name", o.cases)};
    }
}

}// namespace

bool parse_options(int argc, char **argv, Options &o) {
    std::string clock = "wall";
    CLI::App app{"Measures tile kernels against the libraries that one would use instead",
                 "luisa-tile-bench"};
    app.footer(footer());
    app.add_option("SUITE", o.suites, "What to measure")->required();
    app.add_option("--device", o.device, "cpu, cuda, cuda:1, …, cuda-emulator")
        ->capture_default_str();
    app.add_option("--threads", o.threads, "Numbers of threads, such as 1,2")
        ->delimiter(',')
        ->capture_default_str();
    app.add_option("--dtype", o.dtypes, "Element types; otherwise all")->delimiter(',');
    app.add_option("--case", o.cases, "Only cases whose names contain this regular expression");
    app.add_option("--peers", o.peers, "What to compare with, such as openblas,pytorch")
        ->delimiter(',');
    app.add_option("--json", o.json, "Write one JSON object a line to this file");
    app.add_option("--clock", clock, "wall, or cpu for one thread on a busy machine")
        ->capture_default_str();
    app.add_flag("--quick", o.quick, "Few and short samples: a check, not a measurement");
    try {
        app.parse(argc, argv);
    } catch (const CLI::CallForHelp &) {
        fmt::print("{}", app.help());
        return false;
    } catch (const CLI::ParseError &error) {
        throw lt::ValueError{std::string{error.what()} + "; see luisa-tile-bench --help"};
    }
    drop_repeats(o.suites);
    drop_repeats(o.threads);
    drop_repeats(o.peers);
    check_names("clock", {clock}, {"wall", "cpu"});
    o.cpu_clock = clock == "cpu";
    check(o);
    return true;
}

}// namespace bench

// SPDX-License-Identifier: Apache-2.0
#include <luisa/tile/fuzz.h>

#include "emit/llvm/jit.h"
#include "fuzz/generator.h"
#include "fuzz/isolate.h"
#include "fuzz/reduce.h"
#include "target/cpu.h"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <map>
#include <set>
#include <thread>

namespace luisa::tile {

namespace {

using namespace fuzz;

/// What must stay the same of a message while a program shrinks: its words, not its numbers.
std::string gist(const std::string &message) {
    std::string words;
    for (char c : message.substr(0, 120)) {
        if (std::isalpha(static_cast<unsigned char>(c))) {
            words += c;
        }
    }
    return words.substr(0, 40);
}

Case reduced(const Case &failing, const Outcome &outcome, int seconds) {
    auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds{seconds};
    auto still_fails = [&](const Case &c) {
        auto now = execute_isolated(c, 5);
        return now.kind == outcome.kind &&
               (now.kind != OutcomeKind::ERROR || gist(now.message) == gist(outcome.message));
    };
    return reduce(failing, still_fails,
                  [&] { return std::chrono::steady_clock::now() < deadline; });
}

/// `reported`: what earlier failures were like; only the first of a kind is made small.
void report_failure(const FuzzOptions &options, const BatchResult::Failure &failure,
                    std::set<std::string> &reported) {
    auto index = failure.index;
    auto c = generate(Random{options.seed, index});
    Target{options.device, options.cpu}.apply(c.settings);
    c.settings = variants(c.settings)[failure.variant];
    auto outcome = execute_isolated(c, options.timeout_s);
    auto name = "--seed " + std::to_string(options.seed) + " --case " + std::to_string(index) +
                (options.device == "cpu" ? "" : " --device " + options.device);
    options.report("FAILED " + name + ": " + to_string(outcome.kind) + ": " + outcome.message +
                   "\n");
    if (!is_failure(outcome.kind)) {
        options.report("  it does not fail again when it runs alone\n");
        return;
    }
    if (!reported.insert(to_string(outcome.kind) + gist(outcome.message)).second) {
        options.report("  like one above\n");
        return;
    }
    if (options.reduce_s > 0) {
        c = reduced(c, outcome, options.reduce_s);
        auto small = execute_isolated(c, options.timeout_s);
        options.report("  reduced: " + std::string{to_string(small.kind)} + ": " + small.message +
                       "\n");
    }
    auto text = to_text(c);
    if (options.folder.empty()) {
        options.report(text + "\n");
        return;
    }
    auto path = options.folder + "/fuzz-" + std::to_string(options.seed) + "-" +
                std::to_string(index) + ".tir";
    std::ofstream{path} << text;
    options.report("  saved as " + path + "\n");
}

/// Why programs were not supported, most frequent first.
std::string refusals_text(const std::vector<BatchResult> &results) {
    std::map<std::string, BatchResult::Refusal> all;
    for (const auto &result : results) {
        for (const auto &r : result.refusals) {
            auto &sum = all.try_emplace(r.message, BatchResult::Refusal{r.message, 0, r.index})
                            .first->second;
            sum.count += r.count;
            sum.index = std::min(sum.index, r.index);
        }
    }
    std::vector<BatchResult::Refusal> sorted;
    for (const auto &[message, refusal] : all) {
        sorted.push_back(refusal);
    }
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const auto &a, const auto &b) { return a.count > b.count; });
    std::string text;
    for (const auto &r : sorted) {
        text += "unsupported, " + std::to_string(r.count) + " programs (first: case " +
                std::to_string(r.index) + "): " + r.message + "\n";
    }
    return text;
}

std::string summary(const uint64_t (&counts)[outcome_kind_count]) {
    std::string text;
    for (size_t i = 0; i < outcome_kind_count; ++i) {
        if (counts[i] || i <= static_cast<size_t>(OutcomeKind::EXCLUDED)) {
            text += (text.empty() ? "" : ", ") + std::to_string(counts[i]) + " " +
                    to_string(static_cast<OutcomeKind>(i));
        }
    }
    return text + "\n";
}

}// namespace

/// Refuses what there is not, before any program is made. GPUs are opened in child processes only.
static void check_target(const FuzzOptions &options) {
    bool gpu = options.device == "cuda" || options.device.rfind("cuda:", 0) == 0;
    if (options.device != "cpu" && options.device != "cuda-emulator" && !gpu) {
        throw TargetError{"no device \"" + options.device +
                          "\" for random programs; expected cpu, cuda-emulator, cuda or cuda:N"};
    }
    const auto *level = target::find_cpu_level(options.cpu);
    auto host = emit::host_cpu().cpu;
    bool here = options.cpu.empty() || options.cpu == host || (level && level->runs_here());
    if (!here) {
        throw TargetError{"no CPU called \"" + options.cpu + "\" that runs here; expected " +
                          target::cpu_names(host, true)};
    }
}

bool run_fuzz(const FuzzOptions &options) {
    check_target(options);
    constexpr size_t most_reported = 20;
    auto jobs = options.jobs > 0 ? static_cast<uint64_t>(options.jobs)
                                 : std::max(1u, std::thread::hardware_concurrency());
    std::vector<Batch> batches;
    for (uint64_t i = 0; i < std::min(jobs, options.count); ++i) {
        batches.push_back({options.seed,
                           options.first + i,
                           options.first + options.count,
                           jobs,
                           options.every_setting,
                           {options.device, options.cpu}});
    }
    uint64_t counts[outcome_kind_count] = {};
    Coverage coverage;
    std::vector<BatchResult::Failure> failing;
    auto results = run_batches(batches, options.timeout_s);
    for (const auto &r : results) {
        for (size_t i = 0; i < outcome_kind_count; ++i) {
            counts[i] += r.counts[i];
        }
        coverage.add(r.coverage);
        for (const auto &f : r.failures) {
            failing.push_back(f);
        }
    }
    std::sort(failing.begin(), failing.end(),
              [](const auto &a, const auto &b) { return a.index < b.index; });
    options.report("seed " + std::to_string(options.seed) + ", " + std::to_string(options.count) +
                   " programs: " + summary(counts));
    std::set<std::string> reported;
    for (size_t i = 0; i < std::min(failing.size(), most_reported); ++i) {
        report_failure(options, failing[i], reported);
    }
    options.report(refusals_text(results));
    options.report(coverage.text());
    auto missing = options.need_coverage ? coverage.missing(Coverage::enough) : std::string{};
    if (!missing.empty()) {
        options.report("met less than " + std::to_string(Coverage::enough) + " times:\n" + missing);
    }
    return failing.empty() && missing.empty();
}

std::string fuzz_replay(const std::string &text, const std::string &file_name,
                        const std::string &device) {
    auto c = from_text(text, file_name);
    c.settings.device = device.empty() ? c.settings.device : device;
    auto outcome = execute(c);
    return is_failure(outcome.kind) ? std::string{to_string(outcome.kind)} + ": " + outcome.message
                                    : std::string{};
}

std::string fuzz_program(uint64_t seed, uint64_t index) {
    return to_text(generate(Random{seed, index}));
}

}// namespace luisa::tile

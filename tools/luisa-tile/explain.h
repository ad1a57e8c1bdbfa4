// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <luisa/tile/explain.h>

#include <string>
#include <vector>

// luisa-tile explain: what the CPU back end made of kernels, as text, JSON or one page of HTML.

namespace tool {

namespace lt = luisa::tile;

struct ExplainSettings {
    std::string file, example, html, json, cpu;
    std::vector<std::string> extents;         ///< NAME=N
    std::vector<std::string> sources;         ///< folders in which source files are looked for
    double peak_gflops = 0, bandwidth_gbs = 0;///< of the machine; 0: measured
};

/// A source file that kernels come from.
struct SourceFile {
    std::string name;
    std::vector<std::string> lines;///< empty: the file was not found
};

/// What the machine can do with as many threads as the plan is for.
struct MachineLimits {
    double flops = 0, bandwidth = 0;///< f32 operations and bytes a second
    std::string origin;             ///< how they are known
};

/// Costs of compiling, of a device that compiled the kernel for this machine.
struct CompileTimes {
    bool known = false;
    double total_ms = 0, plan_ms = 0, realize_ms = 0, emit_ms = 0, codegen_ms = 0, link_ms = 0;
};

struct Subject {
    lt::Explanation about;
    CompileTimes times;
};

/// All that a page shows; the JSON has the same.
struct ExplainPage {
    std::string title, version;
    MachineLimits limits;
    std::vector<SourceFile> sources;
    std::vector<Subject> kernels;
};

/// Explains what the settings say. Returns the exit status.
int run_explain(const ExplainSettings &settings);

/// The page as JSON text and as HTML that needs nothing beside itself.
[[nodiscard]] std::string to_json(const ExplainPage &page);
[[nodiscard]] std::string to_html(const ExplainPage &page);

/// What the roofline says of a step.
struct Roof {
    double intensity = 0; ///< operations a byte of views; 0: no operations or no bytes
    double attainable = 0;///< operations a second at this intensity
    double predicted = 0; ///< operations a second by the planner's cost model; 0: not known
};
[[nodiscard]] Roof roof_of(const lt::Explanation::Step &step, const lt::Explanation &about,
                           const MachineLimits &limits);

}// namespace tool

// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <luisa/tile/kernel.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace luisa::tile {

/// How a kernel is explained.
struct ExplainOptions {
    std::string cpu;///< as LLVM names it; empty: this machine. See `forms`
    int threads = 1;///< that the plan is made for
    /// Of runtime extents, for the numbers that depend on them. One that is missing counts as `assumed_extent`.
    std::map<std::string, int64_t> extents;
    int64_t assumed_extent = 1024;
    bool assembly = true;
};

/// What the CPU back end decided for a kernel, and why: what `luisa-tile explain` shows. Steps are numbered from 1 in the
/// order of the plan; numbers of work count what the program asks for inside its views, not what is computed again.
struct Explanation {
    /// A line of the user's source; `line` is 0 where there is none.
    struct Place {
        std::string file;
        uint32_t line = 0;
    };
    struct Named {
        std::string name;
        int64_t extent = 0;
    };
    /// What was decided, another way, and why that was not taken.
    struct Alternative {
        std::string what, alternative, reason;
        Place place;
    };
    /// Something that a step leaves behind: a store, a fold, a kept value.
    struct Root {
        std::string what;
        Place place;
    };
    struct Instruction {
        std::string text;
        bool is_label = false;
    };
    /// A property of a step, such as "register block" and "6 rows x 64 columns".
    struct Fact {
        std::string name, value;
    };
    /// A loop group, a contraction or an operation that runs where it stands.
    struct Step {
        int number = 0, parent = 0;///< parent: the step that contains it; 0: a phase
        int phase = 0;
        std::string kind; ///< group, contraction or the name of an operation
        std::string title;///< the step as the plan prints it
        Place place;
        std::vector<Named> loops;
        std::string vector_axis;///< empty: scalar code
        int lanes = 1;
        std::vector<Fact> facts;
        std::vector<Root> roots;
        double executions = 0;
        double flops = 0, loaded = 0, stored = 0;///< in a launch; bytes of views
        std::optional<double> predicted_us;      ///< of all executions, on one core
        std::vector<Alternative> alternatives;
        std::vector<Instruction> assembly;
    };
    struct Nest {
        int depth = 0;
        std::string kind, domain;
        double executions = 0;///< of the nest; its body runs `trips` times in each
        double trips = 0;
        Place place;
        std::vector<std::string> stages;///< of a pipeline
        std::string realization;        ///< of a pipeline: how its steps follow each other
    };
    /// A value in scratch memory, or one that lives in the storage of another.
    struct Value {
        std::string name, type;
        std::string function;///< whose scratch memory it is; empty: no room of its own
        std::string shares;  ///< the value whose storage it uses; empty: its own
        int64_t offset = 0, bytes = 0;
        int first_step = 0, last_step = 0;///< that write or read it; 0: none
        Place place;
    };
    struct Phase {
        std::string function;
        Place place;
        int64_t tasks = 0;///< -1: known at launch only
        int64_t grain = 1;
        double task_us = 0;///< predicted; 0: not known
    };

    std::string kernel, cpu;
    int vector_bytes = 0, vector_registers = 0, threads = 1;
    int64_t l1_bytes = 0, l2_bytes = 0;
    std::string tile_ir;///< with source lines
    std::string plan;   ///< as in `ShaderMetadata`
    size_t scratch_bytes = 0, shared_bytes = 0;
    std::vector<Named> assumed;///< runtime extents and what they count as
    double flops = 0, loaded = 0, stored = 0;
    /// Whether all loops and branches were counted; otherwise some run as often as data says.
    bool work_known = true, work_exact = true;
    std::vector<Place> lines;///< all that operations come from, each once, sorted
    std::vector<Phase> phases;
    std::vector<Nest> nests;
    std::vector<Step> steps;
    std::vector<Value> values;
    std::vector<std::string> notes;
    std::vector<Alternative> alternatives;  ///< of the kernel as a whole
    std::vector<Instruction> other_assembly;///< instructions that belong to no step, or to several
};

/// Plans and realizes the kernel for a CPU as a device would, and says what was decided. Errors are those of `forms`.
[[nodiscard]] Explanation explain(const Kernel &kernel, const ExplainOptions &options = {});

}// namespace luisa::tile

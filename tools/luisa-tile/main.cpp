// SPDX-License-Identifier: Apache-2.0
// luisa-tile: runs kernels from TileIR text and shows what becomes of them.
#include "arguments.h"
#include "explain.h"
#include "fuzz.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <sstream>

namespace {

using namespace tool;

lt::Kernel load(const std::string &path) {
    std::ifstream file{path, std::ios::binary};
    std::ostringstream text;
    if (!file || !(text << file.rdbuf())) {
        throw lt::ValueError{"cannot read '" + path + "'"};
    }
    return lt::parse_kernel(text.str(), path);
}

/// The devices of every machine and the GPUs that a driver has, however many.
std::vector<lt::Device> all_devices() {
    std::vector<lt::Device> all{lt::Device::create("cpu"), lt::Device::create("interpreter"),
                                lt::Device::create("cuda-emulator")};
    try {
        for (int i = 0;; ++i) {
            all.push_back(lt::Device::create("cuda:" + std::to_string(i)));
        }
    } catch (const lt::Error &) {
        return all;
    }
}

void list_devices(bool json) {
    auto all = nlohmann::json::array();
    for (const auto &device : all_devices()) {
        all.push_back({{"name", device.name()},
                       {"description", device.description()},
                       {"threads", device.threads()}});
        if (!json) {
            std::puts(device.description().c_str());
        }
    }
    if (json) {
        std::puts(all.dump(2).c_str());
    }
}

struct RunOptions {
    std::string file, device = "cpu";
    std::vector<std::string> inputs, outputs, extents, scalars;
    size_t print = 8;
};

/// FNV-1a of the bytes: equal on every machine, order dependent.
uint64_t checksum(const Bound &bound) {
    uint64_t hash = 0xcbf29ce484222325u;
    auto *bytes = static_cast<const unsigned char *>(bound.memory.get());
    for (size_t i = 0; i < bound.bytes(); ++i) {
        hash = (hash ^ bytes[i]) * 0x100000001b3u;
    }
    return hash;
}

void print_view(size_t index, const Bound &bound, size_t most) {
    std::printf("%zu %s %s [", index, bound.info.name.empty() ? "-" : bound.info.name.c_str(),
                to_string(bound.info.type));
    for (int i = 0; i < bound.argument.rank; ++i) {
        std::printf("%s%lld", i ? ", " : "", static_cast<long long>(bound.argument.extents[i]));
    }
    std::printf("] checksum %016llx:", static_cast<unsigned long long>(checksum(bound)));
    for (size_t i = 0; i < std::min(most, bound.count); ++i) {
        std::printf(" %.9g", element(bound, i));
    }
    std::puts(bound.count > most ? " ..." : "");
}

void run(const RunOptions &options) {
    auto kernel = load(options.file);
    auto signature = lt::parameters(kernel);
    auto device = lt::Device::create(options.device);
    auto bound = make_arguments(signature, parse_settings("--input", options.inputs),
                                parse_settings("--extent", options.extents),
                                parse_settings("--scalar", options.scalars));
    std::vector<std::pair<size_t, std::string>> outputs;
    for (const auto &[key, path] : parse_settings("--output", options.outputs)) {
        outputs.emplace_back(find_parameter(signature, key), path);
        if (!signature[outputs.back().first].is_view) {
            throw lt::ValueError{"--output " + key + " names a scalar, expected a view"};
        }
    }
    auto shader = device.compile(kernel);
    run_on(device, shader, bound);
    for (size_t i = 0; i < bound.size(); ++i) {
        if (bound[i].info.is_view && !bound[i].info.read_only) {
            print_view(i, bound[i], options.print);
        }
    }
    for (const auto &[index, path] : outputs) {
        write_file(bound[index], path);
    }
}

struct EmitOptions {
    std::string file, form, device = "cpu", cpu, sm = "90a";
};

void emit(const EmitOptions &options) {
    auto kernel = load(options.file);
    const auto &form = options.form;
    if (form == "tir") {
        std::cout << kernel.ir_text();
        return;
    }
    bool gpu = options.device == "cuda";
    if (gpu ? form == "asm" : form == "ptx") {
        throw lt::ValueError{"--emit " + form + " is no form of " + options.device +
                             (gpu ? "; a GPU's code is ptx" : "; name --device cuda for it")};
    }
    if (gpu) {
        auto made = lt::gpu_forms(kernel, options.sm, form == "llvm", form == "ptx");
        std::cout << (form == "plan"      ? made.plan
                      : form == "machine" ? made.machine
                      : form == "llvm"    ? made.llvm
                                          : made.ptx);
        return;
    }
    auto made = lt::forms(kernel, options.cpu, form == "llvm", form == "asm");
    std::cout << (form == "plan"      ? made.plan
                  : form == "machine" ? made.machine
                  : form == "llvm"    ? made.llvm
                                      : made.assembly);
}

/// Draws an index map and says what is proved of it.
void draw(const std::string &text, const std::string &out) {
    auto map = lt::IndexMap::parse(text);
    auto picture = lt::draw_svg(map);
    if (out.empty()) {
        std::cout << picture;
        return;
    }
    std::ofstream file{out, std::ios::binary};
    if (!(file << picture)) {
        throw lt::ValueError{"cannot write '" + out + "'"};
    }
    std::cout << map.prove().text() << "\n";
}

}// namespace

int main(int argc, char **argv) {
    CLI::App app{"Runs tile kernels from TileIR text and shows what becomes of them", "luisa-tile"};
    app.require_subcommand(1);

    bool json = false;
    auto *devices = app.add_subcommand("devices", "List the devices of this machine");
    devices->add_flag("--json", json, "Print JSON");

    RunOptions options;
    auto *runs = app.add_subcommand("run", "Run a kernel and print the views that it may write");
    runs->add_option("FILE", options.file, "TileIR text")->required();
    runs->add_option("--device", options.device, "cpu, interpreter, cuda or cuda:N")
        ->capture_default_str();
    runs->add_option("--input", options.inputs, "VIEW=ones|iota|random|FILE; otherwise zeros");
    runs->add_option("--output", options.outputs, "VIEW=FILE for the raw elements");
    runs->add_option("--extent", options.extents, "NAME=N for a runtime extent");
    runs->add_option("--scalar", options.scalars, "PARAMETER=NUMBER; otherwise 0");
    runs->add_option("--print", options.print, "Elements to print")->capture_default_str();

    EmitOptions emits;
    auto *compiles = app.add_subcommand("compile", "Print one form of a kernel");
    compiles->add_option("FILE", emits.file, "TileIR text")->required();
    compiles->add_option("--emit", emits.form, "The form")
        ->required()
        ->check(CLI::IsMember({"tir", "plan", "machine", "llvm", "asm", "ptx"}));
    compiles->add_option("--device", emits.device, "cpu or cuda")
        ->capture_default_str()
        ->check(CLI::IsMember({"cpu", "cuda"}));
    compiles->add_option("--cpu", emits.cpu, "CPU as LLVM names it; otherwise this machine");
    compiles->add_option("--sm", emits.sm, "Architecture of a GPU: 80, 89, 90, 90a, 100 or 100a")
        ->capture_default_str();

    ExplainSettings explained;
    auto *explains = app.add_subcommand("explain", "Say what was decided for a kernel, and why");
    explains->add_option("FILE", explained.file, "TileIR text");
    explains->add_option("--example", explained.example, "An example beside this program instead");
    explains->add_option("--html", explained.html, "Write one page with everything");
    explains->add_option("--json", explained.json, "Write the same as JSON");
    explains->add_option("--extent", explained.extents, "NAME=N for a runtime extent, else 1024");
    explains->add_option("--source", explained.sources, "Folder of the kernel's C++ source");
    explains->add_option("--cpu", explained.cpu, "CPU as LLVM names it; otherwise this machine");
    explains->add_option("--peak", explained.peak_gflops,
                         "GFLOP/s of the machine, with --bandwidth; otherwise measured");
    explains->add_option("--bandwidth", explained.bandwidth_gbs, "GB/s of its memory");

    FuzzSettings fuzz;
    auto *fuzzes = app.add_subcommand("fuzz", "Compare random programs with the interpreter");
    fuzzes->add_option("--seed", fuzz.seed, "Which programs")->capture_default_str();
    fuzzes->add_option("--count", fuzz.count, "How many")->capture_default_str();
    fuzzes->add_option("--case", fuzz.one_case, "Only this one of the seed's programs");
    fuzzes->add_option(
        "--device", fuzz.device,
        "cpu (the default), cuda-emulator with every access followed, cuda or cuda:N");
    fuzzes->add_option("--cpu", fuzz.cpu,
                       "All programs for this CPU or level; otherwise they vary");
    fuzzes->add_option("--jobs", fuzz.jobs, "Processes at once; 0: one a core");
    fuzzes->add_option("--timeout", fuzz.timeout, "Seconds for one program")->capture_default_str();
    fuzzes->add_option("--reduce", fuzz.reduce, "Seconds to make a failing program small")
        ->capture_default_str();
    fuzzes->add_option("--save", fuzz.save, "Folder for failing programs; otherwise printed");
    fuzzes->add_option("--replay", fuzz.replay, "Run this saved program instead");
    fuzzes->add_flag("--coverage", fuzz.coverage,
                     "Fail if a pair of operation, region, policy, type or bounds is rare");
    fuzzes->add_flag("--every-setting", fuzz.every_setting,
                     "Each program for several targets, numbers of threads and plans");
    fuzzes->add_flag("--print", fuzz.print, "Print the program of --case and do not run it");

    std::string map_text, picture;
    auto *draws = app.add_subcommand("draw", "Draw an index map as SVG");
    draws->add_option("MAP", map_text, "The map's text")->required();
    draws->add_option("--out", picture, "File; otherwise printed");

    CLI11_PARSE(app, argc, argv);
    try {
        if (*devices) {
            list_devices(json);
        } else if (*runs) {
            run(options);
        } else if (*compiles) {
            emit(emits);
        } else if (*fuzzes) {
            return run_fuzz(fuzz);
        } else if (*draws) {
            draw(map_text, picture);
        } else {
            return run_explain(explained);
        }
    } catch (const std::exception &error) {
        std::cout.flush();
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
    return 0;
}

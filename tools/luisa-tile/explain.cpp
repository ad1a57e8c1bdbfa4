// SPDX-License-Identifier: Apache-2.0
#include "explain.h"

#include "arguments.h"
#include "machine.h"

#include <luisa/tile/version.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>

namespace tool {

namespace {

namespace fs = std::filesystem;

std::string read(const fs::path &path) {
    std::ifstream file{path, std::ios::binary};
    std::ostringstream text;
    if (!file || !(text << file.rdbuf())) {
        throw lt::ValueError{"cannot read '" + path.string() + "'"};
    }
    return text.str();
}

void write(const std::string &path, const std::string &text) {
    std::ofstream file{path, std::ios::binary};
    if (!(file << text) || !file.flush()) {
        throw lt::ValueError{"cannot write '" + path + "'"};
    }
}

fs::path own_folder() { return fs::read_symlink("/proc/self/exe").parent_path(); }

bool is_executable(const fs::path &path) {
    std::error_code error;
    auto permissions = fs::status(path, error).permissions();
    return !error && fs::is_regular_file(path) &&
           (permissions & fs::perms::owner_exec) != fs::perms::none;
}

/// What the example prints of its kernels. It lies beside this program.
std::string text_of_example(const std::string &name) {
    bool plain = !name.empty() && std::all_of(name.begin(), name.end(), [](unsigned char c) {
        return std::isalnum(c) || c == '_';
    });
    auto program = own_folder() / name;
    if (!plain || !is_executable(program)) {
        throw lt::ValueError{
            "there is no example '" + name + "' beside this program, in " + own_folder().string() +
            "; an example's name is that of its program, such as gemm or lesson_06"};
    }
    std::string quoted = "'";
    for (char c : program.string()) {
        quoted += c == '\'' ? std::string{"'\\''"} : std::string{c};
    }
    auto close = [](FILE *file) { pclose(file); };
    std::unique_ptr<FILE, decltype(close)> pipe{
        popen((quoted + "' --emit-tir 2>/dev/null").c_str(), "r"), close};
    std::string text;
    char block[4096];
    while (pipe) {
        auto count = std::fread(block, 1, sizeof block, pipe.get());
        if (count == 0) {
            break;
        }
        text.append(block, count);
    }
    return text;
}

/// One kernel a text: each begins a line with "kernel @".
std::vector<std::string> split(const std::string &text) {
    constexpr auto head = "kernel @";
    std::vector<std::string> parts;
    auto at = text.rfind(head, 0) == 0 ? 0 : text.find(std::string{"\n"} + head);
    while (at != std::string::npos) {
        at += text[at] == '\n' ? 1 : 0;
        auto end = text.find(std::string{"\n"} + head, at);
        parts.push_back(text.substr(at, end == std::string::npos ? end : end - at));
        at = end;
    }
    return parts;
}

std::vector<lt::Kernel> kernels_of(const ExplainSettings &settings) {
    bool example = !settings.example.empty();
    auto text = example ? text_of_example(settings.example) : read(settings.file);
    auto name = example ? settings.example + " --emit-tir" : settings.file;
    auto parts = split(text);
    if (parts.empty()) {
        if (example) {
            throw lt::ValueError{"'" + name + "' printed no kernel; expected TileIR text"};
        }
        parts.push_back(text);
    }
    std::vector<lt::Kernel> kernels;
    for (const auto &part : parts) {
        kernels.push_back(lt::parse_kernel(part, name));
    }
    return kernels;
}

/// The file of this name in a folder or in one directly inside; empty where there is none.
fs::path find_source(const std::string &name, const std::vector<fs::path> &folders) {
    auto file = fs::path{name}.filename();
    for (const auto &folder : folders) {
        std::error_code error;
        if (fs::is_regular_file(folder / file, error)) {
            return folder / file;
        }
        for (const auto &inside : fs::directory_iterator{folder, error}) {
            if (inside.is_directory(error) && fs::is_regular_file(inside.path() / file, error)) {
                return inside.path() / file;
            }
        }
    }
    return {};
}

void add_sources(ExplainPage &page, const ExplainSettings &settings) {
    std::vector<fs::path> folders(settings.sources.begin(), settings.sources.end());
    if (!settings.file.empty()) {
        folders.push_back(fs::absolute(settings.file).parent_path());
    }
    if (!settings.example.empty()) {
        folders.emplace_back(LUISA_TILE_EXAMPLES);
    }
    // Library functions that are written in the language.
    folders.push_back(own_folder().parent_path() / "include/luisa/tile");
    folders.emplace_back(LUISA_TILE_EXAMPLES "/../include/luisa/tile");
    for (const auto &subject : page.kernels) {
        for (const auto &place : subject.about.lines) {
            auto known = std::any_of(page.sources.begin(), page.sources.end(),
                                     [&](const auto &s) { return s.name == place.file; });
            if (known) {
                continue;
            }
            auto &source = page.sources.emplace_back();
            source.name = place.file;
            if (auto path = find_source(place.file, folders); !path.empty()) {
                std::istringstream text{read(path)};
                for (std::string line; std::getline(text, line);) {
                    source.lines.push_back(line);
                }
            }
        }
    }
}

MachineLimits limits_of(const ExplainSettings &settings, int threads) {
    if (settings.peak_gflops > 0 && settings.bandwidth_gbs > 0) {
        return {settings.peak_gflops * 1e9, settings.bandwidth_gbs * 1e9,
                "as given with --peak and --bandwidth"};
    }
    bench::Machine machine{threads};
    auto bytes = static_cast<double>(256 << 20);
    auto origin = "measured when this page was made, with " + std::to_string(threads) +
                  (threads == 1 ? " thread: " : " threads: ") +
                  "f32 multiply-adds in registers, and a streaming a = b + s c over 256 MiB";
    constexpr double quiet = 0.9;
    if (machine.share() < quiet) {
        origin += " (other work had part of the machine meanwhile, so that both are too low)";
    }
    return {machine.fma_rate(), machine.bandwidth(bytes), origin};
}

CompileTimes times_of(const lt::Device &device, const lt::Kernel &kernel) {
    auto shader = device.compile(kernel, {.cached = false});
    const auto &m = shader.metadata();
    return {true, m.compile_ms(), m.plan_ms, m.realize_ms, m.emit_ms, m.codegen_ms, m.link_ms};
}

ExplainPage make_page(const ExplainSettings &settings) {
    ExplainPage page;
    page.title = settings.example.empty() ? fs::path{settings.file}.filename().string()
                                          : settings.example;
    page.version = lt::version();
    auto device = lt::Device::create("cpu");
    lt::ExplainOptions options;
    options.cpu = settings.cpu;
    options.threads = device.threads();
    for (const auto &[name, text] : parse_settings("--extent", settings.extents)) {
        char *end = nullptr;
        options.extents[name] = std::strtoll(text.c_str(), &end, 10);
        if (end == text.c_str() || *end != 0 || options.extents[name] < 0) {
            throw lt::ValueError{"--extent " + name + " is " + text + ", expected a number >= 0"};
        }
    }
    for (const auto &kernel : kernels_of(settings)) {
        auto &subject = page.kernels.emplace_back();
        subject.about = lt::explain(kernel, options);
        if (settings.cpu.empty()) {
            subject.times = times_of(device, kernel);
        }
    }
    add_sources(page, settings);
    page.limits = limits_of(settings, device.threads());
    return page;
}

/// The plan, and what a device says of the kernel.
void print_text(const lt::Kernel &kernel) {
    auto shader = lt::Device::create("cpu").compile(kernel);
    const auto &m = shader.metadata();
    std::fputs(m.plan.c_str(), stdout);
    std::printf("scratch %zu bytes, shared %zu bytes\n", m.scratch_bytes, m.shared_bytes);
    const char *disk = m.disk == lt::DiskCache::HIT    ? "hit"
                       : m.disk == lt::DiskCache::MISS ? "miss"
                                                       : "off";
    std::printf("compile %.2f ms: disk cache %s %.2f, plan %.2f, realize %.2f, emit %.2f, codegen "
                "%.2f, link %.2f\n",
                m.compile_ms(), disk, m.disk_ms, m.plan_ms, m.realize_ms, m.emit_ms, m.codegen_ms,
                m.link_ms);
}

}// namespace

Roof roof_of(const lt::Explanation::Step &step, const lt::Explanation &about,
             const MachineLimits &limits) {
    Roof roof;
    auto bytes = step.loaded + step.stored;
    roof.attainable = limits.flops;
    if (step.flops > 0 && bytes > 0) {
        roof.intensity = step.flops / bytes;
        roof.attainable = std::min(limits.flops, roof.intensity * limits.bandwidth);
    }
    if (step.flops > 0 && step.predicted_us.value_or(0) > 0) {
        // A task runs on one core; there are enough of them for all threads, unless the kernel is one task.
        auto phase = static_cast<size_t>(step.phase);
        bool alone = about.phases.size() == 1 && phase == 0 && about.phases[0].tasks == 1;
        roof.predicted = step.flops / (*step.predicted_us * 1e-6) * (alone ? 1 : about.threads);
    }
    return roof;
}

int run_explain(const ExplainSettings &settings) {
    if (settings.file.empty() == settings.example.empty()) {
        throw lt::ValueError{"explain takes a FILE or --example NAME, one of the two"};
    }
    if (settings.html.empty() && settings.json.empty()) {
        for (const auto &kernel : kernels_of(settings)) {
            print_text(kernel);
        }
        return 0;
    }
    auto page = make_page(settings);
    if (!settings.json.empty()) {
        write(settings.json, to_json(page));
    }
    if (!settings.html.empty()) {
        write(settings.html, to_html(page));
    }
    return 0;
}

}// namespace tool

// SPDX-License-Identifier: Apache-2.0
#include "explain_html.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>

namespace tool {

namespace html {

std::string escape(const std::string &text) {
    std::string out;
    for (char c : text) {
        switch (c) {
            case '&': out += "&amp;"; break;
            case '<': out += "&lt;"; break;
            case '>': out += "&gt;"; break;
            case '"': out += "&quot;"; break;
            default: out += c;
        }
    }
    return out;
}

std::string with_prefix(double value, const char *unit) {
    static constexpr const char *prefixes[] = {"", "k", "M", "G", "T", "P", "E"};
    size_t i = 0;
    for (; std::fabs(value) >= 1000 && i + 1 < std::size(prefixes); ++i) {
        value /= 1000;
    }
    char text[64];
    std::snprintf(text, sizeof text,
                  i == 0 && value == std::floor(value) ? "%.0f %s%s" : "%.3g %s%s", value,
                  prefixes[i], unit);
    std::string out = text;
    while (!out.empty() && out.back() == ' ') {
        out.pop_back();
    }
    return out;
}

std::string grouped(double value) {
    char digits[64];
    std::snprintf(digits, sizeof digits, "%.0f", value);
    std::string text = digits;
    for (auto at = static_cast<ptrdiff_t>(text.size()) - 3; at > (text[0] == '-' ? 1 : 0);
         at -= 3) {
        text.insert(static_cast<size_t>(at), ",");
    }
    return text;
}

std::string place(const lt::Explanation::Place &place) {
    return place.line == 0 ? "" : escape(place.file) + ":" + std::to_string(place.line);
}

}// namespace html

namespace {

using namespace html;
using lt::Explanation;

std::string at(const Explanation::Place &p) {
    return p.line == 0 ? "" : " <span class=\"mono\">" + place(p) + "</span>";
}

std::string cell(const std::string &text, bool number = false) {
    return (number ? "<td class=\"n\">" : "<td>") + text + "</td>";
}

std::string pre(const std::string &text, const std::string &label) {
    return "<pre tabindex=\"0\" role=\"region\" aria-label=\"" + escape(label) + "\">" +
           escape(text) + "</pre>\n";
}

/// A table that scrolls by itself where the window is narrow. `heads` that begin with '#' are of numbers.
std::string table(const std::string &caption, const std::vector<std::string> &heads,
                  const std::string &rows) {
    std::string out = "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"" +
                      escape(caption) + "\"><table><caption>" + escape(caption) +
                      "</caption><thead><tr>";
    for (const auto &head : heads) {
        bool number = head.front() == '#';
        out += std::string{"<th scope=\"col\""} + (number ? " class=\"n\"" : "") + ">" +
               escape(number ? head.substr(1) : head) + "</th>";
    }
    return out + "</tr></thead><tbody>\n" + rows + "</tbody></table></div>\n";
}

std::string facts(const std::vector<Explanation::Fact> &all) {
    std::string out = "<dl class=\"facts\">";
    for (const auto &fact : all) {
        out += "<dt>" + escape(fact.name) + "</dt><dd>" + escape(fact.value) + "</dd>";
    }
    return out + "</dl>\n";
}

std::string milliseconds(double ms) {
    char text[32];
    std::snprintf(text, sizeof text, "%.2f ms", ms);
    return text;
}

std::string duration(double us) {
    char text[32];
    auto [value, unit] = us < 1     ? std::pair{us * 1e3, "ns"}
                         : us < 1e3 ? std::pair{us, "us"}
                                    : std::pair{us * 1e-3, "ms"};
    std::snprintf(text, sizeof text, "%.3g %s", value, unit);
    return text;
}

/// "Kernel softmax", with its number and its first line where there are several.
std::string title_of(const ExplainPage &page, const Explanation &about, size_t number) {
    auto several = page.kernels.size() > 1;
    auto name = "Kernel " + (several ? std::to_string(number) + ": " : "") + about.kernel;
    bool placed = several && !about.lines.empty();
    return placed
               ? name + " (" + about.lines[0].file + ":" + std::to_string(about.lines[0].line) + ")"
               : name;
}

class KernelSections {
public:
    KernelSections(const ExplainPage &page, const Subject &subject, size_t number)
        : _page{page}, _subject{subject}, _about{subject.about}, _number{number},
          _id{"k" + std::to_string(number)} {}

    std::string make() {
        // One after the other: each adds itself to the list of links.
        std::string body;
        for (auto part : {&KernelSections::summary, &KernelSections::source, &KernelSections::nests,
                          &KernelSections::plan, &KernelSections::steps, &KernelSections::values,
                          &KernelSections::pipelines, &KernelSections::roof,
                          &KernelSections::alternatives, &KernelSections::rest}) {
            body += (this->*part)();
        }
        std::string links;
        for (const auto &[id, title] : _sections) {
            links += "<li><a href=\"#" + id + "\">" + escape(title) + "</a></li>";
        }
        auto name = title_of(_page, _about, _number);
        return "<section aria-labelledby=\"" + _id + "\"><h2 id=\"" + _id + "\">" + escape(name) +
               "</h2>\n<nav aria-label=\"Sections of " + escape(name) + "\"><ul>" + links +
               "</ul></nav>\n" + body + "</section>\n";
    }

private:
    std::string section(const char *id, const char *title, const std::string &body) {
        auto full = _id + "-" + id;
        _sections.emplace_back(full, title);
        return "<section aria-labelledby=\"" + full + "\"><h3 id=\"" + full + "\">" + title +
               "</h3>\n" + body + "</section>\n";
    }

    std::string summary() {
        std::vector<Explanation::Fact> list{
            {"processor", _about.cpu + ", " + std::to_string(_about.vector_bytes) +
                              "-byte vectors, " + std::to_string(_about.vector_registers) +
                              " vector registers, " + grouped(double(_about.l1_bytes)) +
                              " bytes of L1 and " + grouped(double(_about.l2_bytes)) +
                              " of L2 a core"},
            {"threads", std::to_string(_about.threads)},
            {"scratch memory", std::to_string(_about.scratch_bytes) + " bytes a thread"},
            {"shared memory", std::to_string(_about.shared_bytes) + " bytes a launch"},
            {"operations", with_prefix(_about.flops, "flop") + " in a launch"},
            {"bytes of views", with_prefix(_about.loaded, "B") + " loaded, " +
                                   with_prefix(_about.stored, "B") + " stored in a launch"}};
        for (const auto &extent : _about.assumed) {
            list.push_back({"extent " + extent.name,
                            std::to_string(extent.extent) + ", for the numbers of this page"});
        }
        if (const auto &t = _subject.times; t.known) {
            list.push_back({"compiled in",
                            milliseconds(t.total_ms) + ": plan " + milliseconds(t.plan_ms) +
                                ", realize " + milliseconds(t.realize_ms) + ", emit " +
                                milliseconds(t.emit_ms) + ", generate " +
                                milliseconds(t.codegen_ms) + ", link " + milliseconds(t.link_ms)});
        }
        std::string caveat = !_about.work_known
                                 ? "<p>Some loops run as often as data says; they count once.</p>"
                             : !_about.work_exact
                                 ? "<p>Of long domains some instances stand for the others, and a "
                                   "branch counts as taken.</p>"
                                 : "";
        return section("summary", "Summary", facts(list) + caveat);
    }

    std::string source() {
        std::string body = "<p>Lines that the kernel was captured from are marked "
                           "with &#9654;.</p>\n";
        for (const auto &file : _page.sources) {
            std::vector<uint32_t> used;
            for (const auto &line : _about.lines) {
                if (line.file == file.name) {
                    used.push_back(line.line);
                }
            }
            if (!used.empty()) {
                body += "<h4>" + escape(file.name) + "</h4>\n" + listing(file, used);
            }
        }
        return section("source", "Source", body);
    }

    static std::string listing(const SourceFile &file, const std::vector<uint32_t> &used) {
        if (file.lines.empty()) {
            std::string lines;
            for (auto line : used) {
                lines += (lines.empty() ? "" : ", ") + std::to_string(line);
            }
            return "<p>The file was not found; name its folder with <code>--source</code>. Its "
                   "lines: " +
                   lines + ".</p>\n";
        }
        constexpr uint32_t around = 2;
        auto first = used.front() > around ? used.front() - around : 1;
        auto last = std::min<size_t>(file.lines.size(), used.back() + around);
        std::string out = "<pre class=\"source\" tabindex=\"0\" role=\"region\" aria-label=\"" +
                          escape(file.name) + "\">";
        for (size_t line = first; line <= last; ++line) {
            bool is_used = std::find(used.begin(), used.end(), line) != used.end();
            char number[32];
            std::snprintf(number, sizeof number, "%s%4zu  ", is_used ? "&#9654;" : " ", line);
            out += std::string{is_used ? "<span class=\"used\">" : ""} + "<span class=\"number\">" +
                   number + "</span>" + escape(file.lines[line - 1]) + (is_used ? "</span>" : "") +
                   "\n";
        }
        return out + "</pre>\n";
    }

    std::string nests() {
        std::string body;
        int depth = -1;
        for (const auto &nest : _about.nests) {
            for (; depth > nest.depth; --depth) {
                body += "</li></ul>";
            }
            body += depth < nest.depth ? depth < 0 ? "<ul class=\"tree\"><li>" : "<ul><li>"
                                       : "</li><li>";
            depth = nest.depth;
            body += "<strong>" + escape(nest.kind) + "</strong> " + escape(nest.domain) +
                    at(nest.place);
            if (nest.kind != "if" && nest.kind != "while") {
                body += ": " + grouped(nest.executions) +
                        (nest.executions == 1 ? " time, " : " times, ") +
                        with_prefix(nest.trips, "") +
                        (nest.trips == 1 ? " instance" : " instances") +
                        (nest.executions == 1 ? "" : " each on average");
            }
        }
        for (; depth >= 0; --depth) {
            body += "</li></ul>";
        }
        return section("nests", "Nests",
                       body.empty() ? "<p>The kernel has no nests: it is one task.</p>\n" : body);
    }

    std::string plan() {
        return section("plan", "TileIR and the plan",
                       "<div class=\"beside\"><div><h4>TileIR</h4>\n" +
                           pre(_about.tile_ir, "TileIR of " + _id) + "</div><div><h4>Plan</h4>\n" +
                           pre(_about.plan, "Plan of " + _id) + "</div></div>\n");
    }

    std::string instructions(const std::vector<Explanation::Instruction> &all,
                             const std::string &title) const {
        if (all.empty()) {
            return "";
        }
        std::string text;
        size_t count = 0;
        for (const auto &line : all) {
            text += (line.is_label ? "" : "    ") + line.text + "\n";
            count += !line.is_label;
        }
        return "<details class=\"assembly\"><summary>" + escape(title) + ": " +
               std::to_string(count) + " instructions</summary>\n" +
               pre(text, title + " of " + _id) + "</details>\n";
    }

    std::string step(const Explanation::Step &s) const {
        auto name = "Step " + std::to_string(s.number) + ": " + s.kind;
        std::string out = "<div class=\"step\" id=\"" + _id + "-step" + std::to_string(s.number) +
                          "\"><h4>" + escape(name) + at(s.place) +
                          "</h4>\n<p class=\"title mono\">" + escape(s.title) + "</p>\n";
        auto list = s.facts;
        bool works = s.kind == "group" || s.kind == "contraction";
        if (works) {
            list.insert(list.begin(), {"vectors", s.vector_axis.empty()
                                                      ? "none: scalar code"
                                                      : "along " + s.vector_axis + ", " +
                                                            std::to_string(s.lanes) + " lanes"});
        }
        if (s.flops > 0 || s.loaded + s.stored > 0) {
            list.push_back({"work", with_prefix(s.flops, "flop") + ", " +
                                        with_prefix(s.loaded, "B") + " loaded, " +
                                        with_prefix(s.stored, "B") + " stored"});
        }
        list.push_back(
            {"runs", grouped(s.executions) + (s.executions == 1 ? " time" : " times") +
                         (s.predicted_us ? ", predicted to take " + duration(*s.predicted_us) +
                                               " of one core in all"
                                         : "")});
        out += facts(list);
        if (!s.roots.empty()) {
            out += "<ul>";
            for (const auto &root : s.roots) {
                out += "<li>" + escape(root.what) + at(root.place) + "</li>";
            }
            out += "</ul>\n";
        }
        if (!s.alternatives.empty()) {
            out += "<details class=\"rejected\"><summary>Not chosen: " +
                   std::to_string(s.alternatives.size()) + "</summary><ul>";
            for (const auto &a : s.alternatives) {
                out += "<li>" + escape(a.alternative) + " (instead: " + escape(a.what) +
                       "), because " + escape(a.reason) + at(a.place) + "</li>";
            }
            out += "</ul></details>\n";
        }
        out += instructions(s.assembly, "Assembly of step " + std::to_string(s.number));
        if (works && s.assembly.empty() && !_about.other_assembly.empty()) {
            out += "<p>LLVM moved its instructions to where another step needs them; they stand in "
                   "the "
                   "last section.</p>\n";
        }
        return out;
    }

    std::string steps() {
        std::function<std::string(int)> below = [&](int parent) {
            std::string out;
            for (const auto &s : _about.steps) {
                if (s.parent == parent) {
                    auto inner = below(s.number);
                    out += "<li>" + step(s) + (inner.empty() ? "" : "<ol>" + inner + "</ol>") +
                           "</div></li>\n";
                }
            }
            return out;
        };
        std::string phases;
        for (const auto &phase : _about.phases) {
            phases += "<tr>" + cell("<span class=\"mono\">" + escape(phase.function) + "</span>") +
                      cell(place(phase.place)) +
                      cell(phase.tasks < 0 ? "set by each launch" : grouped(double(phase.tasks)),
                           true) +
                      cell(grouped(double(phase.grain)), true) +
                      cell(phase.task_us > 0 ? duration(phase.task_us) : "-", true) + "</tr>\n";
        }
        return section("steps", "Loop groups and contractions",
                       table("Functions of the launch, one after the other",
                             {"function", "root nest", "#tasks", "#claimed at a time",
                              "#predicted time of a task"},
                             phases) +
                           "<ol class=\"steps\">" + below(0) + "</ol>\n");
    }

    std::string values() {
        std::string rows;
        for (const auto &v : _about.values) {
            auto where = v.shares.empty() ? escape(v.function) + " at " + std::to_string(v.offset)
                                          : "in that of " + escape(v.shares);
            auto life = v.first_step == 0             ? "-"
                        : v.first_step == v.last_step ? "step " + std::to_string(v.first_step)
                                                      : "steps " + std::to_string(v.first_step) +
                                                            " to " + std::to_string(v.last_step);
            rows += "<tr>" + cell(escape(v.name)) +
                    cell("<span class=\"mono\">" + escape(v.type) + "</span>") +
                    cell(place(v.place)) + cell(where) +
                    cell(v.shares.empty() ? grouped(double(v.bytes)) : "-", true) + cell(life) +
                    "</tr>\n";
        }
        auto total = "<p>A thread's scratch memory has " + std::to_string(_about.scratch_bytes) +
                     " bytes, alignment and room behind each value included.</p>\n";
        return section(
            "values", "Values in scratch memory",
            rows.empty()
                ? "<p>No value is kept in memory: all live in registers.</p>\n" + total
                : total + lifetimes(_about, _id) +
                      table("What is kept, where and how long",
                            {"value", "type", "made at", "storage", "#bytes", "lives in"}, rows));
    }

    std::string pipelines() {
        std::string body;
        int number = 0;
        for (const auto &nest : _about.nests) {
            if (nest.kind == "pipeline") {
                body += "<h4>pipeline " + escape(nest.domain) + at(nest.place) + "</h4>\n<p>" +
                        escape(nest.realization) + "</p>\n" +
                        timeline(nest, _id + "-pipe" + std::to_string(++number));
            }
        }
        return section("pipelines", "Pipelines",
                       body.empty() ? "<p>The kernel has no pipeline.</p>\n" : body);
    }

    std::string roof() {
        std::string rows;
        for (const auto &s : _about.steps) {
            if (s.kind != "group" && s.kind != "contraction") {
                continue;
            }
            auto r = roof_of(s, _about, _page.limits);
            rows += "<tr>" + cell("step " + std::to_string(s.number) + ", " + escape(s.kind)) +
                    cell(with_prefix(s.flops, "flop"), true) +
                    cell(with_prefix(s.loaded + s.stored, "B"), true) +
                    cell(r.intensity > 0 ? with_prefix(r.intensity, "flop/B") : "-", true) +
                    cell(s.flops > 0 ? with_prefix(r.attainable, "flop/s") : "-", true) +
                    cell(r.predicted > 0 ? with_prefix(r.predicted, "flop/s") : "-", true) +
                    "</tr>\n";
        }
        const auto &limits = _page.limits;
        return section("roofline", "Roofline",
                       "<p>" + with_prefix(limits.flops, "flop/s") + " and " +
                           with_prefix(limits.bandwidth, "B/s") + " of memory, " +
                           escape(limits.origin) +
                           ". Bytes are those of views that a step loads and stores, again each "
                           "time: caches hold part "
                           "of them, so a step may lie above the slope.</p>\n" +
                           roofline(_subject, limits, _id) +
                           table("Where each step stands",
                                 {"step", "#operations", "#bytes of views", "#operations a byte",
                                  "#attainable from memory", "#predicted"},
                                 rows));
    }

    std::string alternatives() {
        std::string rows;
        auto add = [&](const Explanation::Alternative &a, const std::string &where) {
            rows += "<tr>" + cell(where) + cell(escape(a.what)) + cell(escape(a.alternative)) +
                    cell(escape(a.reason)) + cell(place(a.place)) + "</tr>\n";
        };
        for (const auto &a : _about.alternatives) {
            add(a, "kernel");
        }
        for (const auto &s : _about.steps) {
            for (const auto &a : s.alternatives) {
                add(a, "step " + std::to_string(s.number));
            }
        }
        return section("alternatives", "What was not chosen",
                       rows.empty()
                           ? "<p>There was nothing to choose.</p>\n"
                           : table("Decisions of the planner",
                                   {"where", "chosen", "not chosen", "because", "source"}, rows));
    }

    std::string rest() {
        std::string body;
        for (const auto &note : _about.notes) {
            body += "<li>" + escape(note) + "</li>";
        }
        body = body.empty() ? "" : "<ul>" + body + "</ul>\n";
        body += instructions(
            _about.other_assembly,
            "Instructions of no step, or of several (loops over tasks, what was moved "
            "out of loops)");
        return section("rest", "Notes and other code", body.empty() ? "<p>None.</p>\n" : body);
    }

    const ExplainPage &_page;
    const Subject &_subject;
    const Explanation &_about;
    size_t _number;
    std::string _id;
    std::vector<std::pair<std::string, std::string>> _sections;
};

}// namespace

std::string to_html(const ExplainPage &page) {
    auto title = "Plans of " + page.title;
    std::string links, body;
    for (size_t i = 0; i < page.kernels.size(); ++i) {
        links += "<li><a href=\"#k" + std::to_string(i + 1) + "\">" +
                 escape(title_of(page, page.kernels[i].about, i + 1)) + "</a></li>";
        body += KernelSections{page, page.kernels[i], i + 1}.make();
    }
    return "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
           "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>" +
           escape(title) + "</title>\n<style>" + html::style +
           "</style></head>\n<body>\n<a class=\"skip\" href=\"#main\">Skip to the kernels</a>\n"
           "<header><h1>" +
           escape(title) + "</h1><p>What the CPU back end of Luisa Tile " + escape(page.version) +
           " decided, and why.</p>\n<nav aria-label=\"Kernels\"><ul>" + links +
           "</ul></nav></header>\n<main id=\"main\">\n" + body +
           "</main>\n<footer><p>Made by luisa-tile explain.</p></footer>\n</body></html>\n";
}

}// namespace tool

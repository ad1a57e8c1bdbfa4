// SPDX-License-Identifier: Apache-2.0
#include "explain_html.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace tool::html {

namespace {

std::string number(double x) {
    char text[32];
    std::snprintf(text, sizeof text, "%.1f", x);
    return text;
}

std::string line(double x1, double y1, double x2, double y2, const char *kind) {
    return "<line class=\"" + std::string{kind} + "\" x1=\"" + number(x1) + "\" y1=\"" +
           number(y1) + "\" x2=\"" + number(x2) + "\" y2=\"" + number(y2) + "\"/>\n";
}

std::string text(double x, double y, const std::string &what, const char *anchor = "start",
                 const char *kind = "") {
    return "<text x=\"" + number(x) + "\" y=\"" + number(y) + "\" text-anchor=\"" + anchor +
           "\" class=\"" + kind + "\">" + escape(what) + "</text>\n";
}

std::string rectangle(double x, double y, double width, double height, const char *kind) {
    return "<rect class=\"" + std::string{kind} + "\" x=\"" + number(x) + "\" y=\"" + number(y) +
           "\" width=\"" + number(width) + "\" height=\"" + number(height) + "\" rx=\"2\"/>\n";
}

/// A picture with a name and a description for those who do not see it.
std::string picture(const std::string &id, int width, int height, const std::string &title,
                    const std::string &description, const std::string &body) {
    return "<svg role=\"img\" aria-labelledby=\"" + id + "-t " + id + "-d\" viewBox=\"0 0 " +
           std::to_string(width) + " " + std::to_string(height) + "\" width=\"" +
           std::to_string(width) + "\" height=\"" + std::to_string(height) + "\"><title id=\"" +
           id + "-t\">" + escape(title) + "</title><desc id=\"" + id + "-d\">" +
           escape(description) + "</desc>\n" + body + "</svg>\n";
}

/// A logarithmic axis over whole powers of ten.
struct LogAxis {
    double low, high, from, to;///< exponents, and where they lie
    [[nodiscard]] double at(double value) const {
        auto x = std::clamp(std::log10(value), low, high);
        return from + (x - low) / (high - low) * (to - from);
    }
};

struct Point {
    const lt::Explanation::Step *step;
    Roof roof;
    [[nodiscard]] double rate() const {
        return roof.predicted > 0 ? roof.predicted : roof.attainable;
    }
};

std::string marker(double x, double y, const Point &point) {
    const auto *kind = point.roof.predicted > 0 ? "point" : "hollow";
    if (point.step->kind == "contraction") {
        return rectangle(x - 6, y - 6, 12, 12, kind);
    }
    return "<circle class=\"" + std::string{kind} + "\" cx=\"" + number(x) + "\" cy=\"" +
           number(y) + "\" r=\"6\"/>\n";
}

std::vector<Point> points_of(const Subject &subject, const MachineLimits &limits) {
    std::vector<Point> points;
    for (const auto &step : subject.about.steps) {
        if (step.kind == "group" || step.kind == "contraction") {
            points.push_back({&step, roof_of(step, subject.about, limits)});
        }
    }
    return points;
}

constexpr double roof_left = 78, roof_right = 700, roof_top = 24, roof_bottom = 330;

std::string axes(const LogAxis &x, const LogAxis &y) {
    std::string out;
    for (auto e = x.low; e <= x.high; ++e) {
        auto at = x.at(std::pow(10, e));
        out += line(at, roof_top, at, roof_bottom, "grid") +
               text(at, roof_bottom + 18, with_prefix(std::pow(10, e), ""), "middle", "soft");
    }
    for (auto e = y.low; e <= y.high; ++e) {
        auto at = y.at(std::pow(10, e));
        out += line(roof_left, at, roof_right, at, "grid") +
               text(roof_left - 8, at + 4, with_prefix(std::pow(10, e), ""), "end", "soft");
    }
    return out + text(roof_right, roof_bottom + 36, "operations a byte of views", "end") +
           text(roof_left, roof_top - 8, "operations a second");
}

}// namespace

std::string roofline(const Subject &subject, const MachineLimits &limits, const std::string &id) {
    auto points = points_of(subject, limits);
    double least = limits.flops, narrow = 0.01, wide = 100;
    for (const auto &p : points) {
        if (p.rate() > 0 && p.step->flops > 0) {
            least = std::min(least, p.rate());
        }
        if (p.roof.intensity > 0) {
            narrow = std::min(narrow, p.roof.intensity);
            wide = std::max(wide, p.roof.intensity);
        }
    }
    least = std::min(least, limits.bandwidth * narrow);
    LogAxis x{std::floor(std::log10(narrow)), std::ceil(std::log10(wide)), roof_left + 40,
              roof_right};
    LogAxis y{std::floor(std::log10(least)), std::ceil(std::log10(limits.flops * 1.01)),
              roof_bottom, roof_top};
    auto body = axes(x, y);
    auto ridge = limits.flops / limits.bandwidth, start = std::pow(10, x.low);
    body += "<polyline class=\"roof\" points=\"" + number(x.at(start)) + "," +
            number(y.at(start * limits.bandwidth)) + " " + number(x.at(ridge)) + "," +
            number(y.at(limits.flops)) + " " + number(roof_right) + "," +
            number(y.at(limits.flops)) + "\"/>\n";
    body += text(roof_right - 4, y.at(limits.flops) - 6,
                 "arithmetic: " + with_prefix(limits.flops, "flop/s"), "end");
    auto some = start * 3;
    body += text(x.at(some) + 8, y.at(some * limits.bandwidth) + 14,
                 "memory: " + with_prefix(limits.bandwidth, "B/s"));
    std::string said;
    double lowest = roof_bottom - 10;
    for (const auto &p : points) {
        auto label = std::to_string(p.step->number);
        bool placed = p.roof.intensity > 0;
        // What only moves or only computes has no place along the axis.
        auto at = placed ? x.at(p.roof.intensity) : p.step->flops > 0 ? roof_right : roof_left + 14;
        auto height = p.step->flops > 0 ? y.at(p.rate()) : lowest;
        lowest -= p.step->flops > 0 ? 0 : 16;
        body += marker(at, height, p) + text(at + (at > roof_right - 20 ? -10 : 10), height + 4,
                                             label, at > roof_right - 20 ? "end" : "start");
        said += " Step " + label + ": " +
                (placed              ? with_prefix(p.roof.intensity, "flop/B")
                 : p.step->flops > 0 ? "no bytes of views"
                                     : "no operations") +
                (p.step->flops > 0 ? ", " + with_prefix(p.rate(), "flop/s") : "") + ".";
    }
    body += rectangle(roof_left, 376, 11, 11, "point") + text(roof_left + 17, 386, "contraction") +
            "<circle class=\"point\" cx=\"" + number(roof_left + 126) +
            "\" cy=\"382\" r=\"6\"/>\n" + text(roof_left + 138, 386, "loop group") +
            "<circle class=\"hollow\" cx=\"" + number(roof_left + 236) +
            "\" cy=\"382\" r=\"6\"/>\n" + text(roof_left + 248, 386, "rate not predicted") +
            text(roof_left + 400, 386, "at the left edge: no operations", "start", "soft");
    return picture(
        id + "-roof", 740, 398, "Roofline of " + subject.about.kernel,
        "The slope is what memory can feed, the flat part what arithmetic can do. Numbers are "
        "those of steps." +
            said,
        body);
}

std::string lifetimes(const lt::Explanation &about, const std::string &id) {
    std::vector<const lt::Explanation::Value *> rows;
    int64_t largest = 1;
    for (const auto &v : about.values) {
        if (v.shares.empty() && v.first_step > 0) {
            rows.push_back(&v);
            largest = std::max(largest, v.bytes);
        }
    }
    if (rows.empty()) {
        return "";
    }
    constexpr double left = 190, top = 26, height = 22;
    auto steps = static_cast<double>(about.steps.size());
    auto width = std::clamp(460 / steps, 14.0, 90.0);
    auto bottom = top + height * static_cast<double>(rows.size());
    std::string body, said;
    for (size_t i = 0; i < about.steps.size(); ++i) {
        auto at = left + width * static_cast<double>(i);
        body += line(at, top, at, bottom, "grid");
        if (about.steps.size() <= 20 || i % 5 == 0) {
            body += text(at + width / 2, top - 8, std::to_string(i + 1), "middle", "soft");
        }
    }
    body += line(left + width * steps, top, left + width * steps, bottom, "grid") +
            text(left - 8, top - 8, "step", "end", "soft");
    for (size_t i = 0; i < rows.size(); ++i) {
        const auto &v = *rows[i];
        auto y = top + height * static_cast<double>(i);
        auto begin = left + width * (v.first_step - 1), end = left + width * v.last_step;
        body += text(left - 8, y + 15,
                     v.name + (v.place.line ? " :" + std::to_string(v.place.line) : ""), "end") +
                rectangle(begin + 2, y + 4, end - begin - 4, height - 8, "bar") +
                text(left + width * steps + 8, y + 15,
                     with_prefix(static_cast<double>(v.bytes), "B"));
        said += " " + v.name + ": steps " + std::to_string(v.first_step) + " to " +
                std::to_string(v.last_step) + ".";
    }
    return picture(id + "-life", static_cast<int>(left + width * steps + 90),
                   static_cast<int>(bottom + 10), "Lifetimes of kept values in " + about.kernel,
                   "A bar goes from the first to the last step that needs the value." + said, body);
}

std::string timeline(const lt::Explanation::Nest &nest, const std::string &id) {
    auto stages = nest.stages;
    if (stages.empty()) {
        stages.emplace_back("step");
    }
    auto count = static_cast<int>(std::clamp(nest.trips, 1.0, 4.0));
    constexpr double left = 110, top = 26, height = 26;
    auto width = std::max(44.0, 600.0 / (count * static_cast<double>(stages.size())));
    auto rows = static_cast<double>(stages.size());
    std::string body = line(left, top + height * rows + 4, left + width * rows * count + 14,
                            top + height * rows + 4, "axis");
    std::string said;
    double at = left;
    for (int step = 0; step < count; ++step) {
        body += text(at + 2, top - 8, "step " + std::to_string(step), "start", "soft") +
                line(at, top - 4, at, top + height * rows, "grid");
        for (size_t i = 0; i < stages.size(); ++i) {
            auto y = top + height * static_cast<double>(i);
            body += rectangle(at + 1, y + 3, width - 2, height - 6, i % 2 == 0 ? "bar" : "other");
            if (step == 0) {
                body += text(left - 8, y + 17, stages[i], "end");
                said += (i ? ", then " : "") + stages[i];
            }
            at += width;
        }
    }
    auto more = nest.trips > count
                    ? "… " + with_prefix(nest.trips - count, "") + " more steps on average"
                    : std::string{"time"};
    body += text(left, top + height * rows + 22, more, "start", "soft");
    return picture(id, static_cast<int>(left + width * rows * count + 30),
                   static_cast<int>(top + height * rows + 34), "Timeline of the pipeline",
                   "Each step: " + said + "; one step after the other.", body);
}

}// namespace tool::html

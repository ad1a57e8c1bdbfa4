// SPDX-License-Identifier: Apache-2.0
#include "analysis/work.h"
#include "runtime/device.h"
#include "runtime/profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace luisa::tile {

namespace {

using runtime::ProfilerState;

double to_ms(ProfilerState::Clock::duration time) {
    return std::chrono::duration<double, std::milli>(time).count();
}

/// Fills the times; those of a device are waited for.
void set_times(const ProfilerState::Entry &entry, const ProfilerState &state,
               ProfilerRecord &record) {
    double since_first = 0, spent = 0;
    if (entry.from && entry.until) {
        entry.until->wait();
        record.on_device = entry.until->milliseconds_since(*entry.from, spent) &&
                           (entry.from == state.first ||
                            entry.from->milliseconds_since(*state.first, since_first));
    }
    if (record.on_device) {
        record.start_ms = to_ms(state.first_seen - state.begin) + since_first;
        record.duration_ms = spent;
    } else {
        record.start_ms = to_ms(entry.begin - state.begin);
        record.duration_ms = to_ms(entry.end - entry.begin);
    }
}

ProfilerRecord record_of(const ProfilerState::Entry &entry, const ProfilerState &state) {
    ProfilerRecord record;
    record.kernel = entry.module->kernel()->name;
    record.program = entry.program;
    record.location = entry.loc;
    record.launches = entry.launches;
    record.bytes = entry.bytes;
    auto work = analysis::count_work(*entry.module->kernel(), {entry.extents, entry.scalars});
    if (work.known) {
        record.flops = work.flops;
    }
    set_times(entry, state, record);
    return record;
}

/// Text between the quotes of JSON.
std::string quoted(const std::string &text) {
    std::string out = "\"";
    for (char c : text) {
        if (c == '"' || c == '\\') {
            out += '\\';
        }
        out += static_cast<unsigned char>(c) < 0x20 ? fmt::format("\\u{:04x}", c)
                                                    : std::string(1, c);
    }
    return out + "\"";
}

std::string name_of(const ProfilerRecord &r) {
    return r.program.empty() ? r.kernel : r.program + "/" + r.kernel;
}

/// What the table sums up: a kernel dispatched from one line.
struct Row {
    std::string name, place;
    size_t calls = 0;
    double total_ms = 0, least_ms = 0, bytes = 0, flops = 0;
    bool flops_known = true;
};

std::vector<Row> rows_of(const std::vector<ProfilerRecord> &records) {
    std::map<std::pair<std::string, std::string>, Row> by_name;
    for (const auto &r : records) {
        auto place = to_string(r.location);
        auto &row = by_name[{name_of(r), place}];
        row.name = name_of(r);
        row.place = place;
        row.least_ms = row.calls == 0 ? r.duration_ms : std::min(row.least_ms, r.duration_ms);
        ++row.calls;
        row.total_ms += r.duration_ms;
        row.bytes += r.bytes;
        row.flops += r.flops.value_or(0);
        row.flops_known &= r.flops.has_value();
    }
    std::vector<Row> rows;
    for (auto &[key, row] : by_name) {
        rows.push_back(std::move(row));
    }
    std::stable_sort(rows.begin(), rows.end(),
                     [](const Row &a, const Row &b) { return a.total_ms > b.total_ms; });
    return rows;
}

}// namespace

Profiler::Profiler(Stream &stream) {
    static_cast<void>(stream.device());
    if (stream._profiler && stream._profiler->active) {
        throw StateError{"another profiler measures this stream; stop it first"};
    }
    _state = std::make_shared<ProfilerState>();
    stream._profiler = _state;
}

Profiler::~Profiler() { stop(); }

void Profiler::stop() noexcept {
    if (_state) {
        _state->active = false;
    }
}

void Profiler::clear() {
    if (_state) {
        std::lock_guard lock{_state->mutex};
        _state->entries.clear();
    }
}

std::vector<ProfilerRecord> Profiler::records() const {
    std::vector<ProfilerRecord> records;
    if (!_state) {
        return records;
    }
    std::lock_guard lock{_state->mutex};
    for (const auto &entry : _state->entries) {
        records.push_back(record_of(entry, *_state));
    }
    return records;
}

std::string Profiler::table() const {
    auto rows = rows_of(records());
    size_t width = 6;
    double all = 0;
    for (const auto &row : rows) {
        width = std::max(width, row.name.size());
        all += row.total_ms;
    }
    auto text = fmt::format("{:<{}}  {:>6}  {:>11}  {:>10}  {:>10}  {:>6}  {:>9}  {:>8}  {}\n",
                            "kernel", width, "calls", "total ms", "mean us", "least us", "share",
                            "GFLOP/s", "GB/s", "dispatched at");
    for (const auto &row : rows) {
        auto calls = static_cast<double>(row.calls);
        auto rate = [&](double what, bool known) {
            return known && row.total_ms > 0 ? fmt::format("{:.1f}", what / row.total_ms * 1e-6)
                                             : std::string{"-"};
        };
        text += fmt::format(
            "{:<{}}  {:>6}  {:>11.3f}  {:>10.2f}  {:>10.2f}  {:>5.1f}%  {:>9}  {:>8}  {}\n",
            row.name, width, row.calls, row.total_ms, row.total_ms / calls * 1e3,
            row.least_ms * 1e3, all > 0 ? 100 * row.total_ms / all : 0.0,
            rate(row.flops, row.flops_known && row.flops > 0), rate(row.bytes, true), row.place);
    }
    return text;
}

std::string Profiler::trace() const {
    std::string text =
        "{\"displayTimeUnit\": \"ms\", \"traceEvents\": [\n"
        "{\"name\": \"process_name\", \"ph\": \"M\", \"pid\": 1, \"args\": {\"name\": "
        "\"Luisa Tile\"}}";
    for (const auto &[thread, name] : {std::pair{1, "host"}, {2, "device"}}) {
        text += fmt::format(
            ",\n{{\"name\": \"thread_name\", \"ph\": \"M\", \"pid\": 1, \"tid\": {}, "
            "\"args\": {{\"name\": \"{}\"}}}}",
            thread, name);
    }
    for (const auto &r : records()) {
        auto flops = r.flops ? fmt::format(", \"flops\": {:.0f}", *r.flops) : std::string{};
        text += fmt::format(",\n{{\"name\": {}, \"cat\": \"kernel\", \"ph\": \"X\", \"pid\": 1, "
                            "\"tid\": {}, \"ts\": "
                            "{:.3f}, \"dur\": {:.3f}, \"args\": {{\"dispatched at\": {}, "
                            "\"launches\": {}, \"bytes\": "
                            "{:.0f}{}}}}}",
                            quoted(name_of(r)), r.on_device ? 2 : 1, r.start_ms * 1e3,
                            r.duration_ms * 1e3, quoted(to_string(r.location)), r.launches, r.bytes,
                            flops);
    }
    return text + "\n]}\n";
}

}// namespace luisa::tile

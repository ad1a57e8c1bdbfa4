// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

namespace luisa::tile::emit {

/// The function that generated code calls for a `report`: void(int64_t site, const uint64_t *values).
inline constexpr const char *report_symbol = "luisa_tile_report";

/// Who receives what generated code reports on a thread.
struct ReportSink {
    void (*receive)(void *context, int64_t site, const uint64_t *values) noexcept = nullptr;
    void *context = nullptr;
};

/// Directs the reports of this thread to a sink while it lives.
class ReportScope {
public:
    explicit ReportScope(ReportSink sink) noexcept;
    ~ReportScope();
    ReportScope(const ReportScope &) = delete;
    ReportScope &operator=(const ReportScope &) = delete;

private:
    ReportSink _before;
};

/// What `report_symbol` stands for.
void report(int64_t site, const uint64_t *values) noexcept;

}// namespace luisa::tile::emit

// SPDX-License-Identifier: Apache-2.0
#include "emit/llvm/report.h"

namespace luisa::tile::emit {

namespace {
thread_local ReportSink current_sink;
}

ReportScope::ReportScope(ReportSink sink) noexcept : _before{current_sink} { current_sink = sink; }
ReportScope::~ReportScope() { current_sink = _before; }

void report(int64_t site, const uint64_t *values) noexcept {
    if (current_sink.receive) {
        current_sink.receive(current_sink.context, site, values);
    }
}

}// namespace luisa::tile::emit

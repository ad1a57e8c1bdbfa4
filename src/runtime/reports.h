// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "emit/llvm/report.h"
#include "ir/report.h"

#include <exception>
#include <functional>
#include <string>
#include <vector>

namespace luisa::tile::runtime {

/// Takes what generated code says on this thread while it lives: lines are printed at once, and of failed assertions
/// the first is kept, since generated code cannot pass exceptions on.
class Reports {
public:
    using Print = std::function<void(const std::string &)>;
    /// `reports` by site; both outlive this.
    Reports(const std::vector<ir::Report> &reports, const Print &print)
        : _reports{reports}, _print{print}, _scope{{&Reports::receive, this}} {}
    /// Throws the failed assertion, or what the receiver of lines threw; returns where there is none.
    void check() const {
        if (_error) {
            std::rethrow_exception(_error);
        }
    }

private:
    static void receive(void *context, int64_t site, const uint64_t *values) noexcept;
    const std::vector<ir::Report> &_reports;
    const Print &_print;
    std::exception_ptr _error;
    emit::ReportScope _scope;
};

}// namespace luisa::tile::runtime

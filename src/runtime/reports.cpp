// SPDX-License-Identifier: Apache-2.0
#include "runtime/reports.h"

#include <luisa/tile/error.h>

namespace luisa::tile::runtime {

void Reports::receive(void *context, int64_t site, const uint64_t *values) noexcept {
    auto &self = *static_cast<Reports *>(context);
    try {
        const auto &report = self._reports.at(static_cast<size_t>(site));
        auto text = ir::text_of(report, {values, report.types.size()});
        if (report.is_assertion) {
            throw AssertionError{std::move(text), report.loc};
        }
        self._print(text);
    } catch (...) {
        if (!self._error) {
            self._error = std::current_exception();
        }
    }
}

}// namespace luisa::tile::runtime

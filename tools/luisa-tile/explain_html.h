// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "explain.h"

#include <string>

// Parts of the page that `to_html` makes.

namespace tool::html {

extern const char *const style;

/// Text for HTML and SVG, attributes included.
[[nodiscard]] std::string escape(const std::string &text);
/// "1.2 M", with `unit` behind it.
[[nodiscard]] std::string with_prefix(double value, const char *unit);
/// "1,234,567"
[[nodiscard]] std::string grouped(double value);
[[nodiscard]] std::string place(const lt::Explanation::Place &place);

// Pictures. `id` is a prefix of the names inside, different for each kernel.
[[nodiscard]] std::string roofline(const Subject &subject, const MachineLimits &limits,
                                   const std::string &id);
[[nodiscard]] std::string lifetimes(const lt::Explanation &about, const std::string &id);
[[nodiscard]] std::string timeline(const lt::Explanation::Nest &nest, const std::string &id);

}// namespace tool::html

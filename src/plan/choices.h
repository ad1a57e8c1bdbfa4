// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <memory>
#include <string>

namespace luisa::tile::plan {

/// Who decides where a plan could legally be made in several ways. The planner asks, and says what it would take.
class Choices {
public:
    virtual ~Choices() = default;
    /// One of `count` ways, by its number.
    [[nodiscard]] virtual size_t choose(size_t count, size_t preferred) = 0;
};

/// From "random:SEED", a decimal number: any way, each as likely as the others. The same program gets the same plan.
/// From an empty text: nothing, the planner's own choice. ValueError for anything else.
[[nodiscard]] std::shared_ptr<Choices> make_choices(const std::string &text);

}// namespace luisa::tile::plan

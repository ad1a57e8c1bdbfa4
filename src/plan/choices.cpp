// SPDX-License-Identifier: Apache-2.0
#include "plan/choices.h"

#include <luisa/tile/error.h>

#include <charconv>
#include <random>

namespace luisa::tile::plan {

namespace {

class RandomChoices final : public Choices {
public:
    explicit RandomChoices(uint64_t seed) : _engine{seed} {}
    size_t choose(size_t count, size_t) override { return count < 2 ? 0 : _engine() % count; }

private:
    std::mt19937_64 _engine;
};

}// namespace

std::shared_ptr<Choices> make_choices(const std::string &text) {
    constexpr std::string_view random = "random:";
    if (text.empty()) {
        return nullptr;
    }
    uint64_t seed = 0;
    const auto *end = text.data() + text.size();
    if (text.compare(0, random.size(), random) == 0) {
        auto [rest, error] = std::from_chars(text.data() + random.size(), end, seed);
        if (error == std::errc{} && rest == end) {
            return std::make_shared<RandomChoices>(seed);
        }
    }
    throw ValueError{"the way to plan is '" + text +
                     "', expected random:SEED with a number, as in "
                     "random:7, or nothing for the planner's own choice"};
}

}// namespace luisa::tile::plan

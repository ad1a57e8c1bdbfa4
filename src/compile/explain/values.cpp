// SPDX-License-Identifier: Apache-2.0
#include "compile/explain/builder.h"

#include "plan/print.h"

#include <algorithm>
#include <tuple>

namespace luisa::tile::compiler {

namespace {

/// What a value is called: by its operation, or as the state of a nest.
std::string name_of(const ir::Value *value) {
    if (const auto *op = value->definition()) {
        return op->name();
    }
    const auto *parent = value->owner()->parent();
    return parent ? "state of " + std::string{parent->name()} : "a planned copy";
}

SourceLoc loc_of(const ir::Value *value) {
    if (const auto *op = value->definition()) {
        return op->loc;
    }
    const auto *parent = value->owner()->parent();
    return parent ? parent->loc : SourceLoc{};
}

Explanation::Value describe(const ir::Value *value) {
    Explanation::Value out;
    out.name = name_of(value);
    out.type = std::string{to_string(value->scalar())} + " " + plan::dims_text(value->type()->dims);
    out.place = place_of(loc_of(value));
    return out;
}

}// namespace

/// The steps between which the value must stay: all of a loop that it goes around, or that begins after it and uses it.
ExplanationBuilder::Life ExplanationBuilder::life_of(const ir::Value *home) const {
    Life life;
    auto include = [&](int first, int last) {
        life.first = life.first == 0 ? first : std::min(life.first, first);
        life.last = std::max(life.last, last);
    };
    for (size_t i = 0; i < _uses.size(); ++i) {
        if (!_uses[i].reads.count(home) && !_uses[i].writes.count(home)) {
            continue;
        }
        auto number = static_cast<int>(i) + 1;
        include(number, number);
        for (int at = _out.steps[i].parent; at != 0;) {
            auto index = static_cast<size_t>(at) - 1;
            const auto *op = _sequential[index];
            bool outside = true;
            for (auto *region : op->regions()) {
                outside &= home->region() != region && !region->encloses(home->region());
                outside |= home->owner() == region;// a state goes from step to step
            }
            if (outside) {
                include(std::min(life.first, at + 1), _last_inside[index]);
            }
            at = _out.steps[index].parent;
        }
    }
    return life;
}

void ExplanationBuilder::fill_values(const std::vector<cpu::Room> &rooms) {
    for (const auto &room : rooms) {
        Explanation::Value value;
        if (room.value) {
            value = describe(room.value);
            auto life = life_of(room.value);
            value.first_step = life.first;
            value.last_step = life.last;
        } else {
            value.name = "panels, partial sums or stacks";
            value.first_step = value.last_step = static_cast<int>(room.step);
        }
        value.function = room.function;
        value.offset = room.offset;
        value.bytes = room.bytes;
        _out.values.push_back(std::move(value));
    }
    std::vector<Explanation::Value> sharing;
    for (const auto &[value, into] : _plan.shares) {
        const auto *home = _plan.home(into);
        if (home && !value->type()->is_scalar()) {
            sharing.push_back(describe(value));
            sharing.back().shares = name_of(home);
        }
    }
    std::stable_sort(sharing.begin(), sharing.end(), [](const auto &a, const auto &b) {
        return std::tie(a.place.line, a.name, a.shares) < std::tie(b.place.line, b.name, b.shares);
    });
    _out.values.insert(_out.values.end(), sharing.begin(), sharing.end());
}

}// namespace luisa::tile::compiler

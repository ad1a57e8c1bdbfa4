// SPDX-License-Identifier: Apache-2.0
#include "interpreter/contract.h"

#include "types/constant.h"
#include "types/convert.h"

#include <algorithm>
#include <cmath>

namespace luisa::tile::interpreter {

Contract::Contract(Context &context, const Step &reduce)
    : _context{context}, _step{reduce}, _states{&reduce.op->get<ir::NestPayload>().contract} {
    if (!_states->empty()) {
        _fields = reduce.blocks[1].yields.size();
    }
}

bool Contract::binds(size_t state) const {
    return std::find(_states->begin(), _states->end(), static_cast<int32_t>(state)) !=
           _states->end();
}

void Contract::set_identity(Tiles &states) const {
    if (_states->empty()) {
        return;
    }
    run_block(_context, _step.blocks[1]);
    for (size_t i = 0; i < _states->size(); ++i) {
        auto state = static_cast<size_t>((*_states)[i]);
        auto bits = _context.tile(_step.blocks[1].yields[i % _fields]).bits[0];
        auto tile = std::make_shared<Tile>();
        tile->bits.assign(static_cast<size_t>(_step.op->result(state)->type()->element_count()),
                          bits);
        states[state] = std::move(tile);
    }
}

void Contract::merge(const Tiles &left, const Tiles &right, Tiles &out) const {
    if (_states->empty()) {
        return;
    }
    const auto &region = _step.blocks.at(2);
    const Tiles *sides[] = {&left, &right};
    for (size_t first = 0; first < _states->size(); first += _fields) {
        auto count = left[static_cast<size_t>((*_states)[first])]->bits.size();
        for (size_t f = 0; f < _fields; ++f) {
            auto tile = std::make_shared<Tile>();
            tile->bits.resize(count);
            out[static_cast<size_t>((*_states)[first + f])] = std::move(tile);
        }
        for (size_t e = 0; e < count; ++e) {
            auto at = static_cast<int64_t>(e);
            for (size_t argument = 0; argument < 2 * _fields; ++argument) {
                auto state = static_cast<size_t>((*_states)[first + argument % _fields]);
                const auto &side = *(*sides[argument / _fields])[state];
                auto element = std::make_shared<Tile>();
                element->bits.push_back(side.bits[e]);
                element->set_undefined(0, side.undefined_at(at));
                _context.slots[region.arguments[argument]] = std::move(element);
            }
            run_block(_context, region);
            for (size_t f = 0; f < _fields; ++f) {
                const auto &element = _context.tile(region.yields[f]);
                auto &to = *out[static_cast<size_t>((*_states)[first + f])];
                to.bits[e] = element.bits[0];
                to.set_undefined(at, element.undefined_at(0));
            }
        }
    }
}

Tiles LawSampler::merged(const Tiles &left, const Tiles &right) const {
    Tiles out(left.size());
    _contract.merge(left, right, out);
    return out;
}

namespace {

/// The fields of the group that a bound state belongs to, at one element: "{3, 0.5}".
std::string state_text(const Step &step, std::span<const int32_t> group, const Tiles &tiles,
                       size_t element) {
    std::string text;
    for (auto s : group) {
        auto state = static_cast<size_t>(s);
        text += (text.empty() ? "" : ", ") +
                print_constant(step.op->result(state)->scalar(), tiles[state]->bits[element]);
    }
    return "{" + text + "}";
}

/// The square root of the distance between 1 and its neighbour: a law holds up to this.
double rounding_of(ScalarType type) {
    switch (type) {
        case ScalarType::FLOAT64: return 0x1p-26;
        case ScalarType::FLOAT32: return 0x1p-11;
        case ScalarType::FLOAT16: return 0x1p-5;
        default: return 0x1p-3;
    }
}

/// Floats agree up to rounding of the largest field; beyond the finite numbers nothing is claimed.
bool agree(ScalarType type, uint64_t expected, uint64_t got, double scale) {
    if (expected == got || !is_float(type)) {
        return expected == got;
    }
    auto e = arith::to_double(type, expected), g = arith::to_double(type, got);
    if (!std::isfinite(e) || !std::isfinite(g) || !std::isfinite(scale)) {
        return true;
    }
    return std::fabs(e - g) <= rounding_of(type) * std::max(scale, std::fabs(e));
}

}// namespace

void LawSampler::compare(const char *law, const Tiles &expected, const Tiles &got,
                         const Inputs &inputs) const {
    const auto &states = _contract.states();
    auto fields = _contract.fields();
    for (size_t first = 0; first < states.size(); first += fields) {
        std::span<const int32_t> group{states.data() + first, fields};
        auto count = got[static_cast<size_t>(group[0])]->bits.size();
        for (size_t e = 0; e < count; ++e) {
            double scale = 0;
            bool defined = true, holds = true;
            for (auto s : group) {
                auto state = static_cast<size_t>(s);
                auto type = _step.op->result(state)->scalar();
                for (const auto &[name, tiles] : inputs) {
                    const auto &tile = *(*tiles)[state];
                    defined &= tile.undefined_at(static_cast<int64_t>(e)) == nullptr;
                    if (is_float(type)) {
                        scale = std::max(scale, std::fabs(arith::to_double(type, tile.bits[e])));
                    }
                }
            }
            for (auto s : group) {
                auto state = static_cast<size_t>(s);
                holds &= agree(_step.op->result(state)->scalar(), expected[state]->bits[e],
                               got[state]->bits[e], scale * scale + scale);
            }
            if (holds || !defined) {
                continue;
            }
            std::string where;
            for (const auto &[name, tiles] : inputs) {
                where += (where.empty() ? "" : ", ") + std::string{name} + " = " +
                         state_text(_step, group, *tiles, e);
            }
            throw ValueError{
                std::string{"a law that the contract of this `reduce` declares does not "
                            "hold: "} +
                    law + "; for " + where + " the sides are " + state_text(_step, group, got, e) +
                    " and " + state_text(_step, group, expected, e) +
                    "; correct the contract, or reduce with fold_left",
                _step.op->loc};
        }
    }
}

void LawSampler::sample(const Tiles &before, const Tiles &leaf, const Tiles &after) {
    auto identity = before;
    _contract.set_identity(identity);
    compare("merge(identity, s) = s", before, merged(identity, before), {{"s", &before}});
    compare("merge(s, identity) = s", before, merged(before, identity), {{"s", &before}});
    compare("update(s, x) = merge(s, update(identity, x))", after, merged(before, leaf),
            {{"s", &before}, {"update(identity, x)", &leaf}});
    if (_step.op->get<ir::NestPayload>().laws.commutative != ir::Provenance::NONE) {
        compare("merge(a, b) = merge(b, a)", merged(leaf, before), merged(before, leaf),
                {{"a", &before}, {"b", &leaf}});
    }
    if (_earlier.size() == 2) {
        const auto &a = _earlier[0], &b = _earlier[1];
        compare("merge(merge(a, b), c) = merge(a, merge(b, c))", merged(a, merged(b, leaf)),
                merged(merged(a, b), leaf), {{"a", &a}, {"b", &b}, {"c", &leaf}});
        _earlier.erase(_earlier.begin());
    }
    _earlier.push_back(leaf);
}

}// namespace luisa::tile::interpreter

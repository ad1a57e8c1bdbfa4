// SPDX-License-Identifier: Apache-2.0
#include "realize/cpu/contraction_lowering.h"

#include <algorithm>

// Panels of words that hold a group of narrow elements each: those of neighbouring steps. The vector operand's
// words lie as its columns do, the other's as the steps do. Steps that fill no word are zeros in both.

namespace luisa::tile::cpu {

using ir::DimExtent;
using ir::GroupFactors;
using ir::Opcode;

ContractionLowering::GroupSource ContractionLowering::group_source(Side side) const {
    auto kept = [this](const ir::Value *v) { return _l._plan->home(v) != nullptr; };
    DimExtent steps{Dim{}, 1};
    for (const auto &d : contracted(0)) {
        if (d.extent != 1) {
            steps = d;
        }
    }
    return {side, plan::narrow_source(operand(side, 0), kept), steps};
}

/// Words that the steps of one turn of the nests fill.
int64_t ContractionLowering::group_words() const {
    auto steps = group_source(Side::VECTOR).steps.extent;
    int64_t group = plan::group_size(_factors);
    return (steps + group - 1) / group;
}

/// Integers of equal signedness: an instruction takes unsigned and signed ones, so the scalar operand is
/// offset by 128, which changes its signedness, and the sums are corrected.
bool ContractionLowering::offsets_factors() const {
    return _c.atom == plan::Atom::DOT &&
           (_factors == GroupFactors::S8S8 || _factors == GroupFactors::U8U8);
}

void ContractionLowering::fill_groups(Side side, Point &point) {
    auto source = group_source(side);
    nest_positions(0, _b.index(0), [&](ir::Value *position) {
        auto *first_word = _b.mul(position, _b.index(group_words()));
        const auto &along = panel_plan(_c, side)->contiguous_step;
        if (along) {
            fill_along_steps(source, point, first_word);
        } else {
            fill_along_axis(source, point, first_word);
        }
    });
    fill_rest(side);
    _b.forget_reads();
}

/// Vectors of a row's (or column's) steps, as the operand lies in memory.
void ContractionLowering::fill_along_steps(const GroupSource &source, Point &point,
                                           ir::Value *first_word) {
    auto axis = axis_of(source.side);
    int64_t group = plan::group_size(_factors);
    auto width = static_cast<int>(_c.lanes * group);
    auto words_at = [&](const Point &inner, ir::Value *place) {
        auto at = inner.derived();
        at.at[axis.dim.id] = {place, 0, nullptr};
        auto *elements = _b.splat(_l.evaluate(source.value, at), width);
        if (at.mask) {
            auto *zero = _b.splat(_b.constant(source.value->scalar(), 0), width);
            elements = _l.select(at.mask, elements, zero);
        }
        return as_words(source.side, elements);
    };
    auto rows = [&](ir::Value *first, int64_t count) {
        _l.vector_loop(source.steps.dim, _b.index(source.steps.extent), source.steps.extent, width,
                       1, point, {}, [&](Point &inner, int, const Values &) {
                           auto *base = inner.at.at(source.steps.dim.id).base;
                           auto *word = _b.add(first_word, _b.div(base, _b.index(group)));
                           if (source.side == Side::SCALAR) {
                               write_words(Side::SCALAR, word, first, words_at(inner, first));
                               return Values{};
                           }
                           auto words = no_words();
                           for (int64_t i = 0; i < count; ++i) {
                               words[static_cast<size_t>(i)] = words_at(inner,
                                                                        _b.add(first, _b.index(i)));
                           }
                           auto left = (source.steps.extent % width + group - 1) / group;
                           write_transposed(source, std::move(words), word, first,
                                            inner.mask ? left : _c.lanes);
                           return Values{};
                       });
    };
    int64_t block = source.side == Side::SCALAR ? 1 : _c.lanes;
    auto whole = axis.extent / block * block;
    _b.loop(_b.index(0), _b.index(whole), block, {}, [&](ir::Value *first, const Values &) {
        rows(first, block);
        return Values{};
    });
    if (whole < axis.extent) {
        rows(_b.index(whole), axis.extent - whole);
    }
}

/// Vectors along the columns (or rows), whose steps are brought together in words.
void ContractionLowering::fill_along_axis(const GroupSource &source, Point &point,
                                          ir::Value *first_word) {
    auto axis = axis_of(source.side);
    int64_t group = plan::group_size(_factors);
    auto whole = source.steps.extent / group, rest = source.steps.extent % group;
    auto each_vector = [&](const std::function<void(Point &, ir::Value *)> &body) {
        _l.vector_loop(axis.dim, _b.index(axis.extent), axis.extent, _c.lanes, 1, point, {},
                       [&](Point &inner, int, const Values &) {
                           body(inner, inner.at.at(axis.dim.id).base);
                           return Values{};
                       });
    };
    if (source.side == Side::VECTOR) {
        auto fill = [&](ir::Value *word, int64_t steps) {
            each_vector([&](Point &inner, ir::Value *column) {
                auto *first = _b.mul(word, _b.index(group));
                ask_for_steps(source, inner, first, steps);
                write_words(Side::VECTOR, _b.add(first_word, word), column,
                            interleaved(source, inner, first, steps));
            });
        };
        _b.loop(_b.index(0), _b.index(whole), 1, {}, [&](ir::Value *word, const Values &) {
            fill(word, group);
            return Values{};
        });
        if (rest) {
            fill(_b.index(whole), rest);
        }
        return;
    }
    auto fill = [&](ir::Value *word, int64_t count, int64_t last_steps) {
        each_vector([&](Point &inner, ir::Value *row) {
            auto words = no_words();
            for (int64_t i = 0; i < count; ++i) {
                auto *first = _b.mul(_b.add(word, _b.index(i)), _b.index(group));
                words[static_cast<size_t>(i)] = interleaved(source, inner, first,
                                                            i + 1 == count ? last_steps : group);
            }
            auto *to = _b.add(first_word, word);
            write_transposed(source, std::move(words), row, to,
                             inner.mask ? axis.extent % _c.lanes : _c.lanes);
        });
    };
    auto blocks = whole / _c.lanes * _c.lanes;
    _b.loop(_b.index(0), _b.index(blocks), _c.lanes, {}, [&](ir::Value *word, const Values &) {
        fill(word, _c.lanes, group);
        return Values{};
    });
    if (auto left = group_words() - blocks) {
        fill(_b.index(blocks), left, rest ? rest : group);
    }
}

/// The same place of the next turn's steps comes from memory while this turn's are copied.
void ContractionLowering::ask_for_steps(const GroupSource &source, const Point &point,
                                        ir::Value *first_step, int64_t steps) {
    if (!_c.prefetch_panel || panel_plan(_c, source.side)->shared) {
        return;
    }
    for (int64_t i = 0; i < steps; ++i) {
        auto place = point.derived();
        place.lanes = 1;
        place.mask = place.guard = nullptr;
        place.at[axis_of(source.side).dim.id].slope = 0;
        auto *step = _b.add(first_step, _b.index(source.steps.extent + i));
        place.at[source.steps.dim.id] = {step, 0, nullptr};
        ask_for(_l.load_access(*source.value->definition(), Bounds::ASSUME, place).address, {});
    }
}

/// Zeros, one vector for each that is transposed.
Values ContractionLowering::no_words() {
    auto *zero = _b.splat(_b.constant(ScalarType::INT32, 0), _c.lanes);
    return Values(static_cast<size_t>(_c.lanes), zero);
}

/// The words of `steps` steps from `first_step` on; missing ones are zero.
ir::Value *ContractionLowering::interleaved(const GroupSource &source, Point &point,
                                            ir::Value *first_step, int64_t steps) {
    Values parts;
    for (int64_t i = 0; i < plan::group_size(_factors); ++i) {
        auto *zero = _b.splat(_b.constant(source.value->scalar(), 0), _c.lanes);
        if (i >= steps) {
            parts.push_back(zero);
            continue;
        }
        auto place = point.derived();
        place.at[source.steps.dim.id] = {_b.add(first_step, _b.index(i)), 0, nullptr};
        parts.push_back(_b.splat(_l.evaluate(source.value, place), _c.lanes));
    }
    for (int width = 1; parts.size() > 1; width *= 2) {
        Values next;
        for (size_t i = 0; i < parts.size(); i += 2) {
            next.push_back(joined(parts[i], parts[i + 1], width));
        }
        parts = std::move(next);
    }
    return as_words(source.side, parts.front());
}

/// Pieces of `width` elements of two vectors in turn.
ir::Value *ContractionLowering::joined(ir::Value *a, ir::Value *b, int width) {
    int count = a->type()->lanes;
    ir::ShufflePayload order;
    for (int piece = 0; piece < count; piece += width) {
        for (int from : {0, count}) {
            for (int i = 0; i < width; ++i) {
                order.lanes.push_back(from + piece + i);
            }
        }
    }
    auto *type = _b.module().vector(a->scalar(), static_cast<uint16_t>(2 * count));
    return _b.pure(Opcode::SHUFFLE, {a, b}, order, type);
}

ir::Value *ContractionLowering::as_words(Side side, ir::Value *elements) {
    auto *type = _b.module().vector(ScalarType::INT32, static_cast<uint16_t>(_c.lanes));
    auto *words = _b.pure(Opcode::REGROUP, {elements}, ir::None{}, type);
    if (side == Side::SCALAR && offsets_factors()) {
        auto *offset = _b.splat(_b.constant(ScalarType::INT32, 0x80808080), _c.lanes);
        words = _b.pure(Opcode::XOR, {words, offset});
    }
    return words;
}

/// Words of one vector: from column `place` on, or from word `word` of row `place` on.
void ContractionLowering::write_words(Side side, ir::Value *word, ir::Value *place,
                                      ir::Value *words) {
    ir::Value *address = nullptr;
    if (side == Side::VECTOR) {
        auto *inside = _b.rem(place, _b.index(panel_width()));
        address = _b.address(panel_address(0, word, _b.sub(place, inside), 0), inside,
                             element_bytes());
    } else {
        address = element_address(0, word, place, 0);
    }
    _b.effect(Opcode::WRITE, {address, words}, sum_payload());
}

/// Vectors that each hold what is one lane of those that the panel has: vector i of them goes to `first` + i.
void ContractionLowering::write_transposed(const GroupSource &source, Values words,
                                           ir::Value *first, ir::Value *second, int64_t count) {
    words = transpose(std::move(words));
    for (int64_t i = 0; i < count; ++i) {
        auto *at = _b.add(first, _b.index(i));
        auto *some = words[static_cast<size_t>(i)];
        if (source.side == Side::VECTOR) {
            write_words(Side::VECTOR, at, second, some);
        } else {
            write_words(Side::SCALAR, second, at, some);
        }
    }
}

/// Words after the last step, up to what an atom takes at once.
void ContractionLowering::fill_rest(Side side) {
    auto depth = panels(side).of_product.front().shape.depth;
    int64_t turns = 1;
    for (const auto *nest : _c.nests) {
        turns *= plan::trips(*nest);
    }
    auto filled = turns * group_words();
    if (filled == depth) {
        return;
    }
    auto *zero = _b.splat(_b.constant(ScalarType::INT32, 0), _c.lanes);
    auto extent = axis_of(side).extent;
    if (side == Side::SCALAR) {
        // A row has room for a vector behind its last word.
        _b.loop(_b.index(0), _b.index(extent), 1, {}, [&](ir::Value *row, const Values &) {
            write_words(side, _b.index(filled), row, zero);
            return Values{};
        });
        return;
    }
    _b.loop(_b.index(0), _b.index(extent), _c.lanes, {}, [&](ir::Value *column, const Values &) {
        _b.loop(_b.index(filled), _b.index(depth), 1, {}, [&](ir::Value *word, const Values &) {
            write_words(side, word, column, zero);
            return Values{};
        });
        return Values{};
    });
}

}// namespace luisa::tile::cpu

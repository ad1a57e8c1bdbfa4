// SPDX-License-Identifier: Apache-2.0
#include "interpreter/context.h"

#include "types/convert.h"

#include <cstring>
#include <unordered_set>

// Loads and stores: every element is a coordinate of its view, checked one by one.

namespace luisa::tile::interpreter {

namespace {

uint64_t read(ScalarType type, const std::byte *from) {
    uint64_t bits = 0;
    std::memcpy(&bits, from, size_of(type));
    return arith::normalize(type, bits);
}

void write(ScalarType type, uint64_t bits, std::byte *to) { std::memcpy(to, &bits, size_of(type)); }

/// Where an access is in its view: the origin of a box and the place in it, or, when mapped, the
/// coordinates that operands from `first` on give to its element.
class Place {
public:
    Place(const Context &context, const Step &step, size_t first, size_t rank, bool mapped)
        : origin(rank), at(rank, 0) {
        for (size_t i = 0; i < rank; ++i) {
            if (mapped) {
                _tiles.push_back(&context.tile(step.operands[first + i]));
                _strides.push_back(&step.accesses[first + i].strides);
            } else {
                origin[i] = context.integer(step, first + i, "a coordinate");
            }
        }
        _op = step.op;
    }
    void move(const Numbers &to) {
        if (_tiles.empty()) {
            at = to;
            return;
        }
        for (size_t i = 0; i < _tiles.size(); ++i) {
            int64_t element = 0;
            for (size_t k = 0; k < to.size(); ++k) {
                element += to[k] * (*_strides[i])[k];
            }
            if (auto *load = _tiles[i]->undefined_at(element)) {
                undefined_use(_op, std::string{_op->name()} + " uses it as a coordinate", load);
            }
            origin[i] = static_cast<int64_t>(_tiles[i]->bits[static_cast<size_t>(element)]);
        }
    }

    Numbers origin, at;

private:
    const ir::Operation *_op = nullptr;
    std::vector<const Tile *> _tiles;
    std::vector<const Numbers *> _strides;
};

/// The byte address of element origin + at, or null outside the view.
std::byte *address(const View &view, const Numbers &origin, const Numbers &at, size_t size) {
    int64_t offset = 0;
    for (size_t i = 0; i < origin.size(); ++i) {
        int64_t c = 0;
        // A box reaching past 2^63 is outside, not at a small coordinate again.
        if (__builtin_add_overflow(origin[i], at[i], &c) || c < 0 || c >= view.extents[i]) {
            return nullptr;
        }
        offset += c * view.strides[i];
    }
    return view.data + offset * static_cast<int64_t>(size);
}

std::string element_text(const Context &context, const ir::Value *view, const Numbers &origin,
                         const Numbers &at) {
    Numbers c(origin.size());
    for (size_t i = 0; i < c.size(); ++i) {
        c[i] = static_cast<int64_t>(static_cast<uint64_t>(origin[i]) +
                                    static_cast<uint64_t>(at[i]));
    }
    return "element " + coordinates_text(c) + " of " + context.parameter_name(view);
}

[[noreturn]] void broken_promise(const Context &context, const Step &step, const Numbers &origin,
                                 const Numbers &at) {
    auto *view = step.op->operand(0);
    throw BoundsError{std::string{step.op->name()} + ": " +
                          element_text(context, view, origin, at) + " is outside its extents " +
                          coordinates_text(context.views[view->index()].extents) +
                          ", though bounds::assume promises otherwise; use bounds::zero",
                      step.op->loc};
}

[[noreturn]] void one_place(const Context &context, const Step &step, const Numbers &origin) {
    auto at = Numbers(origin.size(), 0);
    throw RaceError{std::string{step.op->name()} + ": two elements of the tile are mapped to " +
                        element_text(context, step.op->operand(0), origin, at) +
                        "; give each a place of its own, or use scatter with a reducer",
                    step.op->loc};
}

/// Two instances may update an element, if both do it atomically.
void record_write(Context &context, const Step &step, const std::byte *to, const Numbers &origin,
                  const Numbers &at) {
    bool atomic = step.op->opcode() == ir::Opcode::ATOMIC;
    for (auto &frame : context.frames) {
        auto [found, added] = frame.writers.emplace(to, Frame::Writer{frame.instance, atomic});
        if (added) {
            continue;
        }
        auto &writer = found->second;
        if (writer.instance != frame.instance && !(writer.atomic && atomic)) {
            race(frame.op, frame.domain, writer.instance, frame.instance, step.op,
                 element_text(context, step.op->operand(0), origin, at));
        }
        writer = {frame.instance, writer.atomic && atomic};
    }
}

/// What an atomic update leaves in place of `old`.
uint64_t updated(AtomicOp op, ScalarType type, uint64_t old, uint64_t value, const Tile *expected) {
    static constexpr ir::Opcode arithmetic[] = {ir::Opcode::ADD, ir::Opcode::MINIMUM,
                                                ir::Opcode::MAXIMUM};
    static constexpr ir::Opcode bitwise[] = {ir::Opcode::AND, ir::Opcode::OR, ir::Opcode::XOR};
    if (op == AtomicOp::EXCHANGE) {
        return value;
    }
    if (op == AtomicOp::COMPARE_EXCHANGE) {
        return old == expected->bits[0] ? value : old;
    }
    auto code = op <= AtomicOp::MAXIMUM
                    ? arithmetic[static_cast<size_t>(op)]
                    : bitwise[static_cast<size_t>(op) - static_cast<size_t>(AtomicOp::AND)];
    Tile left, right, out;
    left.bits = {old};
    right.bits = {value};
    out.bits = {0};
    merge_elements(code, type, left, right, out);
    return out.bits[0];
}

}// namespace

void run_extent(Context &context, const Step &step) {
    const auto &view = context.views[step.op->operand(0)->index()];
    auto axis = static_cast<size_t>(step.op->get<ir::IndexPayload>().index);
    context.output(step.results[0], 1).bits[0] = static_cast<uint64_t>(view.extents.at(axis));
}

void run_load(Context &context, const Step &step) {
    const auto &payload = step.op->get<ir::LoadPayload>();
    const auto &view = context.views[step.op->operand(0)->index()];
    auto scalar = step.op->operand(0)->scalar();
    auto rank = view.extents.size();
    Place place{context, step, 1, rank, payload.mapped};
    const auto &origin = place.origin, &at = place.at;
    const auto *fallback = payload.has_fallback ? &spread(context, step, step.operands.size() - 1,
                                                          context.scratch[0])
                                                : nullptr;
    auto &out = context.output(step.results[0], step.op->result()->type()->element_count());
    // A scalar result is a box of ones.
    auto extents = step.op->result()->type()->is_scalar() ? Numbers(rank, 1) : step.extents;
    int64_t i = 0;
    walk<0>(extents, {}, [&](const Numbers &element, const auto &) {
        place.move(element);
        auto to = static_cast<size_t>(i);
        if (const auto *from = address(view, origin, at, size_of(scalar))) {
            out.bits[to] = read(scalar, from);
            out.set_undefined(i, nullptr);
        } else if (payload.bounds == Bounds::ASSUME) {
            broken_promise(context, step, origin, at);
        } else if (fallback) {
            out.bits[to] = fallback->bits[to];
            out.set_undefined(i, fallback->undefined_at(i));
        } else {
            out.bits[to] = 0;
            out.set_undefined(i, payload.bounds == Bounds::PREDICATE ? step.op : nullptr);
        }
        ++i;
    });
}

void run_store(Context &context, const Step &step) {
    const auto &payload = step.op->get<ir::StorePayload>();
    auto *parameter = step.op->operand(0);
    const auto &view = context.views[parameter->index()];
    auto scalar = parameter->scalar();
    auto rank = view.extents.size();
    Place place{context, step, 2, rank, payload.mapped};
    const auto &origin = place.origin, &at = place.at;
    auto whole = !payload.box.empty();
    auto extents = whole ? step.extents : Numbers(rank, 1);
    auto strides = whole ? step.accesses[1].strides : Numbers(rank, 0);
    const auto &value = context.tile(step.operands[1]);
    std::unordered_set<const std::byte *> stored;
    walk<1>(extents, {&strides}, [&](const Numbers &element, const auto &offset) {
        place.move(element);
        auto *to = address(view, origin, at, size_of(scalar));
        if (!to) {
            if (payload.bounds == Bounds::ASSUME) {
                broken_promise(context, step, origin, at);
            }
            return;
        }
        if (auto *load = value.undefined_at(offset[0])) {
            undefined_use(step.op,
                          "this store puts it in " + element_text(context, parameter, origin, at),
                          load);
        }
        if (context.options.validate) {
            record_write(context, step, to, origin, at);
            if (payload.mapped && !stored.insert(to).second) {
                one_place(context, step, origin);
            }
        }
        write(scalar, value.bits[static_cast<size_t>(offset[0])], to);
    });
}

void run_atomic(Context &context, const Step &step) {
    auto op = step.op->get<ir::AtomicPayload>().op;
    auto *parameter = step.op->operand(0);
    const auto &view = context.views[parameter->index()];
    auto scalar = parameter->scalar();
    auto rank = view.extents.size();
    size_t values = op == AtomicOp::COMPARE_EXCHANGE ? 2 : 1;
    const Place place{context, step, 1 + values, rank, false};
    const auto &origin = place.origin, &at = place.at;
    for (size_t i = 1; i <= values; ++i) {
        if (auto *load = context.tile(step.operands[i]).undefined_at(0)) {
            undefined_use(step.op,
                          "this atomic update uses it on " +
                              element_text(context, parameter, origin, at),
                          load);
        }
    }
    auto &out = context.output(step.results[0], 1);
    out.bits[0] = 0;
    auto *to = address(view, origin, at, size_of(scalar));
    if (!to) {
        return;
    }
    if (context.options.validate) {
        record_write(context, step, to, origin, at);
    }
    auto old = read(scalar, to);
    const auto *expected = values == 2 ? &context.tile(step.operands[2]) : nullptr;
    write(scalar, updated(op, scalar, old, context.tile(step.operands[1]).bits[0], expected), to);
    context.output(step.results[0], 1).bits[0] = old;
}

}// namespace luisa::tile::interpreter

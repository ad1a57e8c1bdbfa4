// SPDX-License-Identifier: Apache-2.0
#include "machine.h"

#include "types/convert.h"
#include "types/format.h"

#include <cstring>
#include <random>

namespace luisa::tile::emit::test {

Machine::Machine() = default;

void Machine::begin(const std::string &name) {
    function = module.add_function(name);
    auto *word = type(ScalarType::INT64, 0);
    arguments = module.add_argument(function->body, module.pointer());
    first = module.add_argument(function->body, word);
    last = module.add_argument(function->body, word);
    scratch = module.add_argument(function->body, module.pointer());
    shared = module.add_argument(function->body, module.pointer());
    b.set_region(function->body);
}

const ir::Type *Machine::type(ScalarType scalar, unsigned lanes) {
    return lanes ? module.vector(scalar, static_cast<uint16_t>(lanes)) : module.scalar(scalar);
}

ir::Value *Machine::op(Opcode opcode, const std::vector<ir::Value *> &operands,
                       const ir::Type *result, ir::Payload payload) {
    return b.value(opcode, operands, result, std::move(payload));
}

void Machine::effect(Opcode opcode, const std::vector<ir::Value *> &operands, ir::Payload payload) {
    b.emit(opcode, operands, {}, std::move(payload));
}

ir::Value *Machine::constant(const ir::Type *t, uint64_t bits) {
    return op(Opcode::CONSTANT, {}, t, ir::ConstantPayload{bits});
}

ir::Value *Machine::pointer(int word) {
    return op(Opcode::ARGUMENT, {arguments}, module.pointer(), ir::IndexPayload{word});
}

ir::Value *Machine::at(ir::Value *base, ir::Value *i, ScalarType scalar, int64_t offset) {
    auto size = static_cast<int64_t>(size_of(scalar));
    return op(Opcode::ADDRESS, {base, i}, module.pointer(),
              ir::AddressPayload{size, offset * size});
}

ir::Value *Machine::read(ir::Value *address, const ir::Type *t) {
    return op(Opcode::READ, {address}, t, ir::MemoryPayload{1, false, false});
}

void Machine::write(ir::Value *address, ir::Value *value) {
    effect(Opcode::WRITE, {address, value}, ir::MemoryPayload{1, false, false});
}

std::vector<ir::Value *> Machine::loop(ir::Value *begin, ir::Value *end, ir::Value *step,
                                       const std::vector<ir::Value *> &states, const Body &body,
                                       bool at_least_once) {
    std::vector<ir::Value *> operands{begin, end, step};
    std::vector<const ir::Type *> types;
    for (auto *s : states) {
        operands.push_back(s);
        types.push_back(s->type());
    }
    auto *op = b.emit(Opcode::FOR, operands, types, ir::ForPayload{at_least_once}, 1);
    auto *region = op->body();
    std::vector<ir::Value *> values{module.add_argument(region, type(ScalarType::INT64, 0))};
    for (auto *t : types) {
        values.push_back(module.add_argument(region, t));
    }
    auto *outer = b.region();
    b.set_region(region);
    b.emit(Opcode::YIELD, body(values), {});
    b.set_region(outer);
    return op->results();
}

void add_map(Machine &m, const std::string &name, const std::vector<ScalarType> &inputs,
             ScalarType output, unsigned lanes,
             const std::function<ir::Value *(const std::vector<ir::Value *> &)> &compute) {
    m.begin(name);
    std::vector<ir::Value *> bases;
    for (size_t i = 0; i <= inputs.size(); ++i) {
        bases.push_back(m.pointer(static_cast<int>(i)));
    }
    m.loop(m.first, m.last, m.index(lanes ? lanes : 1), {}, [&](const auto &v) {
        std::vector<ir::Value *> values;
        for (size_t i = 0; i < inputs.size(); ++i) {
            values.push_back(m.read(m.at(bases[i], v[0], inputs[i]), m.type(inputs[i], lanes)));
        }
        m.write(m.at(bases.back(), v[0], output), compute(values));
        return std::vector<ir::Value *>{};
    });
}

void run(const CompiledModule &code, const std::string &name, std::vector<const void *> inputs,
         void *output, int64_t count) {
    inputs.push_back(output);
    code.function(name)(reinterpret_cast<const uint64_t *>(inputs.data()), 0, count, nullptr,
                        nullptr);
}

namespace {

void add_float_values(ScalarType type, std::vector<uint64_t> &values) {
    const auto &f = float_format(type);
    auto hidden = uint64_t{1} << f.fraction_bits;
    auto add = [&](uint64_t bits) {
        values.push_back(bits);
        values.push_back(bits | f.sign_mask());
    };
    for (uint64_t bits : {uint64_t{0}, uint64_t{1}, hidden - 1, hidden, hidden + 1,
                          f.largest_finite, f.largest_finite - 1, f.largest_number(),
                          f.largest_number() + 1, f.nan, f.sign_mask() - 1}) {
        add(bits);
    }
    for (double x : {1.0,
                     1.5,
                     0.5,
                     0.49999997,
                     2.5,
                     3.0,
                     127.5,
                     128.0,
                     255.5,
                     448.0,
                     464.0,
                     465.0,
                     32767.5,
                     65519.0,
                     65520.0,
                     61440.0,
                     0x1p-133,
                     0x1.8p-133,
                     0x1p-24,
                     0x1p-25,
                     0x1.000002p-25,
                     0x1p-14,
                     2147483520.0,
                     2147483648.0,
                     4294967040.0,
                     4294967296.0,
                     0x1.fffffep62,
                     0x1p63,
                     0x1.fffffffffffffp63,
                     0x1p64,
                     1e38,
                     3.39617753e38,
                     0x1.00800000001p0,
                     0x1.0020000000001p0,
                     1.00390625,
                     1.01171875,
                     0x1p-1074}) {
        add(encode(f, decode(float_format(ScalarType::FLOAT64), std::bit_cast<uint64_t>(x))));
    }
}

}// namespace

std::vector<uint64_t> special_values(ScalarType type) {
    if (type == ScalarType::BOOL) {
        return {0, 1};
    }
    std::vector<uint64_t> values;
    auto bits = info(type).bits;
    auto ones = bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
    if (bits == 8) {
        for (uint64_t x = 0; x < 256; ++x) {
            values.push_back(x);
        }
        return values;
    }
    std::mt19937_64 random{bits};
    for (int i = 0; i < 12; ++i) {
        values.push_back(random() & ones);
    }
    if (is_float(type)) {
        add_float_values(type, values);
        return values;
    }
    for (uint64_t x : {0ull, 1ull, 2ull, 3ull, 7ull, 10ull, 31ull, 32ull, 63ull, 64ull, 100ull,
                       16842753ull, 0x4080000000000001ull, 0x40201fffffffffull}) {
        values.push_back(x & ones);
        values.push_back((0 - x) & ones);
    }
    auto top = uint64_t{1} << (bits - 1);
    for (uint64_t x : {top, top - 1, top + 1, ones - 1}) {
        values.push_back(x);
    }
    return values;
}

std::vector<uint8_t> pack(ScalarType type, const std::vector<uint64_t> &values) {
    std::vector<uint8_t> bytes(values.size() * size_of(type));
    for (size_t i = 0; i < values.size(); ++i) {
        std::memcpy(bytes.data() + i * size_of(type), &values[i], size_of(type));
    }
    return bytes;
}

uint64_t element(ScalarType type, const std::vector<uint8_t> &bytes, size_t i) {
    uint64_t bits = 0;
    std::memcpy(&bits, bytes.data() + i * size_of(type), size_of(type));
    return bits;
}

bool same(ScalarType type, uint64_t a, uint64_t b) {
    return a == b || (arith::is_nan(type, a) && arith::is_nan(type, b));
}

}// namespace luisa::tile::emit::test

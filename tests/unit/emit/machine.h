// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "emit/llvm/jit.h"
#include "ir/module.h"

#include <functional>
#include <string>
#include <vector>

// Builds Machine functions for tests, and runs them.

namespace luisa::tile::emit::test {

using ir::Opcode;

/// A module of Machine functions under construction. `lanes` 0 means scalar.
class Machine {
public:
    Machine();
    void begin(const std::string &name);

    [[nodiscard]] const ir::Type *type(ScalarType scalar, unsigned lanes);
    ir::Value *op(Opcode opcode, const std::vector<ir::Value *> &operands, const ir::Type *result,
                  ir::Payload payload = ir::None{});
    void effect(Opcode opcode, const std::vector<ir::Value *> &operands, ir::Payload payload);
    ir::Value *constant(const ir::Type *type, uint64_t bits);
    ir::Value *index(int64_t value) {
        return constant(type(ScalarType::INT64, 0), uint64_t(value));
    }
    /// The pointer in word `word` of the argument block, plus `i` elements of `scalar`.
    ir::Value *pointer(int word);
    ir::Value *at(ir::Value *base, ir::Value *i, ScalarType scalar, int64_t offset = 0);
    ir::Value *read(ir::Value *address, const ir::Type *type);
    void write(ir::Value *address, ir::Value *value);
    /// A loop; `body` gets [index, states…] and returns the next states.
    using Body = std::function<std::vector<ir::Value *>(const std::vector<ir::Value *> &)>;
    std::vector<ir::Value *> loop(ir::Value *begin, ir::Value *end, ir::Value *step,
                                  const std::vector<ir::Value *> &states, const Body &body,
                                  bool at_least_once = false);

    ir::Module module{ir::Form::MACHINE};
    ir::Builder b{module};
    ir::Function *function = nullptr;
    ir::Value *arguments, *first, *last, *scratch, *shared;
};

/// Adds a function that reads inputs 0…n-1, applies `compute` and writes to argument word n, for
/// each group of `lanes` elements in [begin, end).
void add_map(Machine &m, const std::string &name, const std::vector<ScalarType> &inputs,
             ScalarType output, unsigned lanes,
             const std::function<ir::Value *(const std::vector<ir::Value *> &)> &compute);

/// Runs such a function over `count` elements held as one array an operand.
void run(const CompiledModule &code, const std::string &name, std::vector<const void *> inputs,
         void *output, int64_t count);

/// Interesting bit patterns of a type: limits, neighbours of limits, specials and a few random ones.
[[nodiscard]] std::vector<uint64_t> special_values(ScalarType type);

/// Packed storage of one element a value.
[[nodiscard]] std::vector<uint8_t> pack(ScalarType type, const std::vector<uint64_t> &values);
[[nodiscard]] uint64_t element(ScalarType type, const std::vector<uint8_t> &bytes, size_t i);

/// Equal bits, or both NaN.
[[nodiscard]] bool same(ScalarType type, uint64_t a, uint64_t b);

inline constexpr unsigned widths[] = {0, 1, 4, 8, 16, 32};

}// namespace luisa::tile::emit::test

// SPDX-License-Identifier: Apache-2.0
#include "ir/opcode.h"

#include "ir/payload.h"

#include <array>
#include <unordered_map>

namespace luisa::tile::ir {

namespace {

constexpr int8_t VARIADIC = variadic;

template<class P, size_t... I> constexpr uint8_t payload_index(std::index_sequence<I...>) {
    uint8_t index = 0;
    ((std::is_same_v<std::variant_alternative_t<I, Payload>, P> ? void(index = I) : void()), ...);
    return index;
}
template<class P>
constexpr uint8_t index_of =
    payload_index<P>(std::make_index_sequence<std::variant_size_v<Payload>>{});

constexpr std::array<OpInfo, opcode_count> table = {{
#define OP(ENUM, NAME, FAMILY, ARITY, TYPES, PAYLOAD)                                              \
    {NAME, Family::FAMILY, ARITY, TypeRule::TYPES, index_of<PAYLOAD>},
#include "ir/ops.def"
#undef OP
}};

}// namespace

const OpInfo &info(Opcode op) noexcept { return table[static_cast<size_t>(op)]; }

bool parse_opcode(std::string_view name, Opcode &out) noexcept {
    static const auto names = [] {
        std::unordered_map<std::string_view, Opcode> map;
        for (size_t i = 0; i < table.size(); ++i) {
            map.emplace(table[i].name, static_cast<Opcode>(i));
        }
        return map;
    }();
    auto found = names.find(name);
    if (found == names.end()) {
        return false;
    }
    out = found->second;
    return true;
}

}// namespace luisa::tile::ir

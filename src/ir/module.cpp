// SPDX-License-Identifier: Apache-2.0
#include "ir/module.h"

namespace luisa::tile::ir {

namespace {

void mix(size_t &seed, uint64_t value) {
    seed ^= (value + 0x9e3779b97f4a7c15ull + (seed << 6) + (seed >> 2));
}

size_t hash_of(const Type &t) {
    size_t h = static_cast<size_t>(t.kind) * 31 + static_cast<size_t>(t.scalar);
    mix(h, t.lanes);
    for (const auto &d : t.dims) {
        mix(h, d.dim.id);
        mix(h, static_cast<uint64_t>(d.extent));
    }
    for (const auto &a : t.axes) {
        mix(h, static_cast<uint64_t>(a.extent));
    }
    for (auto s : t.strides) {
        mix(h, static_cast<uint64_t>(s));
    }
    return h;
}

}// namespace

const Type *Module::intern(Type type) {
    auto hash = hash_of(type);
    auto [first, last] = _type_index.equal_range(hash);
    for (; first != last; ++first) {
        if (*first->second == type) {
            return first->second;
        }
    }
    _types.push_back(std::move(type));
    _type_index.emplace(hash, &_types.back());
    return &_types.back();
}

const Type *Module::scalar(ScalarType t) { return tile(t, {}); }

const Type *Module::tile(ScalarType t, std::vector<DimExtent> dims) {
    Type type;
    type.scalar = t;
    type.dims = std::move(dims);
    return intern(std::move(type));
}

const Type *Module::vector(ScalarType t, uint16_t lanes) {
    Type type;
    type.kind = TypeKind::VECTOR;
    type.scalar = t;
    type.lanes = lanes;
    return intern(std::move(type));
}

const Type *Module::pointer() {
    Type type;
    type.kind = TypeKind::POINTER;
    type.scalar = ScalarType::UINT8;
    return intern(std::move(type));
}

Function *Module::add_function(std::string name, SourceLoc loc) {
    auto &function = _functions.emplace_back();
    function.name = std::move(name);
    function.loc = loc;
    function.body = &_regions.emplace_back();
    return &function;
}

Function *Module::kernel() {
    require(_functions.size() == 1, "a Candidate module holds one kernel");
    return &_functions.front();
}

const Function *Module::kernel() const {
    require(_functions.size() == 1, "a Candidate module holds one kernel");
    return &_functions.front();
}

Value *Module::add_argument(Region *region, const Type *type) {
    auto &value = _values.emplace_back();
    value._type = type;
    value._owner = region;
    value._index = static_cast<uint32_t>(region->_arguments.size());
    region->_arguments.push_back(&value);
    return &value;
}

Value *Module::add_result(Operation *op, const Type *type) {
    auto &value = _values.emplace_back();
    value._type = type;
    value._definition = op;
    value._index = static_cast<uint32_t>(op->_results.size());
    op->_results.push_back(&value);
    return &value;
}

Operation *Module::create(Opcode opcode, const std::vector<Value *> &operands,
                          const std::vector<const Type *> &results, Payload payload, SourceLoc loc,
                          size_t region_count) {
    auto &op = _operations.emplace_back();
    op._opcode = opcode;
    require(payload.index() == info(opcode).payload, "payload does not belong to this operation");
    op._payload = std::move(payload);
    op.loc = loc;
    op._operand_count = operands.size();
    if (!operands.empty()) {
        op._operands = std::make_unique<Use[]>(operands.size());
        for (size_t i = 0; i < operands.size(); ++i) {
            require(operands[i] != nullptr, "null operand");
            op._operands[i]._value = operands[i];
        }
    }
    op._results.reserve(results.size());
    for (const auto *type : results) {
        add_result(&op, type);
    }
    for (size_t i = 0; i < region_count; ++i) {
        add_region(&op);
    }
    return &op;
}

Region *Module::add_region(Operation *op) {
    auto &region = _regions.emplace_back();
    region._parent = op;
    op->_regions.push_back(&region);
    return &region;
}

void Module::erase_regions(Operation *op, size_t first) {
    while (op->_regions.size() > first) {
        while (auto *inner = op->_regions.back()->last()) {
            erase(inner);
        }
        op->_regions.pop_back();
    }
}

void Module::append(Region *region, Operation *op) { op->link(region, nullptr); }

void Module::insert_before(Operation *anchor, Operation *op) { op->link(anchor->region(), anchor); }

void Module::erase(Operation *op) {
    for (auto *result : op->results()) {
        require(!result->has_uses(), "erased operation still has uses");
    }
    // Operations inside leave their use lists too, innermost last to first.
    for (auto *region : op->regions()) {
        while (auto *inner = region->last()) {
            erase(inner);
        }
    }
    op->unlink();
}

void Module::move(Operation *op, Region *region, Operation *anchor) {
    op->unlink();
    op->link(region, anchor);
}

}// namespace luisa::tile::ir

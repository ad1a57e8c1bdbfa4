// SPDX-License-Identifier: Apache-2.0
#include "ir/check_operations.h"

#include <algorithm>
#include <string>

namespace luisa::tile::ir {

namespace {

/// Whether every dimension of `type` is among `dims`, as long or of one element.
bool spreads_over(const Type &type, const std::vector<DimExtent> &dims) {
    return std::all_of(type.dims.begin(), type.dims.end(), [&](const DimExtent &d) {
        return std::any_of(dims.begin(), dims.end(), [&](const DimExtent &k) {
            return k.dim == d.dim && (k.extent == d.extent || d.extent == 1);
        });
    });
}

bool is_distinct(const std::vector<DimExtent> &dims) {
    for (size_t i = 0; i < dims.size(); ++i) {
        for (size_t j = 0; j < i; ++j) {
            if (dims[i].dim == dims[j].dim) {
                return false;
            }
        }
    }
    return true;
}

}// namespace

bool check_mapped_access(const Operation &op, size_t first, const std::vector<DimExtent> &dims,
                         std::string &message) {
    const auto &view = *op.operand(0)->type();
    bool load = op.opcode() == Opcode::LOAD;
    bool fallback = load && op.get<LoadPayload>().has_fallback;
    auto fails = [&](const char *text) {
        message = text;
        return false;
    };
    if (op.operand_count() != first + view.rank() + (fallback ? 1 : 0)) {
        return fails("has not one coordinate a dimension of the view");
    }
    bool sane = !dims.empty() && is_distinct(dims) &&
                std::all_of(dims.begin(), dims.end(), [](auto &d) { return d.extent >= 0; });
    if (!sane) {
        return fails("a mapped access has no dimensions, one twice or one of negative extent");
    }
    for (size_t i = first; i < first + view.rank(); ++i) {
        const auto &type = *op.operand(i)->type();
        if (!type.is_tile() || type.scalar != ScalarType::INT64 || !spreads_over(type, dims)) {
            return fails("a coordinate is no i64 tile over the dimensions of the access");
        }
    }
    const auto &value = load ? *op.result()->type() : *op.operand(1)->type();
    if (!value.is_tile() || value.scalar != view.scalar || !spreads_over(value, dims)) {
        return fails("the value has another type than the view, or does not fit the box");
    }
    if (fallback) {
        const auto &type = *op.operand(op.operand_count() - 1)->type();
        if (!type.is_scalar() || type.scalar != view.scalar) {
            return fails("the fallback is no scalar of the view's type");
        }
    }
    return true;
}

bool check_part_access(const Operation &op, std::string &message) {
    const auto &payload = op.get<AccessPayload>();
    bool extract = op.opcode() == Opcode::EXTRACT;
    size_t first = extract ? 1 : 2;
    size_t expected = first + payload.dims.size() + (payload.has_fallback ? 1 : 0);
    auto fails = [&](std::string text) {
        message = std::move(text);
        return false;
    };
    if (op.operand_count() != expected || op.result_count() != 1) {
        return fails("has " + std::to_string(op.operand_count()) + " operands, expected " +
                     std::to_string(expected));
    }
    if (!extract && payload.has_fallback) {
        return fails("insert has no fallback");
    }
    if (!payload.box.empty() && payload.box.size() != payload.dims.size()) {
        return fails("has a box without one entry a coordinate");
    }
    const auto &tile = *op.operand(0)->type();
    for (size_t i = 0; i < payload.dims.size(); ++i) {
        auto count = std::count(payload.dims.begin(), payload.dims.end(), payload.dims[i]);
        if (tile.find(payload.dims[i]) < 0 || count != 1) {
            return fails("addresses a dimension that the tile lacks, or twice");
        }
        const auto &type = *op.operand(first + i)->type();
        if (!type.is_scalar() || type.scalar != ScalarType::INT64) {
            return fails("operand " + std::to_string(first + i) + " is no i64 scalar");
        }
    }
    auto dims = boxed_dims(tile, payload);
    bool sane = is_distinct(dims) &&
                std::all_of(dims.begin(), dims.end(), [](auto &d) { return d.extent >= 0; });
    if (!payload.box.empty() && !sane) {
        return fails("the box names a dimension twice or has a negative extent");
    }
    const auto &part = extract ? *op.result()->type() : *op.operand(1)->type();
    if (part.dims != dims || part.scalar != tile.scalar) {
        return fails("the part's dimensions are not the tile's other dimensions");
    }
    if (!extract && op.result()->type() != op.operand(0)->type()) {
        return fails("the result is not like the tile");
    }
    if (payload.has_fallback) {
        const auto &fallback = *op.operand(op.operand_count() - 1)->type();
        if (!fallback.is_scalar() || fallback.scalar != tile.scalar) {
            return fails("the fallback is no scalar of the tile's type");
        }
    }
    return true;
}

std::vector<DimExtent> boxed_dims(const Type &tile, const AccessPayload &access) {
    std::vector<DimExtent> dims;
    for (const auto &d : tile.dims) {
        auto found = std::find(access.dims.begin(), access.dims.end(), d.dim);
        if (found == access.dims.end()) {
            dims.push_back(d);
        } else if (!access.box.empty()) {
            dims.push_back(access.box[static_cast<size_t>(found - access.dims.begin())]);
        }
    }
    return dims;
}

}// namespace luisa::tile::ir

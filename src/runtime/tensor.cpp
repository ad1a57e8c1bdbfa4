// SPDX-License-Identifier: Apache-2.0
#include <luisa/tile/tensor.h>

#include "runtime/overlap.h"

#include <algorithm>
#include <limits>

namespace luisa::tile {

namespace runtime {

void check_axis(int rank, int axis, SourceLoc loc) {
    if (axis < 0 || axis >= rank) {
        throw IndexError{"axis " + std::to_string(axis) + " of a tensor of rank " +
                             std::to_string(rank) + "; axes are 0 to " + std::to_string(rank - 1),
                         loc};
    }
}

void check_slice(int, int axis, int64_t extent, int64_t begin, int64_t end, int64_t step,
                 SourceLoc loc) {
    if (step == 0) {
        throw ValueError{"slice: the step is 0, expected another number", loc};
    }
    bool inside = step > 0 ? begin >= 0 && begin <= end && end <= extent
                           : end >= -1 && end <= begin && begin < extent;
    if (!inside) {
        throw IndexError{"slice: [" + std::to_string(begin) + ", " + std::to_string(end) +
                             ") leaves axis " + std::to_string(axis) + " of extent " +
                             std::to_string(extent),
                         loc};
    }
}

void check_repeat(int axis, int64_t extent, SourceLoc loc) {
    if (extent != 1) {
        throw ShapeError{"repeated: axis " + std::to_string(axis) + " has extent " +
                             std::to_string(extent) + ", expected 1",
                         loc};
    }
}

CopyCommand make_copy(Argument tensor, const void *host, size_t count, bool to_host,
                      SourceLoc loc) {
    const char *what = to_host ? "copy_to: " : "copy_from: ";
    if (!tensor.alive) {
        throw LifetimeError{std::string{what} + "the tensor was moved from, freed or never made",
                            loc};
    }
    size_t elements = 1;
    for (int d = 0; d < tensor.rank; ++d) {
        elements *= static_cast<size_t>(tensor.extents[d]);
    }
    // The search ends at once for all views that slices, transpositions and repetitions make.
    if (auto overlap = to_host ? SelfOverlap{} : find_self_overlap(tensor, 1000000);
        overlap.found) {
        throw AliasError{what + overlap_text(tensor, overlap), loc};
    }
    if (elements != count) {
        throw ShapeError{std::string{what} + "the tensor has " + std::to_string(elements) +
                             " elements, the host memory " + std::to_string(count),
                         loc};
    }
    if (elements > 0 && (!tensor.data || !host)) {
        throw ValueError{std::string{what} + "no memory (null) for " + std::to_string(elements) +
                             " elements",
                         loc};
    }
    return {std::move(tensor), const_cast<void *>(host), to_host};
}

void check_fit(const Argument &tensor, int64_t offset, int64_t size, SourceLoc loc) {
    if (!tensor.alive) {
        throw LifetimeError{"a tensor over a buffer that was moved from, freed or never made", loc};
    }
    auto low = static_cast<Reach>(offset), high = low;
    for (int d = 0; d < tensor.rank; ++d) {
        if (tensor.extents[d] == 0) {
            return;
        }
        auto reach = static_cast<Reach>(tensor.extents[d] - 1) * tensor.strides[d];
        (reach < 0 ? low : high) += reach;
    }
    if (low >= 0 && high < size) {
        return;
    }
    auto beyond = [](Reach x) {
        auto most = static_cast<Reach>(std::numeric_limits<int64_t>::max());
        return std::to_string(static_cast<int64_t>(std::clamp<Reach>(x, -most, most)));
    };
    throw IndexError{"the tensor reaches elements " + beyond(low) + " to " + beyond(high) +
                         " of a buffer of " + std::to_string(size) + " elements",
                     loc};
}

}// namespace runtime

}// namespace luisa::tile

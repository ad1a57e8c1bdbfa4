// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "interpreter/context.h"

namespace luisa::tile::interpreter {

using Tiles = std::vector<TileRef>;

/// The contract of a `reduce`, evaluated: states are merged element by element.
class Contract {
public:
    Contract(Context &context, const Step &reduce);

    /// Whether the contract merges this state.
    [[nodiscard]] bool binds(size_t state) const;
    /// Puts the identity into the states that the contract merges.
    void set_identity(Tiles &states) const;
    /// Puts the merge of the states that the contract merges into `out`.
    void merge(const Tiles &left, const Tiles &right, Tiles &out) const;

    [[nodiscard]] const std::vector<int32_t> &states() const { return *_states; }
    [[nodiscard]] size_t fields() const { return _fields; }

private:
    Context &_context;
    const Step &_step;
    const std::vector<int32_t> *_states;
    size_t _fields = 0;///< of one group
};

/// Samples the laws of a contract on what a reduction meets: one that does not hold is a ValueError that
/// shows the states.
class LawSampler {
public:
    LawSampler(Context &context, const Step &reduce) : _contract{context, reduce}, _step{reduce} {}
    /// An iteration took `before` to `after`, and the identity to `leaf`.
    void sample(const Tiles &before, const Tiles &leaf, const Tiles &after);
    [[nodiscard]] const Contract &contract() const { return _contract; }
    /// Iterations are sampled rarely once there were a few.
    [[nodiscard]] static bool wants(int64_t iteration) {
        return iteration < 4 || (iteration & (iteration - 1)) == 0;
    }

private:
    using Inputs = std::vector<std::pair<const char *, const Tiles *>>;
    [[nodiscard]] Tiles merged(const Tiles &left, const Tiles &right) const;
    void compare(const char *law, const Tiles &expected, const Tiles &got,
                 const Inputs &inputs) const;

    Contract _contract;
    const Step &_step;
    std::vector<Tiles> _earlier;///< leaves, the last two
};

}// namespace luisa::tile::interpreter

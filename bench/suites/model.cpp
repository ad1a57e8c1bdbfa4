// SPDX-License-Identifier: Apache-2.0
// Sentence embeddings: the whole of examples/minilm, from token ids on the device to embeddings.
#include "suite.h"

#include <minilm/files.h>
#include <minilm/model.h>
#include <minilm/reference.h>

#include <fmt/format.h>

#include <memory>
#include <stdexcept>

namespace bench {

namespace {

using namespace luisa::tile;

/// Indices of the stored sentences that make up a batch.
using Sentences = std::vector<size_t>;

/// What a case runs on; its memory outlives the calls.
struct State {
    State(const Device &device, const std::filesystem::path &weights)
        : stream{device}, model{device, minilm::Safetensors{weights}} {}
    Stream stream;
    minilm::Model model;
    minilm::Batch batch;
    Tensor<float, 2> embeddings;
    std::vector<double> expected;
};

Subject prepare(const Device &device, const Sentences &sentences) {
    auto folder = minilm::find_weights();
    if (!folder) {
        throw std::runtime_error{minilm::how_to_get_weights()};
    }
    auto references = minilm::read_references();
    auto weights = *folder / "model.safetensors";
    Subject subject;
    auto state = std::make_shared<State>(device, weights);
    std::vector<std::vector<int32_t>> ids;
    for (auto index : sentences) {
        const auto &reference = references.at(index);
        ids.push_back(reference.ids);
        state->expected.insert(state->expected.end(), reference.embedding.begin(),
                               reference.embedding.end());
    }
    state->batch = minilm::make_batch(device, ids);
    state->embeddings = make_tensor<float>(device, ids.size(), minilm::Sizes::hidden);
    for (const auto &part : state->model.parts()) {
        subject.compile_ms += part.shader.metadata().compile_ms();
        subject.plan += part.shader.metadata().plan;
    }
    subject.ours = timed([state] {
        state->model.run(state->stream, state->batch, state->embeddings);
        state->stream.synchronize();
    });
    ModelProblem problem{
        weights.string(),        state->batch.ids.extent(0),  state->batch.ids.extent(1),
        state->batch.ids.data(), state->batch.lengths.data(), state->embeddings.data()};
    subject.peer = [=](Peer &peer) { return peer.call(problem); };
    subject.error = [state] { return max_error(state->embeddings.data(), state->expected); };
    subject.poison = [state] { fill_nan(state->embeddings.data(), state->embeddings.size()); };
    return subject;
}

/// Operations on the tokens that are no padding, and the weights read once.
Work work_of(const std::vector<minilm::Reference> &references, const Sentences &sentences) {
    using S = minilm::Sizes;
    constexpr double weights = S::layers *
                               (4.0 * S::hidden * S::hidden + 2.0 * S::hidden * S::inner);
    Work work{.bytes = 4 * weights};
    for (auto index : sentences) {
        auto tokens = static_cast<double>(references.at(index).ids.size());
        work.flops += 2 * tokens * (weights + 2.0 * S::layers * S::hidden * tokens);
    }
    return work;
}

std::vector<Case> cases() {
    auto references = minilm::read_references();
    std::vector<Case> all;
    auto add = [&](const std::string &name, const Sentences &sentences) {
        all.push_back({.name = name,
                       .dtype = "f32",
                       .work = work_of(references, sentences),
                       .tolerance = 1e-4,
                       .prepare = [=](const Device &d) { return prepare(d, sentences); }});
    };
    // A batch of one sentence again and again has no padding.
    for (size_t count : {1, 8, 32}) {
        for (size_t index : {5, 9}) {
            add(fmt::format("{}x{}", count, references.at(index).ids.size()),
                Sentences(count, index));
        }
    }
    for (size_t count : {8, 32}) {
        Sentences mixed;
        for (size_t i = 0; i < count; ++i) {
            mixed.push_back((i + 9) % references.size());
        }
        add(fmt::format("{}-mixed", count), mixed);
    }
    return all;
}

const Registered model{{"model", "sentence embeddings by all-MiniLM-L6-v2", cases}};

}// namespace

}// namespace bench

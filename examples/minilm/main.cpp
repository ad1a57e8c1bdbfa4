// SPDX-License-Identifier: Apache-2.0
// Sentence embeddings with all-MiniLM-L6-v2: six transformer layers, all numeric work in tile kernels, one compiled
// kernel of each kind for every number of sentences and tokens.
//   minilm [--quick] [SENTENCE…]
#include "../example.h"
#include "files.h"
#include "model.h"
#include "reference.h"
#include "tokenizer.h"

#include <set>

using namespace minilm;

namespace {

constexpr int without_weights = 77;///< the exit status that ctest takes for "skipped"

const std::vector<std::string> sample{
    "The new tram line opens to passengers on Monday.",
    "From next week you can take the streetcar to the centre.",
    "Public transport in the city gets another connection.",
    "Whisk the eggs before you fold in the flour.",
    "Beat two eggs, then add flour slowly.",
    "Her telescope shows the rings of Saturn on clear nights.",
    "Astronomers photographed a planet with icy rings.",
    "The contract ends thirty days after written notice.",
};

class Encoder {
public:
    Encoder(const std::filesystem::path &folder, const std::string &device)
        : _device{lt::Device::create(device)}, _stream{_device}, _tokenizer{folder / "vocab.txt"},
          _model{_device, Safetensors{folder / "model.safetensors"}} {}

    lt::Tensor<float, 2> embed(const std::vector<std::vector<int32_t>> &sentences) {
        auto batch = make_batch(_device, sentences);
        auto result = lt::make_tensor<float>(_device, sentences.size(), Sizes::hidden);
        _model.run(_stream, batch, result);
        auto embeddings = lt::make_tensor<float>(lt::Device::create("cpu"), sentences.size(),
                                                 Sizes::hidden);
        _stream << result.copy_to({embeddings.data(), static_cast<size_t>(embeddings.size())})
                << lt::synchronize();
        return embeddings;
    }
    [[nodiscard]] std::vector<std::vector<int32_t>> tokens(
        const std::vector<std::string> &sentences) const {
        std::vector<std::vector<int32_t>> all;
        for (const auto &sentence : sentences) {
            all.push_back(_tokenizer(sentence));
        }
        return all;
    }
    [[nodiscard]] const lt::Device &device() const { return _device; }
    [[nodiscard]] const Model &model() const { return _model; }
    /// Seconds of one run, of a batch that is on the device already.
    double seconds(const std::vector<std::vector<int32_t>> &sentences, bool quick) {
        auto batch = make_batch(_device, sentences);
        auto result = lt::make_tensor<float>(_device, sentences.size(), Sizes::hidden);
        return example::best_seconds(
            [&] {
                _model.run(_stream, batch, result);
                _stream.synchronize();
            },
            quick);
    }

private:
    lt::Device _device;
    lt::Stream _stream;
    Tokenizer _tokenizer;
    Model _model;
};

/// Compares tokens and embeddings with PyTorch's, each sentence alone and all in one padded batch.
/// Only the first `most` of them, in short: the emulator of GPUs takes seconds for each.
bool agrees_with_pytorch(Encoder &encoder, size_t most) {
    constexpr double expected = 0.99999;
    std::vector<std::vector<int32_t>> all;
    auto references = read_references();
    references.resize(std::min(references.size(), most));
    double alone = 1, together = 1;
    size_t wrong = 0;
    for (const auto &reference : references) {
        auto ids = encoder.tokens({reference.sentence}).front();
        if (ids != reference.ids) {
            ++wrong;
            std::printf("tokens differ: %s\n", reference.sentence.c_str());
        }
        auto embedding = encoder.embed({reference.ids});
        alone = std::min(alone,
                         cosine(embedding.data(), reference.embedding.data(), Sizes::hidden));
        all.push_back(reference.ids);
    }
    auto embeddings = encoder.embed(all);
    for (size_t i = 0; i < references.size(); ++i) {
        together = std::min(together, cosine(&embeddings.at(static_cast<int64_t>(i), 0),
                                             references[i].embedding.data(), Sizes::hidden));
    }
    std::printf("%zu sentences against PyTorch: tokens of %zu equal, cosine at least %.7f alone, "
                "%.7f in one batch\n",
                all.size(), all.size() - wrong, alone, together);
    // Written so that NaN is wrong.
    return wrong == 0 && alone >= expected && together >= expected;
}

/// True if compiling each kernel again finds the one that all batches used.
bool compiled_once(const Encoder &encoder) {
    std::set<const void *> shaders;
    for (const auto &part : encoder.model().parts()) {
        auto again = encoder.device().compile(part.kernel);
        if (again.impl() != part.shader.impl() || !shaders.insert(again.impl()).second) {
            std::printf("%s was compiled twice\n", part.name.c_str());
            return false;
        }
    }
    std::printf("%zu kernels, each compiled once for all batches\n", shaders.size());
    return true;
}

void print_kernels(const Encoder &encoder) {
    std::printf("%s\n%-22s %11s\n", encoder.device().description().c_str(), "kernel", "compile ms");
    for (const auto &part : encoder.model().parts()) {
        std::printf("%-22s %11.1f\n", part.name.c_str(), part.shader.metadata().compile_ms());
    }
}

void print_times(Encoder &encoder, bool quick) {
    std::printf("%10s %8s %12s %14s\n", "sentences", "tokens", "batch ms", "us a sentence");
    auto tokens = encoder.tokens(sample);
    for (size_t count : {1, 8, 32}) {
        std::vector<std::vector<int32_t>> batch;
        size_t width = 0;
        for (size_t i = 0; i < count; ++i) {
            batch.push_back(tokens[i % tokens.size()]);
            width = std::max(width, batch.back().size());
        }
        auto seconds = encoder.seconds(batch, quick);
        std::printf("%10zu %8zu %12.3f %14.1f\n", count, width, seconds * 1e3,
                    seconds * 1e6 / static_cast<double>(count));
    }
}

void print_similarities(Encoder &encoder, const std::vector<std::string> &sentences) {
    auto embeddings = encoder.embed(encoder.tokens(sentences));
    auto count = embeddings.extent(0);
    for (int64_t i = 0; i < count; ++i) {
        for (int64_t j = 0; j < count; ++j) {
            // Embeddings have length one, so the product is the cosine.
            double product = 0;
            for (int64_t c = 0; c < Sizes::hidden; ++c) {
                product += static_cast<double>(embeddings.at(i, c)) *
                           static_cast<double>(embeddings.at(j, c));
            }
            std::printf("%6.2f", product);
        }
        std::printf("  %s\n", sentences[static_cast<size_t>(i)].c_str());
    }
}

int run(int argc, char **argv) {
    auto folder = find_weights();
    if (!folder) {
        std::printf("skipped: %s\n", how_to_get_weights());
        return without_weights;
    }
    std::vector<std::string> sentences;
    for (int i = 1; i < argc; ++i) {
        if (std::strcmp(argv[i], "--device") == 0) {
            ++i;
        } else if (std::strcmp(argv[i], "--quick") != 0) {
            sentences.emplace_back(argv[i]);
        }
    }
    auto device = example::option(argc, argv, "--device", "cpu");
    Encoder encoder{*folder, device};
    print_kernels(encoder);
    if (device == "cuda-emulator") {
        bool right = agrees_with_pytorch(encoder, 2);
        return compiled_once(encoder) && right ? 0 : 1;
    }
    bool right = agrees_with_pytorch(encoder, SIZE_MAX);
    print_times(encoder, example::quick(argc, argv));
    right &= compiled_once(encoder);
    print_similarities(encoder, sentences.empty() ? sample : sentences);
    return right ? 0 : 1;
}

}// namespace

int main(int argc, char **argv) {
    try {
        if (example::emit_tir(argc, argv)) {
            return example::print_tir(
                {embed_kernel(), linear_kernel(Sizes::hidden, 3 * Sizes::hidden, false),
                 attention_kernel(64), linear_add_kernel(Sizes::hidden, Sizes::hidden),
                 norm_kernel(), linear_kernel(Sizes::hidden, Sizes::inner, true), pool_kernel()});
        }
        return run(argc, argv);
    } catch (const std::exception &error) {
        std::fprintf(stderr, "minilm: %s\n", error.what());
        return 1;
    }
}

// SPDX-License-Identifier: Apache-2.0
#include "fuzz/isolate.h"

#include "fuzz/generator.h"

#include <cctype>
#include <chrono>
#include <csignal>
#include <cstring>
#include <ctime>
#include <new>
#include <thread>

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace luisa::tile::fuzz {

namespace {

using Clock = std::chrono::steady_clock;

/// A T that parent and child see.
template<class T> class Shared {
public:
    Shared() {
        auto *p = mmap(nullptr, sizeof(T), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
                       0);
        if (p == MAP_FAILED) {
            throw OutOfMemoryError{"no memory to share with a child process"};
        }
        _value = new (p) T{};
    }
    ~Shared() { munmap(_value, sizeof(T)); }
    Shared(const Shared &) = delete;
    Shared &operator=(const Shared &) = delete;
    T *operator->() const noexcept { return _value; }
    T &operator*() const noexcept { return *_value; }

private:
    T *_value;
};

/// Runs `work` in a child process, which ends without running destructors of the parent's objects.
template<class F> pid_t spawn(const std::string &device, F &&work) {
    auto child = fork();
    if (child < 0) {
        throw ResourceError{"cannot start a child process"};
    }
    if (child == 0) {
        rlimit none{0, 0};
        setrlimit(RLIMIT_CORE, &none);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
        // A program that asks for all memory is a failure of its own, not of the machine. The driver of a GPU
        // reserves more addresses than any machine has memory.
        constexpr rlim_t most_bytes = rlim_t{4} << 30;
        rlimit memory{most_bytes, most_bytes};
        if (device == "cpu" || device == "cuda-emulator") {
            setrlimit(RLIMIT_AS, &memory);
        }
#endif
        work();
        _exit(0);
    }
    return child;
}

void end(pid_t child) {
    int status = 0;
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
}

/// How long a child has kept a core busy, so that a loaded machine does not look like a hang. One that waits for
/// ever gets eight times as long.
class Watch {
public:
    void restart(pid_t child) {
        _child = child;
        _cpu = cpu_seconds();
        _since = Clock::now();
    }
    [[nodiscard]] bool exceeds(int seconds) const {
        return cpu_seconds() - _cpu > seconds ||
               Clock::now() - _since > 8 * std::chrono::seconds{seconds};
    }

private:
    [[nodiscard]] double cpu_seconds() const {
        clockid_t clock{};
        timespec t{};
        bool known = clock_getcpuclockid(_child, &clock) == 0 && clock_gettime(clock, &t) == 0;
        return known ? static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec) : 0;
    }

    pid_t _child = 0;
    double _cpu = 0;
    Clock::time_point _since;
};

struct Answer {
    bool done = false;
    OutcomeKind kind = OutcomeKind::SAME;
    char message[4000] = {};
};

}// namespace

void Target::apply(Settings &settings) const {
    settings.device = device;
    if (!cpu.empty()) {
        settings.cpu = cpu;
    }
}

Outcome execute_isolated(const Case &c, int timeout_s) {
    Shared<Answer> answer;
    auto child = spawn(c.settings.device, [&] {
        auto outcome = execute(c);
        answer->kind = outcome.kind;
        outcome.message.copy(answer->message, sizeof answer->message - 1);
        answer->done = true;
    });
    Watch watch;
    watch.restart(child);
    int status = 0;
    while (waitpid(child, &status, WNOHANG) == 0) {
        if (watch.exceeds(timeout_s)) {
            end(child);
            return {OutcomeKind::HANG, "more than " + std::to_string(timeout_s) + " s"};
        }
        std::this_thread::sleep_for(std::chrono::microseconds{500});
    }
    if (!answer->done) {
        return {OutcomeKind::CRASH, WIFSIGNALED(status)
                                        ? std::string{strsignal(WTERMSIG(status))}
                                        : "ended with " + std::to_string(WEXITSTATUS(status))};
    }
    return {answer->kind, answer->message};
}

namespace {

constexpr size_t most_failures = 64;///< of one batch; a run with more of them stops

constexpr size_t most_refusals = 24;///< different ones; others are not told apart

/// Numbers and places tell messages of one kind apart, so they go.
std::string kind_of(const std::string &message) {
    std::string text;
    for (char c :
         message.substr(message.find(": ") == std::string::npos ? 0 : message.find(": ") + 2)) {
        bool digit = std::isdigit(static_cast<unsigned char>(c)) != 0;
        if (!digit || text.empty() || text.back() != '#') {
            text += digit ? '#' : c;
        }
    }
    return text.substr(0, 159);
}

struct Progress {
    struct Refusal {
        char message[160] = {};
        uint64_t count = 0, index = 0;
    };
    Refusal refusals[most_refusals];

    void refuse(const std::string &message) {
        auto kind = kind_of(message);
        for (auto &r : refusals) {
            if (r.count == 0) {
                kind.copy(r.message, sizeof r.message - 1);
                r.index = next;
            }
            if (kind == r.message) {
                ++r.count;
                return;
            }
        }
    }
    uint64_t next = 0; ///< the case that runs now
    size_t variant = 0;///< and its settings
    uint64_t counts[outcome_kind_count] = {};
    Coverage coverage;
    BatchResult::Failure failures[most_failures];
    size_t failure_count = 0;

    void record(OutcomeKind kind) {
        ++counts[static_cast<size_t>(kind)];
        if (is_failure(kind) && failure_count < most_failures) {
            failures[failure_count++] = {next, kind, variant};
        }
    }
};

/// One batch and the process that works on it.
struct Worker {
    Batch batch;
    Shared<Progress> progress;
    pid_t child = 0;
    uint64_t seen = 0;
    Watch watch;

    void start() {
        seen = progress->next;
        child = spawn(batch.target.device, [&] {
            for (; progress->next < batch.end && progress->failure_count < most_failures;
                 progress->next += batch.stride) {
                auto c = generate(Random{batch.seed, progress->next});
                batch.target.apply(c.settings);
                progress->variant = 0;
                auto outcome = execute(c);
                auto all = batch.every_setting ? variants(c.settings) : std::vector<Settings>{};
                for (size_t i = 1; i < all.size() && outcome.kind == OutcomeKind::SAME; ++i) {
                    progress->variant = i;
                    c.settings = all[i];
                    outcome = execute(c);
                }
                if (outcome.kind == OutcomeKind::SAME) {
                    progress->coverage.add(c.kernels, c.features);
                } else if (outcome.kind == OutcomeKind::UNSUPPORTED) {
                    progress->refuse(outcome.message);
                }
                progress->record(outcome.kind);
            }
        });
        watch.restart(child);
    }
    /// Whether the batch has ended.
    bool poll(int timeout_s) {
        int status = 0;
        bool ended = waitpid(child, &status, WNOHANG) != 0;
        if (ended && WIFEXITED(status) && WEXITSTATUS(status) == 0) {
            return true;
        }
        if (seen != progress->next) {
            seen = progress->next;
            watch.restart(child);
        }
        bool hangs = !ended && watch.exceeds(timeout_s);
        if (ended || hangs) {
            if (hangs) {
                end(child);
            }
            progress->record(hangs ? OutcomeKind::HANG : OutcomeKind::CRASH);
            progress->next += batch.stride;
            start();
        }
        return false;
    }
};

}// namespace

std::vector<BatchResult> run_batches(const std::vector<Batch> &batches, int timeout_s) {
    std::vector<std::unique_ptr<Worker>> workers;
    for (const auto &batch : batches) {
        workers.push_back(std::make_unique<Worker>());
        workers.back()->batch = batch;
        workers.back()->progress->next = batch.first;
        workers.back()->start();
    }
    std::vector<bool> done(workers.size());
    for (size_t left = workers.size(); left > 0;) {
        std::this_thread::sleep_for(std::chrono::milliseconds{5});
        for (size_t i = 0; i < workers.size(); ++i) {
            if (!done[i] && workers[i]->poll(timeout_s)) {
                done[i] = true;
                --left;
            }
        }
    }
    std::vector<BatchResult> results;
    for (const auto &worker : workers) {
        auto &p = *worker->progress;
        BatchResult r;
        std::copy(std::begin(p.counts), std::end(p.counts), r.counts);
        r.coverage = p.coverage;
        for (const auto &refusal : p.refusals) {
            if (refusal.count > 0) {
                r.refusals.push_back({refusal.message, refusal.count, refusal.index});
            }
        }
        r.failures.assign(p.failures, p.failures + p.failure_count);
        results.push_back(std::move(r));
    }
    return results;
}

}// namespace luisa::tile::fuzz

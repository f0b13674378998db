// A process that registers, promotes and rolls back is killed again and again, each time a little
// later. Acknowledged steps must remain, no step may be there in part, and the continued run must
// end like an undisturbed run.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>

#include "rampart/registry/model_registry.hpp"
#include "support/explained_policy.hpp"
#include "unit/registry/gate_run.hpp"

namespace rampart::registry {
namespace {

namespace fs = std::filesystem;
using testing::at;

constexpr size_t kRounds = 4;  // promotion and rollback, each with its own certificate

std::string policy_file(bool learned) {
    auto schema = dataset::FeatureSchema::create({{"score", dataset::FeatureKind::kNumeric, {}}});
    model::Link link = support::scored_link(0);
    if (!learned) link = model::BootstrapLink{"score", {{0, 0.2}, {1, 0.8}}, 0.5};
    return model::encode_model_file(support::explained_policy(*schema, {std::move(link)}));
}

/// The prepared actions of the process: `steps` actions that can be repeated without harm.
struct Script {
    base::SigningKey key = base::SigningKey::generate();
    std::string first = policy_file(false), candidate = policy_file(true);
    domain::PolicyId first_id = model::policy_id_of(first);
    domain::PolicyId candidate_id = model::policy_id_of(candidate);
    std::vector<testing::GateRun> runs;
    std::vector<std::string> ledger;

    Script() {
        for (size_t i = 0; i < kRounds; ++i) {
            runs.push_back(testing::run_gate(candidate_id.value(), first_id.value(), key, ledger));
            ledger = runs.back().ledger;
        }
    }
    size_t steps() const { return 3 + ledger.size() + 2 * kRounds; }

    base::Status step(ModelRegistry& registry, size_t i) const {
        const auto drop = [](const auto& result) {
            return result ? base::ok() : base::Status(result.error());
        };
        if (i == 0) return drop(registry.register_model(first, at(1), "trainer"));
        if (i == 1) return drop(registry.register_model(candidate, at(1), "trainer"));
        if (i == 2) return drop(registry.bootstrap_champion(first_id, at(2), "anna"));
        i -= 3;
        if (i < ledger.size())
            return registry.append_ledger_entries(i, std::vector<std::string>{ledger[i]}, at(3),
                                                  "gate");
        i -= ledger.size();
        const auto now = at(10 + static_cast<int64_t>(i));
        if (i % 2 == 0) {
            const auto& files = runs[i / 2].files;
            return drop(registry.promote(
                candidate_id, {files.certificate, files.evidence, key.public_key()}, now, "anna"));
        }
        return drop(registry.rollback(now, "bob", "a drill", candidate_id));
    }

    /// Returns the number of steps that the registry has completed, from its contents.
    size_t done(const ModelRegistry& registry) const {
        const auto promotions = registry.promotions().size();
        if (promotions > 1) return 3 + ledger.size() + promotions - 1;
        return registry.models().value().size() + promotions +
               registry.ledger_entries().value().size();
    }
};

/// Continues where the registry stands, and writes one byte to `pipe` after each step.
[[noreturn]] void child(const Script& script, const fs::path& folder, int pipe) {
    auto opened = ModelRegistry::open(folder);
    if (!opened) _exit(3);
    for (size_t i = script.done(**opened); i < script.steps(); ++i) {
        if (!script.step(**opened, i)) _exit(4);
        if (write(pipe, "x", 1) != 1) _exit(5);
    }
    _exit(0);
}

/// Runs the child until it has acknowledged `acks` steps, then kills it. True: it had finished.
bool run_and_kill(const Script& script, const fs::path& folder, size_t acks, size_t& acknowledged) {
    int ends[2];
    EXPECT_EQ(pipe(ends), 0);
    const pid_t pid = fork();
    if (pid == 0) {
        close(ends[0]);
        child(script, folder, ends[1]);
    }
    close(ends[1]);
    char byte;
    for (size_t i = 0; i < acks && read(ends[0], &byte, 1) == 1; ++i) ++acknowledged;
    kill(pid, SIGKILL);
    while (read(ends[0], &byte, 1) == 1) ++acknowledged;  // between the last read and the kill
    close(ends[0]);
    int status = 0;
    waitpid(pid, &status, 0);
    EXPECT_TRUE(WIFSIGNALED(status) || WEXITSTATUS(status) == 0) << "exit " << WEXITSTATUS(status);
    return acknowledged == script.steps();
}

/// The contents of a registry, read by a separate process: this process must not have the threads
/// of a database while it still forks.
struct State {
    bool sound = false;  // it opens, and the audit log verifies
    size_t done = 0, audit_entries = 0;
};

State inspect(const Script& script, const fs::path& folder) {
    int ends[2];
    EXPECT_EQ(pipe(ends), 0);
    const pid_t pid = fork();
    if (pid == 0) {
        State state;
        const auto registry = ModelRegistry::open(folder);
        if (registry) {
            state = {.sound = (*registry)->verify_audit().has_value(),
                     .done = script.done(**registry),
                     .audit_entries = (*registry)->audit_head().count};
        }
        _exit(write(ends[1], &state, sizeof state) == sizeof state ? 0 : 1);
    }
    close(ends[1]);
    State state;
    EXPECT_EQ(read(ends[0], &state, sizeof state), static_cast<ssize_t>(sizeof state));
    close(ends[0]);
    waitpid(pid, nullptr, 0);
    return state;
}

TEST(RegistryCrash, WhatWasAcknowledgedStandsAndNothingStandsByHalf) {
    const Script script;
    const auto folder =
        fs::path(::testing::TempDir()) / ("registry_crash." + std::to_string(getpid()));
    fs::remove_all(folder);
    size_t acknowledged = 0;
    int kills = 0;
    for (bool finished = false; !finished; ++kills) {
        ASSERT_LT(kills, 200);
        finished = run_and_kill(script, folder, 1 + static_cast<size_t>(kills) % 3, acknowledged);
        const auto state = inspect(script, folder);
        ASSERT_TRUE(state.sound);
        // The unfinished step may have been written without its acknowledgement: at most one more.
        EXPECT_GE(state.done, acknowledged);
        EXPECT_LE(state.done, acknowledged + 1);
        EXPECT_EQ(state.audit_entries, state.done);  // exactly one entry per change
        acknowledged = state.done;
    }
    EXPECT_GT(kills, 5);
    const auto registry = ModelRegistry::open(folder).value();
    EXPECT_EQ(registry->champion()->policy, script.first_id);
    EXPECT_EQ(registry->promotions().size(), 1 + 2 * kRounds);

    const auto undisturbed = fs::path(folder.string() + ".undisturbed");
    fs::remove_all(undisturbed);
    const auto other = ModelRegistry::open(undisturbed).value();
    for (size_t i = 0; i < script.steps(); ++i) ASSERT_TRUE(script.step(*other, i)) << i;
    EXPECT_EQ(registry->promotions(), other->promotions());
    EXPECT_EQ(registry->audit_head(), other->audit_head());
    fs::remove_all(folder);
    fs::remove_all(undisturbed);
}

}  // namespace
}  // namespace rampart::registry

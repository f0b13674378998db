// Epochs of the error budget, as an operator opens them: `rampart certify --new-epoch` on the store
// of a demo. It fails, is refused, is killed, or opens one.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/json.hpp>
#include <filesystem>
#include <thread>

#include "rampart/base/file.hpp"
#include "rampart/certification/certificate_file.hpp"
#include "rampart/registry/model_registry.hpp"
#include "support/places.hpp"
#include "support/program.hpp"

namespace rampart {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;
using certification::Closing;
using certification::EpochOpened;
using certification::Registration;
using test_support::run_program;

const std::string kRampart = test_support::bin_dir() + "/rampart";

std::string read(const fs::path& path) { return base::read_file(path, size_t{1} << 30).value(); }

/// A store with champions whose last one was rolled back: the policy that may be certified again.
class Epoch : public testing::Test {
  protected:
    static void SetUpTestSuite() {
        out_ = fs::path(testing::TempDir()) / fmt::format("epoch_test.{}", ::getpid());
        const auto ran = run_program(
            fmt::format("{}-demo --data simulated --rows 6000 --seed 1 --program {} "
                        "--config-dir {}/ops/config --out {}",
                        kRampart, kRampart, test_support::source_dir(), (out_ / "a").string()));
        ASSERT_EQ(ran.exit_code, 0) << ran.output;
        const auto report = json::parse(read(out_ / "a" / "report.json"));
        const auto& policies = report.at("policies").as_array();
        ASSERT_GE(policies.size(), 2u);
        candidate_ = std::string(policies.back().at("id").as_string());
        ASSERT_EQ(run_program(fmt::format("{} rollback --config {} --reason 'a test'", kRampart,
                                          config(out_ / "a").string()))
                      .exit_code,
                  0);
        set(out_ / "a", "min_units_per_group = 100", "min_units_per_group = 2");
        set(out_ / "a", "[gate]", "[gate]\nmin_power = 0.0");
    }
    static void TearDownTestSuite() { fs::remove_all(out_); }

    static fs::path config(const fs::path& folder) { return folder / "rampartd.toml"; }
    static void set(const fs::path& folder, const std::string& from, const std::string& to) {
        auto text = read(config(folder));
        const size_t at = text.find(from);
        ASSERT_NE(at, std::string::npos) << from;
        ASSERT_TRUE(base::write_file_atomically(config(folder), text.replace(at, from.size(), to)));
    }
    static fs::path copy(const std::string& name) {
        fs::remove_all(out_ / name);
        fs::copy(out_ / "a", out_ / name, fs::copy_options::recursive);
        return out_ / name;
    }
    static std::string certify(const fs::path& folder, const std::string& options = "",
                               const std::string& model = candidate_) {
        return fmt::format("{} certify --config {} --model {} --new-epoch 'a reason' {}", kRampart,
                           config(folder).string(), model, options);
    }
    static std::unique_ptr<registry::ModelRegistry> open(const fs::path& folder) {
        return registry::ModelRegistry::open(folder / "store" / "registry",
                                             registry::ModelRegistry::Mode::kReadOnly)
            .value();
    }
    static std::vector<std::string> ledger(const fs::path& folder) {
        return open(folder)->ledger_entries().value();
    }
    /// Runs beside a process that writes. The reader may see it half done; then the process has not
    /// finished.
    static bool has_grown(const fs::path& folder, size_t before) {
        const auto registry = registry::ModelRegistry::open(
            folder / "store" / "registry", registry::ModelRegistry::Mode::kReadOnly);
        if (!registry) return false;
        const auto entries = (*registry)->ledger_entries();
        return entries && entries->size() > before;
    }
    template <class Body>
    static Body body(const std::string& entry) {
        return std::get<Body>(certification::decode_ledger_entry(entry)->body);
    }

    static fs::path out_;
    static std::string candidate_;
};
fs::path Epoch::out_;
std::string Epoch::candidate_;

TEST_F(Epoch, ACommandThatFailsOrIsRefusedLeavesTheEpochBeforeAsItWas) {
    const auto folder = copy("fails");
    const auto before = ledger(folder);
    const auto early = run_program(certify(folder, "--at 2022-01-01"));
    EXPECT_EQ(early.exit_code, 2) << early.output;
    EXPECT_EQ(ledger(folder), before) << early.output;
    const auto unknown = run_program(certify(folder, "", std::string(64, '0')));
    EXPECT_EQ(unknown.exit_code, 2) << unknown.output;
    EXPECT_EQ(ledger(folder), before) << unknown.output;
    set(folder, "min_units_per_group = 2", "min_units_per_group = 1000000");
    const auto refused = run_program(certify(folder));
    EXPECT_EQ(refused.exit_code, 1) << refused.output;
    EXPECT_NE(refused.output.find("REFUSED: "), std::string::npos) << refused.output;
    EXPECT_NE(refused.output.find("no new epoch was opened"), std::string::npos) << refused.output;
    EXPECT_EQ(ledger(folder), before) << refused.output;
}

TEST_F(Epoch, ANewOneReadsRecordsThatNoRunOfAnEarlierOneHasReadAndAllOfThose) {
    const auto folder = copy("opens");
    const auto before = ledger(folder);
    const auto ran = run_program(certify(folder));
    ASSERT_LE(ran.exit_code, 1) << ran.output;
    const auto after = ledger(folder);
    ASSERT_EQ(after.size(), before.size() + 3) << ran.output;
    const auto epoch = body<EpochOpened>(after[before.size()]);
    EXPECT_EQ(epoch.epoch, 2u);
    EXPECT_EQ(epoch.reserve, 0.01);
    const auto charge = body<Registration>(after[before.size() + 1]);
    EXPECT_EQ(charge.run, 1u);
    EXPECT_EQ(charge.delta, certification::delta_of_run(epoch, 0, 0));

    const auto registry = open(folder);
    const auto key =
        base::VerifyingKey::from_pem(read(folder / "certificates" / "gate.pub.pem")).value();
    const auto plan_of = [&](const std::string& entry) {
        const auto id = base::Digest::from_hex(body<Closing>(entry).certificate).value();
        return certification::read_certificate(registry->certificate_file(id).value(), key)->plan;
    };
    base::TimePoint last_read;
    for (const auto& entry : before) {
        if (std::holds_alternative<Closing>(certification::decode_ledger_entry(entry)->body)) {
            last_read = std::max(last_read, plan_of(entry).identity.period_to);
        }
    }
    const auto plan = plan_of(after.back());
    EXPECT_GT(plan.identity.period_from, last_read);
    EXPECT_LT(plan.identity.period_from, last_read + base::Duration::days(3)) << "none is left out";
    // records that it has read are not read again
    const auto again = run_program(certify(folder));
    EXPECT_EQ(again.exit_code, 1) << again.output;
    EXPECT_NE(again.output.find("REFUSED: "), std::string::npos) << again.output;
    EXPECT_EQ(ledger(folder), after) << again.output;
}

bool has_ended(pid_t child) {
    siginfo_t info{};
    return ::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
           info.si_pid != 0;
}

TEST_F(Epoch, KilledAtAnyMomentThereIsNoEpochWithoutItsChargeAndTheRunIsFinished) {
    const auto undisturbed = copy("undisturbed");
    const size_t before = ledger(undisturbed).size();
    const auto start = std::chrono::steady_clock::now();
    ASSERT_LE(run_program(certify(undisturbed)).exit_code, 1);
    const auto whole = std::chrono::steady_clock::now() - start;
    const auto expected = ledger(undisturbed);
    constexpr int kKills = 5;  // the last two as soon as the ledger has grown
    for (int i = 1; i <= kKills; ++i) {
        const auto folder = copy("killed");
        const pid_t child = ::fork();
        if (child == 0) {
            ::execl("/bin/sh", "sh", "-c", ("exec " + certify(folder) + " >/dev/null 2>&1").c_str(),
                    nullptr);
            ::_exit(127);
        }
        if (i <= 3) {
            std::this_thread::sleep_for(whole * i / 4);
        } else {
            while (!has_grown(folder, before) && !has_ended(child)) {
            }
        }
        ::kill(child, SIGKILL);  // no other process has its id: there is no wait for it yet
        ::waitpid(child, nullptr, 0);
        const auto left = ledger(folder).size() - before;
        std::printf("    %zu entries written when killed\n", left);
        EXPECT_NE(left, 1u) << "an epoch without its charge";
        // the next command first finishes the unfinished run; its own run then finds no record left
        ASSERT_LE(run_program(certify(folder)).exit_code, 1);
        EXPECT_EQ(ledger(folder), expected) << "kill " << i;
    }
}

TEST_F(Epoch, KeepsTheSpendingThatItWasOpenedWithAndSaysSo) {
    const auto folder = copy("spending");
    set(folder, "[gate]", "[gate]\nspending = \"equal\"");
    const auto before = ledger(folder).size();
    ASSERT_LE(run_program(certify(folder)).exit_code, 1);
    ASSERT_EQ(ledger(folder).size(), before + 3);
    EXPECT_DOUBLE_EQ(body<Registration>(ledger(folder)[before + 1]).delta, 0.09 / 12);
    set(folder, "spending = \"equal\"\n", "");
    const auto ran = run_program(fmt::format("{} certify --config {} --model {}", kRampart,
                                             config(folder).string(), candidate_));
    EXPECT_NE(ran.output.find("epoch 2 keeps the spending that it was opened with, equal, which "
                              "proves its budget up to the first certificate only"),
              std::string::npos)
        << ran.output;
    EXPECT_EQ(ran.output.find("the configuration says"), std::string::npos) << ran.output;
}

}  // namespace
}  // namespace rampart

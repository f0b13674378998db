// The development set of many generated decisions, read whole and as a sample, and the vault: rows
// a second, and the memory of the process. RAMPART_DEVELOPMENT_DECISIONS=1000000 reads a million
// (label long).
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "rampart/joiner/outcome_joiner.hpp"
#include "rampart/storage/memory_budget.hpp"
#include "rampart/training_set/training_set_builder.hpp"
#include "support/generated_loans.hpp"

namespace rampart::training_set {
namespace {

namespace fs = std::filesystem;
using support::day;

constexpr int64_t kDays = support::kGeneratedDays;
constexpr uint64_t kCache = 256u << 20;

/// Returns a figure of the process in MiB, such as "VmRSS" and "VmHWM".
double mebibytes(const std::string& name) {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);)
        if (line.starts_with(name + ":")) return std::atof(line.c_str() + name.size() + 1) / 1024;
    return 0;
}

void forget_peak() { std::ofstream("/proc/self/clear_refs") << "5"; }

struct Reading {
    DevelopmentSet set;
    double peak = 0;  // MiB above what the process had before
};

class DevelopmentSize : public testing::Test {
  protected:
    DevelopmentSize() {
        const char* asked = std::getenv("RAMPART_DEVELOPMENT_DECISIONS");
        decisions_ = asked != nullptr ? std::atoll(asked) : 20'000;
        folder_ = fs::path(testing::TempDir()) / fmt::format("development_size_{}", ::getpid());
        fs::remove_all(folder_);
        auto catalog =
            protected_attributes::AttributeCatalog::create({{"sex", {"female", "male"}}}, true);
        store_ =
            protected_attributes::ProtectedStore::open(folder_ / "attributes", *catalog).value();
        log_ = std::make_unique<support::GeneratedLog>(decisions_);
        EXPECT_TRUE(support::know_persons(*store_, *log_, decisions_));
        joiner::JoinerOptions options{.product = product_};
        options.memory = storage::MemoryBudget::create(kCache).value();
        joiner_ = joiner::OutcomeJoiner::open(folder_ / "joins", std::move(options), *log_).value();
        while (joiner_->poll(4000)->records > 0) continue;
        EXPECT_TRUE(joiner_->advance(day(kDays + 200)));
    }
    ~DevelopmentSize() override {
        joiner_.reset();
        store_.reset();
        fs::remove_all(folder_);
    }
    TrainingSetBuilder builder() const {
        return TrainingSetBuilder::create(*joiner_, product_, support::generated_schema(), *store_,
                                          "a salt of sixteen bytes or more")
            .value();
    }
    /// Visits the vault, then reads it; returns the MiB that the visit needed at most.
    double read_vault() const {
        using Seconds = std::chrono::duration<double>;
        const auto build = builder();
        forget_peak();
        const double before = mebibytes("VmRSS");
        const auto start = std::chrono::steady_clock::now();
        size_t visited = 0;
        EXPECT_TRUE(build.visit_vault(day(kDays + 200), [&](auto, auto) { ++visited; }));
        const Seconds visit = std::chrono::steady_clock::now() - start;
        const double visit_peak = mebibytes("VmHWM") - before;
        const auto vault = build.vault_rows(day(kDays + 200)).value();
        const Seconds read = std::chrono::steady_clock::now() - start - visit;
        EXPECT_EQ(vault.rows.size(), visited);
        EXPECT_EQ(vault.known, visited) << "all have matured";
        std::printf(
            "    vault: %zu rows of %lld decisions visited in %.1f s (%.0f decisions/s; %.0f MiB "
            "at "
            "most), read in %.1f s (%.0f decisions/s)\n",
            visited, static_cast<long long>(decisions_), visit.count(),
            static_cast<double>(decisions_) / visit.count(), visit_peak, read.count(),
            static_cast<double>(decisions_) / read.count());
        return visit_peak;
    }
    Reading read(const DevelopmentRequest& request) const {
        const auto builder = this->builder();
        forget_peak();
        const double before = mebibytes("VmRSS");
        const auto start = std::chrono::steady_clock::now();
        Reading out{builder.development_sample(day(kDays + 200), request).value(), 0};
        const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
        out.peak = mebibytes("VmHWM") - before;
        const auto& extent = out.set.extent;
        std::printf(
            "    %zu of %zu rows of %lld decisions in %.1f s: %.0f rows of the side/s, %.0f "
            "decisions/s; %.0f MiB at most, %.0f bytes a row\n",
            extent.read, extent.there, static_cast<long long>(decisions_), took.count(),
            static_cast<double>(extent.there) / took.count(),
            static_cast<double>(decisions_) / took.count(), out.peak,
            out.peak * (1 << 20) / static_cast<double>(extent.read));
        return out;
    }

    const domain::Product product_ = support::generated_product();
    int64_t decisions_ = 0;
    fs::path folder_;
    std::unique_ptr<protected_attributes::ProtectedStore> store_;
    std::unique_ptr<support::GeneratedLog> log_;
    std::unique_ptr<joiner::OutcomeJoiner> joiner_;
};

/// A window and a sample need the memory of what they give, and not of what there is.
TEST_F(DevelopmentSize, ASampleNeedsTheMemoryOfItsRows) {
    read({.from = day(kDays - 10)});  // fills the caches
    const size_t few = static_cast<size_t>(decisions_) / 20;
    const auto sample = read({.max_rows = few});
    EXPECT_LE(sample.set.rows.size(), few);
    EXPECT_GT(sample.set.rows.size(), few - 10);
    const auto window = read({.from = day(kDays / 10 * 9)});
    const auto whole = read({});
    EXPECT_EQ(whole.set.rows.size(), sample.set.extent.there);
    EXPECT_NEAR(static_cast<double>(whole.set.rows.size()), 0.6 * static_cast<double>(decisions_),
                0.02 * static_cast<double>(decisions_));
    const double visit = read_vault();
    if (decisions_ < 1'000'000) return;  // the caches' share of the peak is too large
    EXPECT_LT(visit, 0.1 * whole.peak);
    EXPECT_LT(sample.peak, 0.35 * whole.peak);
    EXPECT_LT(window.peak, 0.35 * whole.peak);
}

}  // namespace
}  // namespace rampart::training_set

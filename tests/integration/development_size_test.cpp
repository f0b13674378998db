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
#include "support/loan_makers.hpp"

namespace rampart::training_set {
namespace {

namespace fs = std::filesystem;
using support::day;

constexpr int kFeatures = 10;
constexpr int64_t kDays = 600;  // in which the decisions are made
constexpr uint64_t kCache = 256u << 20;

std::string feature(int j) { return fmt::format("feature_{}", j); }

dataset::FeatureSchema schema() {
    std::vector<dataset::FeatureSpec> specs;
    for (int j = 0; j < kFeatures; ++j)
        specs.push_back({feature(j), dataset::FeatureKind::kNumeric, {}});
    return dataset::FeatureSchema::create(specs).value();
}

/// A log of one partition whose records are made when they are read: two decisions a person, and
/// two outcomes for each that was approved.
class GeneratedLog final : public streaming::Reader {
  public:
    explicit GeneratedLog(int64_t decisions) : decisions_(decisions) {}
    base::Result<int32_t> partitions(std::string_view) const override { return 1; }
    base::Result<std::string> identity(std::string_view topic) const override {
        return std::string(topic);
    }
    base::Result<std::vector<streaming::StoredRecord>> read(std::string_view topic,
                                                            streaming::PartitionId partition,
                                                            streaming::Offset from,
                                                            size_t limit) const override {
        RAMPART_TRY(const auto end, end_offset(topic, partition));
        std::vector<streaming::StoredRecord> records;
        for (int64_t i = from.value(); i < end.value() && records.size() < limit; ++i)
            records.push_back(
                {partition, streaming::Offset(i), topic == "decisions" ? decision(i) : outcome(i)});
        return records;
    }
    base::Result<streaming::Offset> begin_offset(std::string_view,
                                                 streaming::PartitionId) const override {
        return streaming::Offset(0);
    }
    base::Result<streaming::Offset> end_offset(std::string_view,
                                               streaming::PartitionId) const override {
        return streaming::Offset(decisions_);  // every other decision has two outcomes
    }

  private:
    base::TimePoint time_of(int64_t i) const {
        return day(0) + base::Duration::micros(i * (kDays * 86'400'000'000 / decisions_));
    }
    streaming::Record decision(int64_t i) const {
        auto made = support::make_decision(fmt::format("{:016x}", i), time_of(i), i % 2 == 0);
        made.application.person =
            domain::PersonId(fmt::format("person-{:012}", i % (decisions_ / 2)));
        for (int j = 0; j < kFeatures; ++j)
            made.application.features.push_back(
                {feature(j), static_cast<double>((i * 31 + j) % 97)});
        made.draw_window = {"loan", 30, domain::window_number(made.decided_at, 30, {})};
        return support::to_record(made);
    }
    streaming::Record outcome(int64_t i) const {
        const int64_t of = i / 2 * 2;
        const bool label = i % 2 == 0;
        return support::to_record(support::make_outcome(
            fmt::format("{:016x}", of), label ? "repaid" : "score", 0,
            static_cast<double>(of / 2 % 2), time_of(of) + base::Duration::days(30)));
    }

    int64_t decisions_;
};

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
        know_persons();
        log_ = std::make_unique<GeneratedLog>(decisions_);
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
    void know_persons() {
        std::vector<protected_attributes::ProtectedAttributes> people;
        for (int64_t i = 0; i < decisions_ / 2; ++i) {
            people.push_back({domain::PersonId(fmt::format("person-{:012}", i)),
                              day(0),
                              {{"sex", i % 2 == 0 ? "female" : "male"}}});
            if (people.size() < 5000 && i + 1 < decisions_ / 2) continue;
            EXPECT_TRUE(store_->put(people, day(0)));
            people.clear();
        }
    }
    TrainingSetBuilder builder() const {
        return TrainingSetBuilder::create(*joiner_, product_, schema(), *store_,
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

    const domain::Product product_ = [] {
        auto of = support::two_measure_product();
        of.impact.measure = "score";
        return of;
    }();
    int64_t decisions_ = 0;
    fs::path folder_;
    std::unique_ptr<protected_attributes::ProtectedStore> store_;
    std::unique_ptr<GeneratedLog> log_;
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

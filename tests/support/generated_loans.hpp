#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "rampart/dataset/feature_schema.hpp"
#include "rampart/protected_attributes/store.hpp"
#include "rampart/streaming/reader.hpp"
#include "support/loan_makers.hpp"

/// Many decisions with outcomes, each a function of its number: for figures at size.
namespace rampart::support {

inline constexpr int kGeneratedFeatures = 10;
inline constexpr int64_t kGeneratedDays = 600;  // in which the decisions are made

inline std::string generated_feature(int j) { return fmt::format("feature_{}", j); }

inline dataset::FeatureSchema generated_schema() {
    std::vector<dataset::FeatureSpec> specs;
    for (int j = 0; j < kGeneratedFeatures; ++j)
        specs.push_back({generated_feature(j), dataset::FeatureKind::kNumeric, {}});
    return dataset::FeatureSchema::create(specs).value();
}

inline domain::Product generated_product() {
    auto product = two_measure_product();
    product.impact.measure = "score";
    return product;
}

/// A log of one partition whose records are made when they are read: two decisions a person, and
/// two outcomes for each that was approved. Ids of decisions are digests, as in life.
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
    std::string person(int64_t i) const {
        return fmt::format("person-{:012}", i % (decisions_ / 2));
    }

  private:
    static std::string application(int64_t i) { return fmt::format("a-{:016x}", i); }
    base::TimePoint time_of(int64_t i) const {
        return day(0) + base::Duration::micros(i * (kGeneratedDays * 86'400'000'000 / decisions_));
    }
    streaming::Record decision(int64_t i) const {
        auto made = make_decision(fmt::format("{:016x}", i), time_of(i), i % 2 == 0);
        made.id = domain::decision_id_of(made.application.id);
        made.application.person = domain::PersonId(person(i));
        for (int j = 0; j < kGeneratedFeatures; ++j)
            made.application.features.push_back(
                {generated_feature(j), static_cast<double>((i * 31 + j) % 97)});
        made.draw_window = {"loan", 30, domain::window_number(made.decided_at, 30, {})};
        return to_record(made);
    }
    streaming::Record outcome(int64_t i) const {
        const int64_t of = i / 2 * 2;
        const bool label = i % 2 == 0;
        auto made = make_outcome("", label ? "repaid" : "score", 0, static_cast<double>(of / 2 % 2),
                                 time_of(of) + base::Duration::days(30));
        made.decision = domain::decision_id_of(domain::ApplicationId(application(of)));
        return to_record(made);
    }

    int64_t decisions_;
};

/// Puts the sex of each person of the log into the store.
inline base::Status know_persons(protected_attributes::ProtectedStore& store,
                                 const GeneratedLog& log, int64_t decisions) {
    constexpr size_t kAtOnce = 5000;
    std::vector<protected_attributes::ProtectedAttributes> people;
    for (int64_t i = 0; i < decisions / 2; ++i) {
        people.push_back(
            {domain::PersonId(log.person(i)), day(0), {{"sex", i % 2 == 0 ? "female" : "male"}}});
        if (people.size() < kAtOnce && i + 1 < decisions / 2) continue;
        RAMPART_RETURN_IF_ERROR(store.put(people, day(0)));
        people.clear();
    }
    return base::ok();
}

}  // namespace rampart::support

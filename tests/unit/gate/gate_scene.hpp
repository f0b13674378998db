#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>

#include "rampart/gate/gate.hpp"
#include "support/loan_makers.hpp"
#include "unit/training/development_set.hpp"

namespace rampart::gate {

inline base::TimePoint at(int64_t micros) { return base::TimePoint::from_micros(micros); }

/// Records in memory: the vault's rows by event time, all of them known as soon as decided.
class MemoryRecords final : public RecordSource {
  public:
    explicit MemoryRecords(const training_set::DevelopmentSet& set) {
        rows_.schema = set.schema;
        rows_.rows = set.rows;
        rows_.features = set.features;
        rows_.group_names = set.group_names;
        rows_.cell_names = set.cell_names;
        for (auto& row : rows_.rows) {
            row.decision = domain::DecisionId("v-" + row.decision.value());
            row.person = domain::PersonId("v-" + row.person.value());
        }
    }
    base::Result<training_set::VaultSet> vault_rows(
        base::TimePoint t, std::optional<base::TimePoint> from) const override {
        if (whole_is_refused && !from) return base::Error{*whole_is_refused, "refused", "all rows"};
        auto out = rows_;
        out.as_known_at = t;
        while (!out.rows.empty() && out.rows.back().event_time > t) out.rows.pop_back();
        out.known = out.rows.size() + out.omitted.size() + out.set_aside.size();
        out.unreadable = unreadable;
        out.features.resize(out.rows.size() * out.schema.size());
        return from ? training::decided_since(out, *from, training_set::Omission::kTooOld) : out;
    }
    /// Makes the impact of the n-th granted record one that the product does not allow.
    void damage_impact(size_t n) {
        for (auto& row : rows_.rows) {
            if (row.impact && n-- == 0) row.impact = 1e6;
        }
    }
    /// Reports of the n-th granted record that repaid that it did not, after all.
    void correct_outcome(size_t n, const domain::Product& product) {
        for (auto& row : rows_.rows) {
            if (!row.impact || row.label != 1.0 || n-- != 0) continue;
            row.label = 0;
            row.impact = product.impact.unfavourable;
        }
    }
    /// Makes the last record one of the person of the first.
    void return_last() {
        rows_.rows.back().person = rows_.rows.front().person;
        training_set::number_records(rows_.rows);
    }
    /// Lets rules alone decide the records of [from, to): none by chance.
    void decide_by_rules(int64_t from, int64_t to) {
        for (size_t i = 0; i < rows_.rows.size(); ++i) {
            auto& row = rows_.rows[i];
            if (row.event_time < at(from) || row.event_time >= at(to)) continue;
            row.policy = domain::PolicyId("rules");
            row.p_approve = 0;
            row.approved = false;
            row.label = row.impact = std::nullopt;
        }
    }
    /// Leaves the records of [from, to) out, as training_set does with a stopped period.
    void stop(int64_t from, int64_t to) {
        take_out(from, to, [](const auto& row, auto& set) {
            set.omitted.push_back({row.event_time, training_set::Omission::kStopped, row.groups});
        });
    }
    /// The same as training_set does with those of another schema file.
    void set_aside(int64_t from, int64_t to) {
        take_out(from, to, [](const auto& row, auto& set) {
            set.set_aside.push_back(
                {row.person, row.decision, row.event_time, row.decided_at, row.groups, false});
        });
        training_set::number_records(rows_.rows, rows_.set_aside);
    }
    base::Status visit_vault(
        base::TimePoint t,
        const training_set::TrainingSetBuilder::VaultVisitor& visit) const override {
        if (visit_is_refused) return base::Error{*visit_is_refused, "refused", "the visit"};
        for (const auto& row : rows_.rows)
            if (row.event_time <= t) visit(row.person.value(), row.event_time);
        return base::ok();
    }
    base::Result<training_set::ApplicantSet> applicants(base::TimePoint,
                                                        base::TimePoint) const override {
        return training_set::ApplicantSet{rows_.schema, {}, {}};
    }
    base::Result<std::vector<privacy::ErasedRecords>> erased() const override { return tally; }

    std::vector<privacy::ErasedRecords> tally;
    size_t unreadable = 0;  // decisions in quarantine
    std::optional<base::ErrorCode>
        whole_is_refused;  // with this code, where no window is asked for
    std::optional<base::ErrorCode> visit_is_refused;

  private:
    template <class Leave>
    void take_out(int64_t from, int64_t to, const Leave& leave) {
        training_set::VaultSet kept = rows_;
        kept.rows.clear();
        kept.features.clear();
        for (size_t i = 0; i < rows_.rows.size(); ++i) {
            const auto& row = rows_.rows[i];
            if (row.event_time >= at(from) && row.event_time < at(to)) {
                leave(row, kept);
                continue;
            }
            const auto features = rows_.features_of(i);
            kept.rows.push_back(row);
            kept.features.insert(kept.features.end(), features.begin(), features.end());
        }
        rows_ = std::move(kept);
    }
    training_set::VaultSet rows_;
};

/// A store in memory in which the process can be made to end at a write.
class MemoryStore final : public GateStore {
  public:
    base::Result<std::vector<std::string>> ledger_entries() const override { return ledger; }
    base::Status append_ledger_entries(uint64_t position, std::span<const std::string> added,
                                       base::TimePoint) override {
        return write([&]() -> base::Status {
            for (size_t i = 0; i < added.size(); ++i) {
                if (position + i < ledger.size() && ledger[position + i] == added[i]) continue;
                if (position + i != ledger.size())
                    return base::Error{base::ErrorCode::kFailedPrecondition, "ledger_moved_on",
                                       fmt::format("entry {}", position + i)};
                ledger.push_back(added[i]);
            }
            return base::ok();
        });
    }
    base::Result<base::Digest> store_certificate(const certification::SealedCertificate& files,
                                                 base::TimePoint) override {
        const auto id = base::sha256(files.certificate);
        RAMPART_RETURN_IF_ERROR(write([&] {
            certificates[id.hex()] = files;
            return base::ok();
        }));
        return id;
    }
    base::Result<std::vector<base::Digest>> certificate_ids(std::string_view,
                                                            std::string_view) const override {
        std::vector<base::Digest> ids;
        for (const auto& [id, files] : certificates)
            ids.push_back(base::Digest::from_hex(id).value());
        return ids;
    }
    base::Result<std::string> certificate_file(const base::Digest& id) const override {
        return certificates.at(id.hex()).certificate;
    }
    base::Result<std::string> evidence_file(const base::Digest& id) const override {
        return certificates.at(id.hex()).evidence;
    }
    base::Result<model::LoadedPolicy> load_model(const domain::PolicyId& id) const override {
        return models.at(id.value());
    }
    base::Result<std::optional<base::TimePoint>> exported_as_known_at() const override {
        return exported;
    }
    base::Result<std::optional<base::TimePoint>> figures_read_at(
        const std::optional<base::Digest>& before) const override {
        for (size_t i = 0; before && i < figures_read_with; ++i)
            if (base::sha256(ledger[i]) == *before) return std::optional<base::TimePoint>();
        return figures_read;
    }

    std::optional<base::TimePoint> exported, figures_read;
    size_t figures_read_with = 0;  // entries that the ledger had then
    std::vector<std::string> ledger;
    std::map<std::string, certification::SealedCertificate> certificates;
    std::map<std::string, model::LoadedPolicy> models;
    int writes_left = 1'000'000;  // the process ends in the write after them
    bool ends_after_writing = false;

  private:
    template <class Change>
    base::Status write(const Change& change) {
        const bool ends = writes_left-- <= 0;
        if (!ends || ends_after_writing) RAMPART_RETURN_IF_ERROR(change());
        if (ends)
            return base::Error{base::ErrorCode::kUnavailable, "crash", "the process ends here"};
        return base::ok();
    }
};

/// A reference that approves half of all; candidates that approve more of those who repay
/// ("better"), more of the others ("worse"), or stray too far ("far").
class GateScene : public testing::Test {
  protected:
    GateScene() {
        settings.config.impact_lo = product.impact.lo;
        settings.config.impact_hi = product.impact.hi;
        settings.config.declined_impact = product.impact.declined;
        settings.config.impact_units = product.impact.units;
        settings.config.runs_per_epoch = 2;
        settings.config.min_units = 100;
        add("reference", 0.5, 0.5);
        add("better", 0.26, 0.74);
        add("worse", 0.74, 0.26);
        add("far", 0.0, 1.0);
    }
    void add(const std::string& id, double low, double high) {
        const model::BootstrapLink link{"x0", {{-1.5, low}, {0.5, high}}, 0.5};
        auto policy = model::Policy::create(development.schema, {link}, {}, {}).value();
        store.models.insert({id, model::LoadedPolicy{std::move(policy), domain::PolicyId(id)}});
    }

    std::unique_ptr<Gate> gate() {
        auto made = Gate::create(
            settings, {product, records, store, key, "a secret of 16 bytes", nullptr, {}});
        EXPECT_TRUE(made) << made.error().message;
        return std::move(*made);
    }
    Submission submission(const std::string& candidate, int64_t t) const {
        return {store.models.at(candidate), store.models.at("reference"), development, at(t)};
    }
    Answer test(const Submission& run) {
        auto answer = gate()->test(run);
        EXPECT_TRUE(answer) << answer.error().message;
        return answer ? *answer : Answer{};
    }
    certification::DeltaLedger ledger() const {
        return certification::DeltaLedger::open(store.ledger).value();
    }
    certification::Certificate certificate(const Answer& answer) const {
        const auto& file = store.certificates.at(answer.certificate).certificate;
        return certification::read_certificate(file, key.public_key()).value();
    }

    const domain::Product product = support::two_measure_product();
    const training_set::DevelopmentSet development = training::test::development_set();
    MemoryRecords records{development};
    MemoryStore store;
    const base::SigningKey key = base::SigningKey::generate();
    GateSettings settings;
};

}  // namespace rampart::gate

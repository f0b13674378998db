#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "rampart/base/clock.hpp"
#include "rampart/base/digest.hpp"
#include "rampart/certification/verdict.hpp"
#include "rampart/storage/database.hpp"

namespace rampart::retraining {

/// Training run and its verdict. Modellers may see it: no number of the vault is in it.
struct RunRecord {
    uint32_t ordinal = 0;              // 1, 2, …
    base::TimePoint at;                // event time; the run used what was known then
    std::string candidate, reference;  // policy ids; candidate empty: none could be made
    certification::Verdict verdict = certification::Verdict::kRefused;
    std::string reason,
        message;  // for REFUSED and IDENTICAL; message also: limits of the epoch's budget
    std::string certificate;  // public name; empty: none
    std::map<std::string, std::string>
        figures;           // figures of the training, from the development set
    uint64_t matured = 0;  // labelled decisions when it ran
};

/// Run that has begun. After a crash it is finished under the same number, time and reference.
struct StartedRun {
    uint32_t ordinal = 0;
    base::TimePoint at;
    std::string reference{};
    std::string candidate{};    // the model under test; empty until it is registered
    bool on_request = false;    // run of a named candidate, outside the schedule
    bool distilled = false;     // the trainer made the candidate by distillation
    uint32_t opens_epoch = 0;   // the epoch of the error budget that this run opens; 0: none
    std::string epoch_note{};   // reason for it
    std::string proposed_by{};  // a person, or "schedule"; empty: not named
    std::map<std::string, std::string> figures{};  // figures of the training
    uint64_t matured = 0;
};

/// Stored state of the trainer: runs, the run under way with its searches, and the time until which
/// the schedule is served. Every change is one synced write. Not thread safe.
class RunStore {
  public:
    static base::Result<RunStore> open(const std::filesystem::path& folder, bool read_only = false);

    base::Result<std::vector<RunRecord>> runs() const;
    base::Result<std::optional<RunRecord>> last_run() const;
    base::Result<std::optional<StartedRun>> started() const;
    /// Returns the time until which all due runs are done; nullopt: the schedule never began.
    base::Result<std::optional<base::TimePoint>> served_until() const;

    base::Status start(const StartedRun& run);
    /// Keeps the record and removes the started run; a run of the schedule also moves served_until
    /// forward.
    base::Status finish(const RunRecord& run, bool of_schedule);
    /// What is kept of a search of the run under way, by its digest; empty: nothing. finish()
    /// removes all of it.
    base::Result<std::string> trials(const base::Digest& search) const;
    base::Status keep_trials(const base::Digest& search, const std::string& trials);
    /// Moves served_until forward, never back.
    base::Status serve_until(base::TimePoint time);

  private:
    base::Status put_served_until(storage::WriteBatch& batch, base::TimePoint time) const;
    explicit RunStore(std::unique_ptr<storage::Database> database)
        : database_(std::move(database)) {}
    std::unique_ptr<storage::Database> database_;
};

std::string encode(const RunRecord& run);  // one JSON document
base::Result<RunRecord> decode_run_record(std::string_view bytes);

}  // namespace rampart::retraining

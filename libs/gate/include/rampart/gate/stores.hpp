#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rampart/base/clock.hpp"
#include "rampart/base/digest.hpp"
#include "rampart/base/result.hpp"
#include "rampart/base/signing.hpp"
#include "rampart/certification/certificate_file.hpp"
#include "rampart/domain/ids.hpp"
#include "rampart/model/model_file.hpp"
#include "rampart/privacy/register.hpp"
#include "rampart/training_set/training_set_builder.hpp"

namespace rampart::gate {

/// Where the gate keeps its ledger and its certificates, and finds earlier policies. A change is
/// durable when the call returns, and the same change again does no harm.
class GateStore {
  public:
    virtual ~GateStore() = default;

    virtual base::Result<std::vector<std::string>> ledger_entries() const = 0;  // in order
    /// Appends the entries from `position` on: all of them or, after a crash, none. Errors:
    /// failed_precondition where other bytes are there already, or there is a gap.
    virtual base::Status append_ledger_entries(uint64_t position,
                                               std::span<const std::string> added,
                                               base::TimePoint at) = 0;

    /// Keeps certificate and evidence; returns the certificate's id, the SHA-256 of its bytes.
    virtual base::Result<base::Digest> store_certificate(
        const certification::SealedCertificate& files, base::TimePoint at) = 0;
    /// Ids of the certificates about a candidate against a reference, in any order. A store that
    /// does not know what its certificates are about returns all.
    virtual base::Result<std::vector<base::Digest>> certificate_ids(
        std::string_view candidate, std::string_view reference) const = 0;
    virtual base::Result<std::string> certificate_file(const base::Digest& id) const = 0;
    /// Returns the key that a certificate of the store is signed with: `current`, or one that the
    /// store knows to have been in use before.
    virtual base::VerifyingKey signer_of([[maybe_unused]] std::string_view certificate,
                                         const base::VerifyingKey& current) const {
        return current;
    }
    /// The evidence that the certificate was stored with; `id` is the certificate's.
    virtual base::Result<std::string> evidence_file(const base::Digest& id) const = 0;

    virtual base::Result<model::LoadedPolicy> load_model(const domain::PolicyId& id) const = 0;

    /// The latest time as known at which the vault was exported with its outcomes; nullopt: never.
    /// A reader of such a log may have made the next candidate, so that its records count as read.
    virtual base::Result<std::optional<base::TimePoint>> exported_as_known_at() const = 0;

    /// The latest time at which figures of certificates or the ledger were read; nullopt: never.
    /// What a person proposes after it is tested on records that were not known then. `before`: the
    /// digest of an entry of the ledger; later readings do not count. nullopt: all do.
    virtual base::Result<std::optional<base::TimePoint>> figures_read_at(
        const std::optional<base::Digest>& before) const = 0;
};

/// Where the gate reads the records that it tests on.
class RecordSource {
  public:
    virtual ~RecordSource() = default;

    /// The vault as known at `t`; with `from` without decisions about earlier applications, which
    /// are counted as too old: TrainingSetBuilder::vault_rows.
    virtual base::Result<training_set::VaultSet> vault_rows(
        base::TimePoint t, std::optional<base::TimePoint> from) const = 0;
    /// Visits person and event time of the rows that vault_rows(t, nullopt) returns, in their
    /// order, without holding them all: TrainingSetBuilder::visit_vault.
    virtual base::Status visit_vault(
        base::TimePoint t, const training_set::TrainingSetBuilder::VaultVisitor& visit) const = 0;
    /// All applicants with event time in [from, to): TrainingSetBuilder::applicants.
    virtual base::Result<training_set::ApplicantSet> applicants(base::TimePoint from,
                                                                base::TimePoint to) const = 0;
    /// The tally of what was erased of both sides: privacy::Register::erased.
    virtual base::Result<std::vector<privacy::ErasedRecords>> erased() const = 0;
};

}  // namespace rampart::gate

#pragma once

#include <filesystem>
#include <memory>

#include "rampart/gate/stores.hpp"

namespace rampart::gate_log {

/// A gate's ledger in a file, one entry a line, with the certificates in the folder
/// FILE.certificates beside it; or both in memory, for one command.
///
/// A half-written last line, which a crash left, was never acknowledged and is dropped. Not thread
/// safe; other processes are kept out while it is open.
class FileStore final : public gate::GateStore {
  public:
    /// Opens or creates the ledger; without a path all is in memory. Errors: failed_precondition
    /// "ledger_in_use"; invalid_argument "not_a_ledger", which changes no byte of the file; those
    /// of the file system, which name the path.
    static base::Result<std::unique_ptr<FileStore>> open(const std::filesystem::path& ledger);
    ~FileStore() override;

    base::Result<std::vector<std::string>> ledger_entries() const override { return entries_; }
    base::Status append_ledger_entries(uint64_t position, std::span<const std::string> added,
                                       base::TimePoint at) override;
    base::Result<base::Digest> store_certificate(const certification::SealedCertificate& files,
                                                 base::TimePoint at) override;
    /// All: the files are read to know what they are about.
    base::Result<std::vector<base::Digest>> certificate_ids(
        std::string_view candidate, std::string_view reference) const override;
    base::Result<std::string> certificate_file(const base::Digest& id) const override;
    base::Result<std::string> evidence_file(const base::Digest& id) const override;
    /// Fails always: a log has no models.
    base::Result<model::LoadedPolicy> load_model(const domain::PolicyId& id) const override;

    /// Never: a log in a file is read by its owner.
    base::Result<std::optional<base::TimePoint>> exported_as_known_at() const override {
        return std::optional<base::TimePoint>();
    }
    /// Never: as exports.
    base::Result<std::optional<base::TimePoint>> figures_read_at(
        const std::optional<base::Digest>&) const override {
        return std::optional<base::TimePoint>();
    }

    /// The certificate that was stored last, with its evidence.
    const certification::SealedCertificate& last() const { return last_; }

  private:
    explicit FileStore(std::filesystem::path ledger);
    base::Status read();
    std::filesystem::path certificate_path(const base::Digest& id, std::string_view ending) const;
    const std::filesystem::path path_;  // empty: in memory
    int file_ = -1;
    std::vector<std::string> entries_;
    certification::SealedCertificate last_;
};

}  // namespace rampart::gate_log

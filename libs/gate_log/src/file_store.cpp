#include "rampart/gate_log/file_store.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "rampart/base/file.hpp"
#include "rampart/base/limits.hpp"
#include "rampart/certification/reasons.hpp"
#include "rampart/gate_log/reasons.hpp"

namespace rampart::gate_log {
namespace {

using base::Result;
using base::Status;
namespace fs = std::filesystem;

constexpr size_t kMaxLedgerBytes = 64u << 20, kMaxEvidenceBytes = size_t{4} << 30;

base::Error failure(const fs::path& path, std::string_view what) {
    return base::make_error(Reason::kLedgerUnavailable, "{} '{}': {}", what, path.string(),
                            std::generic_category().message(errno));
}

constexpr std::string_view kFirstBytes = "{\"sequence\":0,";

/// Makes the file's entry in its folder durable.
bool sync_folder(const fs::path& path) {
    const auto folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
    const int opened = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (opened < 0) return false;
    const bool done = ::fsync(opened) == 0;
    ::close(opened);
    return done;
}

/// Writes all bytes at the end of the file and makes them durable.
bool append_durably(int file, std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t written = ::write(file, bytes.data(), bytes.size());
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return false;
        bytes.remove_prefix(static_cast<size_t>(written));
    }
    return ::fsync(file) == 0;
}

}  // namespace

FileStore::FileStore(fs::path ledger) : path_(std::move(ledger)) {}

FileStore::~FileStore() {
    if (file_ >= 0) ::close(file_);
}

Result<std::unique_ptr<FileStore>> FileStore::open(const fs::path& ledger) {
    std::unique_ptr<FileStore> store(new FileStore(ledger));
    if (ledger.empty()) return store;
    store->file_ = ::open(ledger.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (store->file_ < 0) return failure(ledger, "cannot open the ledger");
    if (::flock(store->file_, LOCK_EX | LOCK_NB) != 0) {
        return base::make_error(Reason::kLedgerInUse, "another command uses the ledger '{}'",
                                ledger.string());
    }
    if (!sync_folder(ledger)) return failure(ledger, "cannot make the folder durable of");
    RAMPART_RETURN_IF_ERROR(store->read());
    return store;
}

Status FileStore::read() {
    RAMPART_TRY(const auto text, base::read_file(path_, kMaxLedgerBytes));
    size_t whole = 0;
    for (size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', whole)) {
        entries_.push_back(text.substr(whole, end - whole));
        whole = end + 1;
    }
    const bool begun = entries_.empty() && text.starts_with(kFirstBytes.substr(0, text.size()));
    const auto ledger = certification::DeltaLedger::open(entries_);
    if (!ledger || (entries_.empty() && !begun)) {
        return base::make_error(Reason::kNotALedger, "'{}' is not a ledger of `rampart gate`{}",
                                path_.string(), ledger ? "" : ": " + ledger.error().message);
    }
    if (whole < text.size() && ::ftruncate(file_, static_cast<off_t>(whole)) != 0)
        return failure(path_, "cannot drop the unfinished last line of");
    return base::ok();
}

Status FileStore::append_ledger_entries(uint64_t position, std::span<const std::string> added,
                                        base::TimePoint) {
    size_t known = 0;
    while (known < added.size() && position + known < entries_.size() &&
           entries_[position + known] == added[known])
        ++known;
    if (position + known != entries_.size()) {
        return base::make_error(certification::Reason::kBadLedgerEntry,
                                "the ledger has {} entries, and these do not follow at {}",
                                entries_.size(), position);
    }
    std::string lines;
    for (const auto& entry : added.subspan(known)) lines += entry + "\n";
    if (file_ >= 0 && !append_durably(file_, lines)) {
        return failure(path_, "cannot write the ledger");  // read() drops what was written of it
    }
    for (const auto& entry : added.subspan(known)) entries_.push_back(entry);
    return base::ok();
}

fs::path FileStore::certificate_path(const base::Digest& id, std::string_view ending) const {
    return fs::path(path_.string() + ".certificates") / (id.hex() + std::string(ending));
}

Result<base::Digest> FileStore::store_certificate(const certification::SealedCertificate& files,
                                                  base::TimePoint) {
    const auto id = base::sha256(files.certificate);
    last_ = files;
    if (file_ < 0) return id;
    const auto path = certificate_path(id, ".cert");
    std::error_code failed;
    fs::create_directories(path.parent_path(), failed);
    if (failed) {
        return base::make_error(Reason::kLedgerUnavailable, "cannot make the folder '{}': {}",
                                path.parent_path().string(), failed.message());
    }
    if (!files.evidence.empty()) {
        RAMPART_RETURN_IF_ERROR(base::write_file_atomically(certificate_path(id, ".evidence.jsonl"),
                                                            files.evidence, 0600));
    }
    RAMPART_RETURN_IF_ERROR(base::write_file_atomically(path, files.certificate, 0600));
    return id;
}

Result<std::vector<base::Digest>> FileStore::certificate_ids(std::string_view,
                                                             std::string_view) const {
    std::vector<base::Digest> ids;
    if (file_ < 0) return ids;
    std::error_code none;  // no folder: no certificate yet
    for (const auto& entry : fs::directory_iterator(path_.string() + ".certificates", none)) {
        if (entry.path().extension() != ".cert") continue;
        if (const auto id = base::Digest::from_hex(entry.path().stem().string()))
            ids.push_back(*id);
    }
    return ids;
}

Result<std::string> FileStore::certificate_file(const base::Digest& id) const {
    return base::read_file(certificate_path(id, ".cert"), base::limits::kMaxCertificateBytes);
}

Result<std::string> FileStore::evidence_file(const base::Digest& id) const {
    return base::read_file(certificate_path(id, ".evidence.jsonl"), kMaxEvidenceBytes);
}

Result<model::LoadedPolicy> FileStore::load_model(const domain::PolicyId& id) const {
    return base::make_error(Reason::kNotInALog, "policy {}: a log has no models", id);
}

}  // namespace rampart::gate_log

#include "rampart/runtime/store_start.hpp"

#include <fcntl.h>
#include <fmt/ranges.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>

#include "rampart/base/log.hpp"
#include "rampart/base/reasons.hpp"
#include "rampart/runtime/reasons.hpp"
#include "rampart/runtime/secrets.hpp"

namespace rampart::runtime {
namespace {

namespace fs = std::filesystem;
using base::Result;

constexpr base::Logger kLog("runtime");
constexpr const char* kAside = ".unmade";

}  // namespace

Result<std::unique_ptr<StoreStart>> StoreStart::begin(
    const fs::path& folder, std::vector<std::string> entries,
    const std::function<Result<bool>()>& holds_store) {
    std::error_code failure;
    const bool made = fs::create_directories(folder, failure);
    if (failure) {
        return base::make_error(Reason::kNoStore, "cannot make the store '{}': {}", folder.string(),
                                failure.message());
    }
    const int lock = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (lock < 0) {
        return base::make_error(Reason::kNoStore, "cannot open the store '{}': {}", folder.string(),
                                std::strerror(errno));
    }
    std::unique_ptr<StoreStart> start(new StoreStart(folder, lock));
    if (::flock(lock, LOCK_EX | LOCK_NB) != 0) {
        return base::make_error(base::Reason::kDatabaseInUse,
                                "another process is starting on the store '{}': {}",
                                folder.string(), std::strerror(errno));
    }
    fs::remove_all(folder / kAside, failure);  // left by a start that was killed
    RAMPART_TRY(const bool holds, holds_store());
    start->first_ = !holds;
    for (auto& entry : entries) {
        if (!fs::exists(folder / entry, failure)) start->entries_.push_back(std::move(entry));
    }
    if (made) start->folders_.push_back(folder);
    return start;
}

StoreStart::~StoreStart() {
    if (first_ && !succeeded_) take_back();
    ::close(lock_);
}

Result<std::vector<std::string>> StoreStart::secrets(const std::vector<fs::path>& files) {
    std::vector<std::string> missing;
    for (const auto& file : files) {
        std::error_code unknown;  // load_secret() reports the error
        if (!first_ && !fs::exists(file, unknown) && !unknown) missing.push_back(file.string());
    }
    if (!missing.empty()) {
        return base::make_error(
            Reason::kKeyMissing,
            "{}: missing. The store '{}' was made with {} and cannot be read with another, so "
            "none is made. Restore from your backup of the keys (ops/runbooks/backup.md)",
            fmt::join(missing, ", "), folder_.string(), missing.size() == 1 ? "it" : "them");
    }
    std::vector<std::string> secrets;
    for (const auto& file : files) {
        RAMPART_TRY(auto secret, load_or_make(file));
        secrets.push_back(std::move(secret));
    }
    ::fsync(lock_);  // the folder of the secrets must be durable before the data made with them
    return secrets;
}

Result<std::string> StoreStart::load_or_make(const fs::path& file) {
    auto known = load_secret(file);
    if (known || !known.error().is(Reason::kNoSecret)) return known;
    std::error_code unknown;
    const auto parent = file.parent_path();
    if (!fs::exists(parent, unknown)) folders_.insert(folders_.begin(), parent);
    auto made = load_or_create_secret(file);
    if (made) secrets_.push_back(file);
    return made;
}

/// Removes databases first, each atomically, then the secrets. Data that cannot be removed stay
/// together with their secrets: a store.
void StoreStart::take_back() {
    std::error_code failure;
    const auto aside = folder_ / kAside;
    for (const auto& entry : entries_) {
        if (failure || !fs::exists(folder_ / entry, failure)) continue;
        fs::create_directory(aside, failure);
        if (!failure) fs::rename(folder_ / entry, aside / entry, failure);
    }
    if (failure) {
        kLog.error("msg=\"a first start failed and cannot be taken back\" store={} what=\"{}\"",
                   folder_.string(), failure.message());
        return;
    }
    ::fsync(lock_);  // durable, so that no power cut restores a database whose secrets are removed
    for (const auto& file : secrets_) fs::remove(file, failure);
    fs::remove_all(aside, failure);
    for (const auto& folder : folders_) fs::remove(folder, failure);  // unless they are not empty
}

}  // namespace rampart::runtime

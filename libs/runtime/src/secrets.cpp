#include "rampart/runtime/secrets.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "rampart/base/digest.hpp"
#include "rampart/base/file.hpp"
#include "rampart/base/file_access.hpp"
#include "rampart/base/log.hpp"
#include "rampart/base/reasons.hpp"
#include "rampart/runtime/reasons.hpp"

namespace rampart::runtime {
namespace {

constexpr base::Logger kLog("runtime");
constexpr size_t kSecretBytes = 32;
constexpr size_t kMaxFileBytes = 1024;

base::Status check_mode(const std::filesystem::path& path) {
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0) {
        return base::make_error(Reason::kNoAccess, "{}: {}", path.string(), std::strerror(errno));
    }
    if (base::others_have_access(path, status.st_mode)) {
        return base::make_error(base::Reason::kSecretExposed,
                                "{}: others than its owner have access (mode {:04o}); if "
                                "you are sure that none of them has read it, chmod 600",
                                path.string(), status.st_mode & 07777);
    }
    return base::ok();
}

/// Adds what of `path` others have access to; sockets and links have no access of their own.
void add_exposed(const std::filesystem::path& path, std::vector<std::filesystem::path>& found) {
    struct stat status {};
    if (::lstat(path.c_str(), &status) != 0) return;
    const bool folder = S_ISDIR(status.st_mode);
    if ((status.st_mode & 077) == 0 || !(folder || S_ISREG(status.st_mode))) return;
    found.push_back(path);
    if (!folder || (status.st_mode & 011) == 0) return;
    std::error_code gone;
    std::vector<std::filesystem::path> entries;
    for (std::filesystem::directory_iterator at(path, gone), end; !gone && at != end;
         at.increment(gone))
        entries.push_back(at->path());
    std::sort(entries.begin(), entries.end());
    for (const auto& entry : entries) add_exposed(entry, found);
}

}  // namespace

base::Result<std::string> load_secret(const std::filesystem::path& path) {
    std::error_code ec;
    const bool exists = std::filesystem::exists(path, ec);
    if (ec) return base::make_error(Reason::kNoAccess, "{}: {}", path.string(), ec.message());
    if (!exists)
        return base::make_error(Reason::kNoSecret, "{}: there is no such file", path.string());
    RAMPART_RETURN_IF_ERROR(check_mode(path));
    RAMPART_TRY(std::string text, base::read_file(path, kMaxFileBytes));
    if (!text.empty() && text.back() == '\n') text.pop_back();
    auto secret = base::from_hex(text);
    if (!secret || secret->size() != kSecretBytes) {
        return base::make_error(Reason::kBadSecret,
                                "{}: does not contain exactly {} hex digits; restore it",
                                path.string(), 2 * kSecretBytes);
    }
    return *std::move(secret);
}

base::Result<std::string> load_or_create_secret(const std::filesystem::path& path) {
    auto known = load_secret(path);
    if (known || !known.error().is(Reason::kNoSecret)) return known;
    std::error_code ec;
    if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path(), ec);
    if (ec) {
        return base::make_error(Reason::kNoAccess, "{}: {}", path.parent_path().string(),
                                ec.message());
    }
    std::string secret = base::random_bytes(kSecretBytes);
    RAMPART_RETURN_IF_ERROR(base::write_file_atomically(path, base::to_hex(secret) + "\n", 0600));
    return secret;
}

std::string secret_id(std::string_view secret) {
    return base::hmac_sha256(secret, "rampart secret id").hex().substr(0, 16);
}

void make_files_private() { ::umask(077); }

std::vector<std::filesystem::path> exposed_in(const std::filesystem::path& store) {
    std::vector<std::filesystem::path> found;
    add_exposed(store, found);
    return found;
}

void warn_of_exposed(const std::filesystem::path& store) {
    constexpr size_t kNamed = 5;
    const auto found = exposed_in(store);
    if (found.empty()) return;
    std::string names;
    for (size_t i = 0; i < std::min(found.size(), kNamed); ++i)
        names += (i == 0 ? "" : ", ") + found[i].string();
    if (found.size() > kNamed) names += ", …";
    kLog.warning(
        "msg=\"others than their owner have access to {} files and folders of the store: {}; take "
        "it away: chmod -R go= {}\"",
        found.size(), names, store.string());
}

}  // namespace rampart::runtime

#include "errors.hpp"

#include <string>

#include "encrypted_files.hpp"
#include "rampart/base/reasons.hpp"
#include "rampart/storage/reasons.hpp"

namespace rampart::storage {
namespace {

bool mentions(const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos;
}

}  // namespace

base::Error map_error(const rocksdb::Status& status, const std::filesystem::path& path,
                      std::string_view action) {
    const std::string text = status.ToString();
    const auto error = [&](base::AnyReason reason, std::string_view remedy) {
        return base::make_error(reason, "cannot {} database '{}': {}{}", action, path.string(),
                                text, remedy);
    };
    if (mentions(text, kNoKeyText)) {
        return error(Reason::kNoFileKey,
                     "; put keys/store of its store, or keys/retired, back (`rampart keys import`, "
                     "ops/runbooks/keys.md)");
    }
    // RocksDB calls a table corrupt, too, whose size it could not ask for
    const bool kept_out = mentions(text, "IO error: ") && !mentions(text, "No such file");
    if (status.IsCorruption() && !kept_out) {
        return error(Reason::kCorrupt, "; ops/runbooks/damage.md says what to do");
    }
    if (status.IsNoSpace() || mentions(text, "No space left") || mentions(text, "File too large") ||
        mentions(text, "Disk quota exceeded")) {
        return error(base::Reason::kDiskFull, "; make room, then try again");
    }
    if (mentions(text, "lock hold by current process") || mentions(text, "While lock file")) {
        return error(base::Reason::kDatabaseInUse, "; stop the process that has it open");
    }
    if (mentions(text, "Permission denied") || mentions(text, "Read-only file system")) {
        return error(base::Reason::kNoAccess, "; check owner and mode of the folder");
    }
    if (status.IsNotSupported()) {
        return error(Reason::kReadOnly, "; it is open for reading only");
    }
    if (kept_out || status.IsIOError() || status.IsTimedOut() || status.IsBusy() ||
        status.IsTryAgain()) {
        return error(base::Reason::kIoError, "");
    }
    return error(Reason::kDatabaseError, "");
}

}  // namespace rampart::storage

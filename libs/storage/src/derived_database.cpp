#include "rampart/storage/derived_database.hpp"

#include <algorithm>
#include <charconv>

#include "damage_note.hpp"
#include "files.hpp"
#include "rampart/base/file.hpp"
#include "rampart/base/log.hpp"
#include "rampart/storage/reasons.hpp"

namespace rampart::storage {
namespace {

namespace fs = std::filesystem;
using base::Result;
using base::Status;

constexpr base::Logger kLog("storage");
constexpr std::string_view kSetAside = ".damaged-";

/// N of "NAME.damaged-N".
std::optional<uint64_t> number_of(std::string_view folder) {
    const auto at = folder.rfind(kSetAside);
    if (at == std::string_view::npos || at == 0) return std::nullopt;
    const std::string_view digits = folder.substr(at + kSetAside.size());
    uint64_t number = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
    return number;
}

/// The numbers of those that lie beside the database, ascending.
std::vector<uint64_t> numbers_beside(const fs::path& database) {
    std::vector<uint64_t> numbers;
    const std::string prefix = database.filename().string() + std::string(kSetAside);
    std::error_code error;
    for (auto it = fs::directory_iterator(database.parent_path(), error);
         !error && it != fs::directory_iterator(); it.increment(error)) {
        const std::string name = it->path().filename().string();
        const auto number = number_of(name);
        if (number && name.starts_with(prefix)) numbers.push_back(*number);
    }
    std::sort(numbers.begin(), numbers.end());
    return numbers;
}

}  // namespace

bool is_set_aside(const fs::path& folder) {
    return number_of(folder.filename().string()).has_value();
}

Result<std::vector<std::string>> find_set_aside(const fs::path& root) {
    std::vector<std::string> found;
    std::error_code error;
    for (auto it = fs::recursive_directory_iterator(root, error);
         !error && it != fs::recursive_directory_iterator(); it.increment(error)) {
        std::error_code ignored;
        if (!it->is_directory(ignored)) continue;
        const bool aside = is_set_aside(it->path());
        if (aside) found.push_back(it->path().lexically_relative(root).generic_string());
        if (aside || it->path().filename().native().starts_with('.')) {
            it.disable_recursion_pending();
        }
    }
    if (error) return file_error(error.value(), root, "list");
    std::sort(found.begin(), found.end());
    return found;
}

fs::path beyond_log_mark(const fs::path& database) { return database.string() + ".beyond-log"; }

base::Error state_damaged(const fs::path& database, std::string_view why) {
    return base::make_error(Reason::kStateDamaged,
                            "'{}' is damaged, and is not made anew from the log: {}; see "
                            "ops/runbooks/damage.md",
                            database.string(), why);
}

DerivedDatabase::DerivedDatabase(fs::path path, std::vector<std::string> families,
                                 OpenOptions options)
    : path_(std::move(path)),
      families_(std::move(families)),
      options_(std::move(options)),
      closed_(std::make_shared<std::atomic<bool>>(true)) {}

DerivedDatabase::~DerivedDatabase() = default;

Result<std::unique_ptr<DerivedDatabase>> DerivedDatabase::open(const fs::path& path,
                                                               std::vector<std::string> families,
                                                               OpenOptions options) {
    options.derived = true;
    std::unique_ptr<DerivedDatabase> derived(
        new DerivedDatabase(path, std::move(families), std::move(options)));
    auto database = derived->open_database();
    if (!database && !is_damage(database.error())) return database.error();
    if (database) derived->database_ = *std::move(database);
    if (!database) derived->damage_ = database.error();
    return derived;
}

Result<std::shared_ptr<Database>> DerivedDatabase::open_database() {
    RAMPART_TRY(auto database, Database::open(path_, families_, options_));
    closed_ = std::make_shared<std::atomic<bool>>(false);
    // known to be closed, and not only about to be, when the last one who uses it has gone
    return std::shared_ptr<Database>(database.release(), [closed = closed_](Database* one) {
        delete one;
        *closed = true;
    });
}

Result<std::shared_ptr<Database>> DerivedDatabase::current() const {
    const std::lock_guard lock(mutex_);
    if (database_) return database_;
    return damage_.error();
}

Status DerivedDatabase::damage() const {
    const std::lock_guard lock(mutex_);
    return database_ ? database_->damage() : damage_;
}

Status DerivedDatabase::write(const WriteBatch& batch, Sync sync) {
    RAMPART_TRY(const auto database, current());
    return database->write(batch, sync);
}

Result<std::optional<std::string>> DerivedDatabase::get(ColumnFamily family, std::string_view key,
                                                        const DerivedSnapshot* at) const {
    if (at != nullptr) {
        if (!at->at_) return at->missing_.error();
        return at->database_->get(family, key, &*at->at_);
    }
    RAMPART_TRY(const auto database, current());
    return database->get(family, key);
}

Status DerivedDatabase::scan(ColumnFamily family, const KeyRange& range,
                             const Database::Visitor& visit, const DerivedSnapshot* at) const {
    if (at != nullptr) {
        if (!at->at_) return at->missing_;
        return at->database_->scan(family, range, visit, &*at->at_);
    }
    RAMPART_TRY(const auto database, current());
    return database->scan(family, range, visit);
}

Status DerivedDatabase::scan_back(ColumnFamily family, const KeyRange& range,
                                  const Database::Visitor& visit, const DerivedSnapshot& at) const {
    if (!at.at_) return at.missing_;
    return at.database_->scan_back(family, range, visit, &*at.at_);
}

DerivedSnapshot DerivedDatabase::snapshot() const {
    DerivedSnapshot snapshot;
    if (const auto database = current()) {
        snapshot.database_ = *database;
        snapshot.at_.emplace((*database)->snapshot());
    } else {
        snapshot.missing_ = database.error();
    }
    return snapshot;
}

Status DerivedDatabase::compact(std::span<const FamilyRange> parts) {
    RAMPART_TRY(const auto database, current());
    return database->compact(parts);
}

Status DerivedDatabase::compact_erased(ColumnFamily family) {
    RAMPART_TRY(const auto database, current());
    return database->compact_erased(family);
}

Status DerivedDatabase::check_replaceable() const {
    std::error_code error;
    if (fs::exists(beyond_log_mark(path_), error) || error) {
        return state_damaged(path_,
                             "a gap was accepted, so that it held what the log does not have; "
                             "restore it from a backup");
    }
    if (set_aside_ > 0) {
        return state_damaged(path_,
                             "it was made anew once since the start already; look whether the disk "
                             "is failing, and start the program again");
    }
    if (numbers_beside(path_).size() >= kMaxSetAside) {
        return state_damaged(path_,
                             "too many damaged ones lie beside it; look whether the disk is "
                             "failing, and delete them");
    }
    return base::ok();
}

/// Lets go of the damaged database. unavailable "in_use" until all others have, too.
Status DerivedDatabase::close() {
    std::shared_ptr<Database> last;
    {
        const std::lock_guard lock(mutex_);
        if (database_) damage_ = database_->damage();
        last = std::move(database_);
        database_.reset();
    }
    last.reset();  // outside the lock: it may be closed here
    if (*closed_) return base::ok();
    return base::make_error(
        Reason::kInUse, "database '{}' is damaged, and a read of it is still open", path_.string());
}

Status DerivedDatabase::move_away() {
    const auto numbers = numbers_beside(path_);
    const uint64_t number = numbers.empty() ? 1 : numbers.back() + 1;
    const fs::path aside = path_.string() + std::string(kSetAside) + std::to_string(number);
    std::error_code error;
    fs::rename(path_, aside, error);
    if (error) return file_error(error.value(), path_, "set aside");
    moved_ = true;
    ++set_aside_;
    kLog.error(
        "msg=\"damaged database set aside, to be made anew from the log; nothing is lost\" "
        "database={} as={} runbook=ops/runbooks/damage.md what=\"{}\"",
        path_.string(), aside.string(), damage().error().message);
    return sync_folder(path_.parent_path());
}

Result<bool> DerivedDatabase::renew(const std::function<Status()>& allowed,
                                    const std::function<Status(Database&)>& begin) {
    if (damage()) return false;
    if (!moved_) {
        RAMPART_RETURN_IF_ERROR(check_replaceable());
        RAMPART_RETURN_IF_ERROR(allowed());
        RAMPART_RETURN_IF_ERROR(close());
        RAMPART_RETURN_IF_ERROR(move_away());
    }
    auto opened = open_database();
    if (!opened && is_damage(opened.error())) {
        return state_damaged(path_,
                             "a new one is damaged as well; look whether the disk is "
                             "failing");
    }
    RAMPART_TRY(auto database, std::move(opened));
    RAMPART_RETURN_IF_ERROR(begin(*database));
    moved_ = false;
    const std::lock_guard lock(mutex_);
    database_ = std::move(database);
    damage_ = base::ok();
    return true;
}

Status DerivedDatabase::mark_beyond_log() {
    std::error_code error;
    if (fs::exists(beyond_log_mark(path_), error)) return base::ok();
    return base::write_file_atomically(beyond_log_mark(path_),
                                       "It holds what the log does not have.\n");
}

bool DerivedDatabase::has_set_aside() const { return !numbers_beside(path_).empty(); }

}  // namespace rampart::storage

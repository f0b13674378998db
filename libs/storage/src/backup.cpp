#include "rampart/storage/backup.hpp"

#include <rocksdb/utilities/backup_engine.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <map>
#include <set>
#include <utility>

#include "backup_list.hpp"
#include "encrypted_file.hpp"
#include "encrypted_files.hpp"
#include "errors.hpp"
#include "files.hpp"
#include "process_limits_impl.hpp"
#include "rampart/base/file.hpp"
#include "rampart/base/log.hpp"
#include "rampart/storage/inspection.hpp"
#include "rampart/storage/live_copy.hpp"
#include "rampart/storage/reasons.hpp"
#include "whole_database.hpp"

namespace rampart::storage {
namespace {

namespace fs = std::filesystem;
using base::Result;
using base::Status;
using Kind = BackupItem::Kind;

constexpr base::Logger kLog("storage");
constexpr std::string_view kFormat = "rampart-backup 1\n";
constexpr std::string_view kFormatName = "rampart-backup ";
constexpr size_t kMaxListBytes = 64u << 20;
constexpr unsigned kPrivate = 0700;

base::Error damaged(const fs::path& what, std::string_view how) {
    return base::make_error(Reason::kBackupDamaged,
                            "'{}' {}: restore from another backup, and make a new "
                            "one into a new folder",
                            what.string(), how);
}

rocksdb::BackupEngineOptions engine_options(const fs::path& folder) {
    rocksdb::BackupEngineOptions options(folder.string());
    options.sync = true;
    options.share_table_files = true;
    options.share_files_with_checksum = true;
    options.max_background_operations = 2;
    options.backup_rate_limiter = background_limiter();
    return options;
}

/// RocksDB's backups of a database, and the files that it reads and writes them through.
template <class Engine>
struct OpenEngine {
    std::shared_ptr<rocksdb::Env> environment;
    std::unique_ptr<Engine> engine;
    Engine* operator->() const { return engine.get(); }
};

/// Refuses backups whose key is not there: RocksDB would take them for damaged, and sweep them.
Status check_keys(const fs::path& folder, rocksdb::Env& environment) {
    std::error_code failure;
    for (auto it = fs::directory_iterator(folder / "meta", failure);
         !failure && it != fs::directory_iterator(); it.increment(failure)) {
        uint64_t size = 0;
        const auto status = environment.GetFileSize(it->path().string(), &size);
        if (status.ok()) continue;
        auto error = map_error(status, folder, "open backups of");
        if (error.is(Reason::kNoFileKey)) return error;
    }
    return base::ok();
}

template <class Engine>
Result<OpenEngine<Engine>> open_engine(const fs::path& folder,
                                       std::shared_ptr<rocksdb::Env> environment) {
    RAMPART_RETURN_IF_ERROR(check_keys(folder, *environment));
    auto options = engine_options(folder);
    options.backup_env = environment.get();
    Engine* raw = nullptr;
    const rocksdb::Status status = Engine::Open(options, environment.get(), &raw);
    if (!status.ok()) return map_error(status, folder, "open backups of");
    return OpenEngine<Engine>{std::move(environment), std::unique_ptr<Engine>(raw)};
}

/// Files that read with any key that is there, and are written with the one of a backup.
Result<std::shared_ptr<rocksdb::Env>> environment_of_backup(const fs::path& engine, uint32_t id) {
    RAMPART_TRY(auto keys, file_keys_of(engine));
    RAMPART_TRY(const auto key_id, key_id_of(engine / "meta" / std::to_string(id)));
    if (keys.current) keys.others.push_back(*std::exchange(keys.current, std::nullopt));
    if (!key_id.empty()) {
        const auto* key = find_key(keys, key_id);
        if (key == nullptr)
            return base::make_error(Reason::kNoFileKey,
                                    "the backup in '{}' is encrypted with the key {}, which is not "
                                    "there: name its file by --store-key (ops/runbooks/keys.md)",
                                    engine.string(), key_id);
        keys.current = *key;
    }
    return with_encryption({}, std::make_shared<const FileKeys>(std::move(keys)));
}

/// "7" -> 7; anything else -> nullopt.
std::optional<uint64_t> id_of(const std::string& name) {
    uint64_t id = 0;
    const auto* end = name.data() + name.size();
    const auto [stopped, error] = std::from_chars(name.data(), end, id);
    if (error != std::errc() || stopped != end || std::to_string(id) != name) return std::nullopt;
    return id;
}

/// Folders that RocksDB keeps backups in.
void find_engines(const fs::path& folder, std::vector<fs::path>& found) {
    std::error_code error;
    if (fs::is_directory(folder / "meta", error)) return found.push_back(folder);
    for (auto it = fs::directory_iterator(folder, error); !error && it != fs::directory_iterator();
         it.increment(error)) {
        std::error_code ignored;
        if (it->is_directory(ignored)) find_engines(it->path(), found);
    }
}

/// Refuses what cannot be backed up, or is there twice; adds the paths to `seen`.
Status check_items(const std::vector<BackupItem>& items, std::set<std::string>& seen) {
    for (const auto& item : items) {
        RAMPART_RETURN_IF_ERROR(check_item(item));
        if (seen.insert(item.path).second) continue;
        return base::make_error(Reason::kBadBackupItem, "'{}' is to be backed up twice", item.path);
    }
    return base::ok();
}

bool is_inside(const fs::path& inner, const fs::path& outer) {
    std::error_code error;
    const auto relative =
        fs::weakly_canonical(inner, error).lexically_relative(fs::weakly_canonical(outer, error));
    return !relative.empty() && *relative.begin() != "..";
}

}  // namespace

struct BackupFolder::Impl {
    fs::path folder;
    std::optional<FileLock> lock;

    fs::path lists() const { return folder / "backups"; }
    fs::path engine(const std::string& database) const { return folder / "databases" / database; }
    fs::path content(Kind kind) const {
        return folder / (kind == Kind::kSecret ? "secrets" : "files");
    }
    fs::path content(const BackupList::Entry& entry) const {
        return content(entry.item.kind) / entry.digest.hex();
    }

    Result<std::vector<uint64_t>> ids() const;
    Result<BackupList> load(uint64_t id) const;
    Status take(const fs::path& store, const std::vector<BackupItem>& items,
                BackupList& list) const;
    Result<BackupList::Entry> take_database(const fs::path& store, const fs::path& stage,
                                            const BackupItem& item) const;
    Result<BackupList::Entry> take_file(const fs::path& store, const BackupItem& item) const;
    Result<BackupList::Entry> take_content(const BackupItem& item) const;
    Status restore(const BackupList::Entry& entry, const fs::path& to) const;
    Status check(const BackupList::Entry& entry) const;
    Status sweep() const;
    Status sweep_engine(const fs::path& engine, const std::set<uint32_t>& needed) const;
};

BackupFolder::BackupFolder(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
BackupFolder::~BackupFolder() = default;

Result<std::unique_ptr<BackupFolder>> BackupFolder::open(const fs::path& folder, Mode mode) {
    auto impl = std::make_unique<Impl>();
    impl->folder = folder;
    std::error_code error;
    const bool empty = !fs::exists(folder, error) || fs::is_empty(folder, error);
    if (empty && mode == Mode::kRead) {
        return base::make_error(Reason::kNoBackups, "there are no backups in '{}'",
                                folder.string());
    }
    if (empty) {
        RAMPART_RETURN_IF_ERROR(make_folder(folder, kPrivate));
        RAMPART_RETURN_IF_ERROR(base::write_file_atomically(folder / "format", kFormat, 0600));
    }
    const auto format = base::read_file(folder / "format", 1024);
    if (!format || !format->starts_with(kFormatName)) {
        return base::make_error(Reason::kNotABackup,
                                "'{}' holds something else than backups; name another folder",
                                folder.string());
    }
    if (*format != kFormat) {
        return base::make_error(Reason::kNewerVersion,
                                "the backups in '{}' are of a later release ({}); use it",
                                folder.string(), format->substr(0, format->find('\n')));
    }
    RAMPART_TRY(impl->lock, FileLock::acquire(folder / "LOCK", mode == Mode::kRead
                                                                   ? FileLock::Kind::kShared
                                                                   : FileLock::Kind::kExclusive));
    if (!impl->lock) {
        return base::make_error(Reason::kBackupInUse,
                                "another process is at work in '{}'; try again when it is done",
                                folder.string());
    }
    if (mode == Mode::kChange) {
        for (const auto& part : {impl->lists(), folder / "databases", impl->content(Kind::kFile),
                                 impl->content(Kind::kSecret)}) {
            RAMPART_RETURN_IF_ERROR(make_folder(part, kPrivate));
        }
    }
    return std::unique_ptr<BackupFolder>(new BackupFolder(std::move(impl)));
}

Result<std::vector<uint64_t>> BackupFolder::Impl::ids() const {
    std::vector<uint64_t> ids;
    std::error_code error;
    for (auto it = fs::directory_iterator(lists(), error); !error && it != fs::directory_iterator();
         it.increment(error)) {
        if (const auto id = id_of(it->path().filename())) ids.push_back(*id);
    }
    if (error) return file_error(error.value(), lists(), "list");
    std::sort(ids.begin(), ids.end());
    return ids;
}

Result<BackupList> BackupFolder::Impl::load(uint64_t id) const {
    const auto path = lists() / std::to_string(id);
    const auto text = base::read_file(path, kMaxListBytes);
    if (!text && text.error().code == base::ErrorCode::kNotFound) {
        return base::make_error(Reason::kNoBackup, "there is no backup {} in '{}'", id,
                                folder.string());
    }
    if (!text) return text.error();
    auto list = decode_backup_list(*text);
    if (!list) return list.error().with_context(path.string());
    if (list->id != id) return damaged(path, "is the list of another backup");
    return list;
}

Result<BackupList::Entry> BackupFolder::Impl::take_database(const fs::path& store,
                                                            const fs::path& stage,
                                                            const BackupItem& item) const {
    BackupList::Entry entry;
    entry.item = item;
    RAMPART_RETURN_IF_ERROR(remove_tree(stage));
    RAMPART_RETURN_IF_ERROR(copy_live(store / item.path, stage));
    {
        RAMPART_TRY(auto copy, WholeDatabase::open(stage, WholeDatabase::Mode::kRecover));
        RAMPART_RETURN_IF_ERROR(make_folder(engine(item.path), kPrivate));
        RAMPART_TRY(const auto backups,
                    open_engine<rocksdb::BackupEngine>(engine(item.path), copy.environment()));
        rocksdb::Status status =
            backups->CreateNewBackup(rocksdb::CreateBackupOptions(), &copy.db(), &entry.engine_id);
        rocksdb::BackupInfo info;
        if (status.ok()) status = backups->GetBackupInfo(entry.engine_id, &info);
        if (!status.ok()) return map_error(status, store / item.path, "back up");
        entry.bytes = info.size;
    }
    RAMPART_RETURN_IF_ERROR(remove_tree(stage));
    return entry;
}

Result<BackupList::Entry> BackupFolder::Impl::take_file(const fs::path& store,
                                                        const BackupItem& item) const {
    BackupList::Entry entry;
    entry.item = item;
    const bool secret = item.kind == Kind::kSecret;
    struct ::stat status {};
    if (::stat((store / item.path).c_str(), &status) != 0) {
        return file_error(errno, store / item.path, "back up");
    }
    entry.mode = secret ? 0600 : status.st_mode & 0777;
    RAMPART_TRY(auto source, digest_of(store / item.path));
    entry.digest = source.digest;
    entry.bytes = source.bytes;
    if (const auto there = digest_of(content(entry)); there && there->digest == entry.digest) {
        return entry;
    }
    const auto temporary = content(item.kind) / "being_copied";
    RAMPART_TRY(source, copy_file(store / item.path, temporary, {.mode = 0600}));
    entry.digest = source.digest;
    entry.bytes = source.bytes;
    if (::rename(temporary.c_str(), content(entry).c_str()) != 0) {
        return file_error(errno, content(entry), "write");
    }
    RAMPART_RETURN_IF_ERROR(sync_folder(content(item.kind)));
    return entry;
}

/// Takes a file whose content was read before.
Result<BackupList::Entry> BackupFolder::Impl::take_content(const BackupItem& item) const {
    BackupList::Entry entry;
    entry.item = {item.kind, item.path};
    entry.mode = 0600;
    entry.digest = base::sha256(*item.content);
    entry.bytes = item.content->size();
    if (const auto there = digest_of(content(entry)); there && there->digest == entry.digest)
        return entry;
    RAMPART_RETURN_IF_ERROR(base::write_file_atomically(content(entry), *item.content, 0600));
    return entry;
}

/// Takes the items one after the other into the list.
Status BackupFolder::Impl::take(const fs::path& store, const std::vector<BackupItem>& items,
                                BackupList& list) const {
    for (const auto& item : items) {
        RAMPART_TRY(auto entry, item.kind == Kind::kDatabase
                                    ? take_database(store, store / ".backup" / "copy", item)
                                : item.content ? take_content(item)
                                               : take_file(store, item));
        list.entries.push_back(std::move(entry));
    }
    return base::ok();
}

Result<BackupInfo> BackupFolder::create(const fs::path& store, const std::vector<BackupItem>& items,
                                        base::TimePoint now, const Rest& rest) {
    std::set<std::string> seen;
    RAMPART_RETURN_IF_ERROR(check_items(items, seen));
    if (is_inside(impl_->folder, store) || is_inside(store, impl_->folder)) {
        return base::make_error(Reason::kBackupInsideStore,
                                "'{}' and the store '{}' lie one in the other; name a folder "
                                "outside, best on another disk",
                                impl_->folder.string(), store.string());
    }
    if (const auto swept = impl_->sweep(); !swept) {
        kLog.warning("msg=\"what earlier backups left is not swept away\" error=\"{}\"",
                     swept.error().message);
    }
    const auto work = store / ".backup";
    RAMPART_RETURN_IF_ERROR(make_folder(work, kPrivate));
    RAMPART_TRY(const auto lock, FileLock::acquire(work / "LOCK", FileLock::Kind::kExclusive));
    if (!lock) {
        return base::make_error(Reason::kBackupRunning,
                                "another process is backing up '{}'; try again when it is "
                                "done",
                                store.string());
    }
    RAMPART_TRY(const auto ids, impl_->ids());
    BackupList list;
    list.id = ids.empty() ? 1 : ids.back() + 1;
    list.created = now;
    RAMPART_RETURN_IF_ERROR(impl_->take(store, items, list));
    if (rest) {
        RAMPART_TRY(const auto last, rest());
        RAMPART_RETURN_IF_ERROR(check_items(last, seen));
        RAMPART_RETURN_IF_ERROR(impl_->take(store, last, list));
    }
    RAMPART_RETURN_IF_ERROR(
        base::write_file_atomically(impl_->lists() / std::to_string(list.id), encode(list), 0600));
    return list.info();
}

Result<std::vector<BackupInfo>> BackupFolder::list() const {
    std::vector<BackupInfo> all;
    RAMPART_TRY(const auto ids, impl_->ids());
    for (const uint64_t id : ids) {
        const auto list = impl_->load(id);
        BackupInfo info = list ? list->info() : BackupInfo{};
        info.id = id;
        if (!list) info.damage = list.error().message;
        all.push_back(std::move(info));
    }
    return all;
}

Result<BackupInfo> BackupFolder::info(uint64_t id) const {
    RAMPART_TRY(const auto list, impl_->load(id));
    return list.info();
}

Status BackupFolder::Impl::check(const BackupList::Entry& entry) const {
    if (entry.item.kind == Kind::kDatabase) {
        const auto path = engine(entry.item.path);
        RAMPART_TRY(auto environment, environment_of_backup(path, entry.engine_id));
        RAMPART_TRY(const auto backups,
                    open_engine<rocksdb::BackupEngineReadOnly>(path, std::move(environment)));
        const auto status = backups->VerifyBackup(entry.engine_id, /*verify_with_checksum=*/true);
        if (!status.ok()) return damaged(path, status.ToString());
        return base::ok();
    }
    const auto digest = digest_of(content(entry));
    if (!digest) return damaged(content(entry), digest.error().message);
    if (digest->digest != entry.digest || digest->bytes != entry.bytes) {
        return damaged(content(entry), "is not what was backed up as '" + entry.item.path + "'");
    }
    return base::ok();
}

Status BackupFolder::verify(uint64_t id) const {
    RAMPART_TRY(const auto list, impl_->load(id));
    for (const auto& entry : list.entries) RAMPART_RETURN_IF_ERROR(impl_->check(entry));
    return base::ok();
}

Status BackupFolder::Impl::restore(const BackupList::Entry& entry, const fs::path& to) const {
    if (entry.item.kind != Kind::kDatabase) {
        RAMPART_RETURN_IF_ERROR(make_folder(to.parent_path(), kPrivate));
        const auto copied = copy_file(content(entry), to, {.mode = entry.mode, .sync = false});
        if (!copied && copied.error().code != base::ErrorCode::kNotFound) return copied.error();
        if (!copied || copied->digest != entry.digest) {
            return damaged(content(entry),
                           "is not what was backed up as '" + entry.item.path + "'");
        }
        return base::ok();
    }
    RAMPART_RETURN_IF_ERROR(make_folder(to, kPrivate));
    const auto path = engine(entry.item.path);
    RAMPART_TRY(auto environment, environment_of_backup(path, entry.engine_id));
    RAMPART_TRY(const auto backups,
                open_engine<rocksdb::BackupEngineReadOnly>(path, std::move(environment)));
    const rocksdb::Status status =
        backups->RestoreDBFromBackup(entry.engine_id, to.string(), to.string());
    if (status.IsCorruption() || status.IsNotFound()) return damaged(path, status.ToString());
    if (!status.ok()) return map_error(status, to, "restore");
    return storage::verify(to).map([](const DatabaseReport&) {});
}

Result<BackupInfo> BackupFolder::restore(uint64_t id, const fs::path& store) const {
    RAMPART_TRY(const auto list, impl_->load(id));
    std::error_code error;
    if (fs::exists(store, error) &&
        !(fs::is_directory(store, error) && fs::is_empty(store, error))) {
        return base::make_error(Reason::kStoreNotEmpty,
                                "'{}' is there and not empty; name a new folder, or move it "
                                "out of the way",
                                store.string());
    }
    const auto target = fs::absolute(store, error).lexically_normal();
    const auto name = target.has_filename() ? target : target.parent_path();
    const auto growing = name.parent_path() / ("." + name.filename().string() + ".restoring");
    RAMPART_RETURN_IF_ERROR(remove_tree(growing));
    RAMPART_RETURN_IF_ERROR(make_folder(growing, kPrivate));
    for (const auto& entry : list.entries) {
        auto restored = impl_->restore(entry, growing / entry.item.path);
        if (restored) continue;
        RAMPART_RETURN_IF_ERROR(remove_tree(growing));
        return restored.error().with_context(entry.item.path);
    }
    RAMPART_RETURN_IF_ERROR(base::sync_tree(growing));
    if (::rename(growing.c_str(), name.c_str()) != 0) return file_error(errno, name, "restore to");
    RAMPART_RETURN_IF_ERROR(sync_folder(name.parent_path()));
    return list.info();
}

Status BackupFolder::extract(uint64_t id, const std::set<std::string>& paths,
                             const fs::path& folder) const {
    RAMPART_TRY(const auto list, impl_->load(id));
    for (const auto& entry : list.entries) {
        if (!paths.contains(entry.item.path)) continue;
        RAMPART_RETURN_IF_ERROR(impl_->restore(entry, folder / entry.item.path));
    }
    return base::ok();
}

Result<size_t> BackupFolder::keep_newest(size_t n) {
    if (n == 0) return base::make_error(Reason::kBadCount, "keep one backup or more, not 0");
    RAMPART_TRY(const auto all, list());
    for (const auto& info : all) {
        if (!info.damage.empty())
            return base::make_error(Reason::kBackupDamaged, "{}", info.damage);
    }
    const size_t surplus = all.size() - std::min(n, all.size());
    for (size_t i = 0; i < surplus; ++i) {
        RAMPART_RETURN_IF_ERROR(remove_tree(impl_->lists() / std::to_string(all[i].id)));
    }
    RAMPART_RETURN_IF_ERROR(sync_folder(impl_->lists()));
    RAMPART_RETURN_IF_ERROR(impl_->sweep());
    return surplus;
}

Status BackupFolder::Impl::sweep_engine(const fs::path& path,
                                        const std::set<uint32_t>& needed) const {
    if (needed.empty()) return remove_tree(path);
    RAMPART_TRY(auto environment, environment_of(path, Access::kRead));
    RAMPART_TRY(const auto backups,
                open_engine<rocksdb::BackupEngine>(path, std::move(environment)));
    std::vector<rocksdb::BackupInfo> present;
    backups->GetBackupInfo(&present);
    for (const auto& info : present) {
        if (needed.contains(info.backup_id)) continue;
        const auto status = backups->DeleteBackup(info.backup_id);
        if (!status.ok()) return map_error(status, path, "sweep backups of");
    }
    const auto status = backups->GarbageCollect();
    if (!status.ok()) return map_error(status, path, "sweep backups of");
    return base::ok();
}

/// Removes what no list names: of a create() or keep_newest() that did not come to its end.
Status BackupFolder::Impl::sweep() const {
    std::map<fs::path, std::set<uint32_t>> engines;
    std::set<fs::path> contents;
    RAMPART_TRY(const auto all, ids());
    for (const uint64_t id : all) {
        RAMPART_TRY(const auto list, load(id));
        for (const auto& entry : list.entries) {
            if (entry.item.kind == Kind::kDatabase) {
                engines[engine(entry.item.path)].insert(entry.engine_id);
            } else {
                contents.insert(content(entry));
            }
        }
    }
    std::vector<fs::path> present;
    find_engines(folder / "databases", present);
    for (const auto& path : present) RAMPART_RETURN_IF_ERROR(sweep_engine(path, engines[path]));
    for (const Kind kind : {Kind::kFile, Kind::kSecret}) {
        std::error_code error;
        for (auto it = fs::directory_iterator(content(kind), error);
             !error && it != fs::directory_iterator(); it.increment(error)) {
            if (!contents.contains(it->path())) RAMPART_RETURN_IF_ERROR(remove_tree(it->path()));
        }
        if (error) return file_error(error.value(), content(kind), "list");
    }
    return base::ok();
}

}  // namespace rampart::storage

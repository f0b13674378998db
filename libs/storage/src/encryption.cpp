#include "rampart/storage/encryption.hpp"

#include <rocksdb/db.h>
#include <rocksdb/file_system.h>

#include <algorithm>
#include <fstream>
#include <mutex>

#include "encrypted_file.hpp"
#include "encrypted_files.hpp"
#include "errors.hpp"
#include "files.hpp"
#include "options.hpp"
#include "rampart/base/file.hpp"
#include "rampart/base/reasons.hpp"
#include "rampart/storage/folder.hpp"
#include "rampart/storage/reasons.hpp"
#include "whole_database.hpp"

namespace rampart::storage {
namespace {

namespace fs = std::filesystem;
using base::Result;
using base::Status;

constexpr size_t kPieceBytes = 1u << 20;

struct Source {
    std::mutex mutex;
    FileKeySource get;
};
Source& source() {
    static Source one;
    return one;
}

/// Reads the first bytes; nullopt: it is gone.
Result<std::optional<std::string>> begin_of(const fs::path& file) {
    std::ifstream in(file, std::ios::binary);
    std::error_code failure;
    if (!in.is_open() && !fs::exists(file, failure)) return std::optional<std::string>();
    std::string begin(kFileHeaderBytes, '\0');
    in.read(begin.data(), static_cast<std::streamsize>(begin.size()));
    if (in.bad() || !(in.good() || in.eof()))
        return base::make_error(base::Reason::kIoError, "cannot read '{}'", file.string());
    begin.resize(static_cast<size_t>(in.gcount()));
    return std::optional(std::move(begin));
}

/// Whether a file of a database holds what was written to it.
bool holds_content(const fs::path& file) {
    const auto name = file.filename().native();
    return name.starts_with("MANIFEST-") || file.extension() == ".sst" ||
           file.extension() == ".log" || file.extension() == ".blob";
}

/// Returns the id of the key of the manifest, without which nothing else can be read.
Result<std::string> key_of_manifest(const fs::path& database) {
    std::error_code failure;
    if (!fs::exists(database / "CURRENT", failure)) return std::string();
    RAMPART_TRY(auto name, base::read_file(database / "CURRENT", 4096));
    while (!name.empty() && name.back() == '\n') name.pop_back();
    return key_id_of(database / fs::path(name).filename());
}

rocksdb::IOStatus copy_content(rocksdb::FileSystem& from, const std::string& source,
                               rocksdb::FileSystem& to, const std::string& target) {
    const rocksdb::FileOptions options;
    std::unique_ptr<rocksdb::FSSequentialFile> in;
    std::unique_ptr<rocksdb::FSWritableFile> out;
    auto status = from.NewSequentialFile(source, options, &in, nullptr);
    if (status.ok()) status = to.NewWritableFile(target, options, &out, nullptr);
    std::string buffer(kPieceBytes, '\0');
    rocksdb::Slice piece;
    while (status.ok()) {
        status = in->Read(buffer.size(), options.io_options, &piece, buffer.data(), nullptr);
        if (!status.ok() || piece.empty()) break;
        status = out->Append(piece, options.io_options, nullptr);
    }
    if (status.ok()) status = out->Fsync(options.io_options, nullptr);
    if (status.ok()) status = out->Close(options.io_options, nullptr);
    return status;
}

}  // namespace

void set_file_key_source(FileKeySource get) {
    const std::lock_guard lock(source().mutex);
    source().get = std::move(get);
}

Result<FileKeys> file_keys_of(const fs::path& database) {
    FileKeySource get;
    {
        const std::lock_guard lock(source().mutex);
        get = source().get;
    }
    return get ? get(database) : FileKeys();
}

Result<std::string> key_id_of(const fs::path& file) {
    RAMPART_TRY(const auto begin, begin_of(file));
    if (!begin) return std::string();
    auto header = read_header(*begin);
    if (header.kind == FileHeader::Kind::kDamaged)
        return base::make_error(Reason::kCorrupt,
                                "'{}': {}; ops/runbooks/damage.md says what to do", file.string(),
                                kBadHeaderText);
    return header.key_id;
}

Result<std::shared_ptr<rocksdb::Env>> environment_of(const fs::path& database, Access access,
                                                     std::shared_ptr<rocksdb::Env> base) {
    RAMPART_TRY(auto keys, file_keys_of(database));
    if (access == Access::kWrite && !keys.current) {
        RAMPART_TRY(const auto id, key_of_manifest(database));
        if (!id.empty())
            return base::make_error(
                Reason::kNoFileKey,
                "database '{}' is encrypted with the key {}, and there is no key to write it "
                "with: put {} back (`rampart keys import`, ops/runbooks/keys.md)",
                database.string(), id,
                keys.where.empty() ? "keys/store of its store"
                                   : fmt::format("'{}'", keys.where.string()));
    }
    return with_encryption(std::move(base), std::make_shared<const FileKeys>(std::move(keys)));
}

Result<FilesAtRest> files_at_rest(const fs::path& database) {
    FilesAtRest found;
    std::error_code failure;
    for (auto it = fs::directory_iterator(database, failure);
         !failure && it != fs::directory_iterator(); it.increment(failure)) {
        std::error_code gone;
        if (!holds_content(it->path()) || it->file_size(gone) == 0 || gone) continue;
        RAMPART_TRY(const auto begin, begin_of(it->path()));
        if (!begin) continue;
        RAMPART_TRY(const auto id, key_id_of(it->path()));
        if (read_header(*begin).kind == FileHeader::Kind::kPlain) ++found.plain;
        if (!id.empty()) ++found.by_key[id];
    }
    if (failure) return file_error(failure.value(), database, "list");
    return found;
}

namespace {

/// Removes logs without content: RocksDB keeps them, and they would need their key.
Status remove_empty_logs(const fs::path& database) {
    std::vector<fs::path> empty;
    std::error_code failure;
    for (auto it = fs::directory_iterator(database, failure);
         !failure && it != fs::directory_iterator(); it.increment(failure)) {
        std::error_code gone;
        const auto size = it->file_size(gone);
        if (gone || it->path().extension() != ".log" || size > kFileHeaderBytes) continue;
        RAMPART_TRY(const auto id, key_id_of(it->path()));
        if (size == 0 || !id.empty()) empty.push_back(it->path());
    }
    for (const auto& file : empty)
        if (!failure) fs::remove(file, failure);
    if (failure) return file_error(failure.value(), database, "remove empty logs of");
    return base::sync_tree(database);
}

Status write_anew(const fs::path& database) {
    RAMPART_TRY(auto whole, WholeDatabase::open(database, WholeDatabase::Mode::kRecover));
    auto& db = whole.db();
    auto status = db.Flush(rocksdb::FlushOptions(), whole.families());
    for (auto* family : whole.families()) {
        if (!status.ok()) break;
        rocksdb::CompactRangeOptions options;
        options.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForce;
        status = db.CompactRange(options, family, nullptr, nullptr);
        // a manifest that does not begin with the files of before
        if (status.ok()) status = db.SetOptions(family, unchanged_option());
    }
    if (status.ok()) status = db.DisableFileDeletions();
    if (status.ok()) status = db.EnableFileDeletions(/*force=*/false);
    if (!status.ok()) return map_error(status, database, "rewrite");
    return base::ok();
}

}  // namespace

Status rewrite_files(const fs::path& database) {
    RAMPART_RETURN_IF_ERROR(write_anew(database));
    return remove_empty_logs(database);
}

Status read_file_at_rest(const fs::path& file,
                         const std::function<Status(std::string_view)>& take) {
    RAMPART_TRY(const auto env, environment_of(file.parent_path(), Access::kRead));
    const rocksdb::FileOptions options;
    std::unique_ptr<rocksdb::FSSequentialFile> in;
    auto status = env->GetFileSystem()->NewSequentialFile(file.string(), options, &in, nullptr);
    std::string buffer(kPieceBytes, '\0');
    rocksdb::Slice piece;
    while (status.ok()) {
        status = in->Read(buffer.size(), options.io_options, &piece, buffer.data(), nullptr);
        if (!status.ok() || piece.empty()) break;
        RAMPART_RETURN_IF_ERROR(take(piece.ToStringView()));
    }
    if (!status.ok()) return map_error(status, file, "read");
    return base::ok();
}

Status copy_database_files(const fs::path& from, const fs::path& to) {
    RAMPART_TRY(const auto source_env, environment_of(from, Access::kRead));
    RAMPART_TRY(const auto target_env, environment_of(to, Access::kWrite));
    RAMPART_RETURN_IF_ERROR(make_folder(to, 0700));
    std::error_code failure;
    for (auto it = fs::directory_iterator(from, failure);
         !failure && it != fs::directory_iterator(); it.increment(failure)) {
        const auto target = to / it->path().filename();
        const auto status = copy_content(*source_env->GetFileSystem(), it->path().string(),
                                         *target_env->GetFileSystem(), target.string());
        if (!status.ok()) return map_error(status, from, "copy");
    }
    if (failure) return file_error(failure.value(), from, "list");
    return sync_folder(to);
}

}  // namespace rampart::storage

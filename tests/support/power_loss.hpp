#pragma once

#include <fmt/format.h>
#include <rocksdb/env.h>
#include <rocksdb/file_system.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "rampart/base/random.hpp"

namespace rampart::test_support {

/// The part of unsynced writes that a power cut leaves.
enum class Loss {
    kAll,     // nothing
    kPrefix,  // the beginning of every file; the first changes of names
    kPages,   // any pages of every file, zeros in between; the first changes of names
};

/// A file system with power cuts: after the cut every change fails, and lose() sets the files to
/// what a machine would find when the power is back.
///
/// Bytes are durable once their file was synced; a creation, renaming or deletion of a file once
/// its folder was. Nothing is really synced, so tests are fast. All writes go to real files; what
/// may have to come back is kept in a separate folder on the same file system.
class PowerLossFileSystem final : public rocksdb::FileSystemWrapper {
  public:
    using Status = rocksdb::IOStatus;
    using Options = rocksdb::IOOptions;
    using Context = rocksdb::IODebugContext;

    static constexpr int kPowerCut = 77;
    static constexpr uint64_t kNever = UINT64_MAX;  // a fast disk that never loses data

    /// The power cut replaces the nth change, 1 or more. `kept`: the separate folder.
    PowerLossFileSystem(std::filesystem::path kept, Loss loss, uint64_t nth, base::Random random)
        : FileSystemWrapper(rocksdb::FileSystem::Default()),
          kept_(std::move(kept)),
          loss_(loss),
          left_(nth),
          random_(random) {
        std::filesystem::remove_all(kept_);
        std::filesystem::create_directories(kept_);
    }
    const char* Name() const override { return "PowerLossFileSystem"; }

    Status NewWritableFile(const std::string& path, const rocksdb::FileOptions& options,
                           std::unique_ptr<rocksdb::FSWritableFile>* file,
                           Context* context) override;
    Status ReopenWritableFile(const std::string& path, const rocksdb::FileOptions& options,
                              std::unique_ptr<rocksdb::FSWritableFile>* file,
                              Context* context) override;
    Status NewDirectory(const std::string& path, const Options& options,
                        std::unique_ptr<rocksdb::FSDirectory>* folder, Context* context) override;
    Status DeleteFile(const std::string& path, const Options& options, Context* context) override;
    Status RenameFile(const std::string& from, const std::string& to, const Options& options,
                      Context* context) override;
    Status LinkFile(const std::string& from, const std::string& to, const Options& options,
                    Context* context) override;
    Status Truncate(const std::string&, size_t, const Options&, Context*) override {
        return Status::NotSupported("a file is truncated by its name");
    }

  private:
    class File;
    class Folder;
    struct Bytes {
        uint64_t written = 0, synced = 0;
    };
    /// A change of names that a cut may undo.
    struct Change {
        enum class Kind { kMade, kRenamed, kDeleted } kind;
        std::string path, from;  // from: of a renamed file
        std::string kept;        // earlier content of `path`; empty: none
    };

    /// Called before a change, with the mutex held.
    void use_power() {
        if (--left_ > 0) return;
        lose();
        ::_exit(kPowerCut);
    }
    std::string keep(const std::string& path);
    void undo(const Change& change);
    void lose_bytes(const std::string& path, const Bytes& bytes);
    void lose();

    const std::filesystem::path kept_;
    const Loss loss_;
    std::mutex mutex_;  // held during every change: no change is half done at the power cut
    uint64_t left_;     // changes until then
    base::Random random_;
    uint64_t kept_files_ = 0;
    std::map<std::string, Bytes> files_;
    std::vector<Change> changes_;  // not yet durable, in order
};

class PowerLossFileSystem::File final : public rocksdb::FSWritableFileOwnerWrapper {
  public:
    File(PowerLossFileSystem& system, std::string path,
         std::unique_ptr<rocksdb::FSWritableFile> target)
        : FSWritableFileOwnerWrapper(std::move(target)), system_(system), path_(std::move(path)) {}

    using FSWritableFileOwnerWrapper::Append;
    Status Append(const rocksdb::Slice& data, const Options& options, Context* context) override {
        const std::lock_guard lock(system_.mutex_);
        system_.use_power();
        system_.files_[path_].written += data.size();
        return FSWritableFileOwnerWrapper::Append(data, options, context);
    }
    Status Append(const rocksdb::Slice& data, const Options& options,
                  const rocksdb::DataVerificationInfo&, Context* context) override {
        return Append(data, options, context);
    }
    Status PositionedAppend(const rocksdb::Slice&, uint64_t, const Options&, Context*) override {
        return Status::NotSupported("no direct writes");
    }
    Status PositionedAppend(const rocksdb::Slice&, uint64_t, const Options&,
                            const rocksdb::DataVerificationInfo&, Context*) override {
        return Status::NotSupported("no direct writes");
    }
    Status Truncate(uint64_t size, const Options& options, Context* context) override {
        const std::lock_guard lock(system_.mutex_);
        system_.use_power();
        auto& bytes = system_.files_[path_];
        bytes.written = size;
        bytes.synced = std::min(bytes.synced, size);
        return FSWritableFileOwnerWrapper::Truncate(size, options, context);
    }
    Status Sync(const Options&, Context*) override {
        const std::lock_guard lock(system_.mutex_);
        system_.use_power();
        auto& bytes = system_.files_[path_];
        bytes.synced = bytes.written;
        return Status::OK();
    }
    Status Fsync(const Options& options, Context* context) override {
        return Sync(options, context);
    }

  private:
    PowerLossFileSystem& system_;
    const std::string path_;  // it is not renamed while it is open
};

class PowerLossFileSystem::Folder final : public rocksdb::FSDirectory {
  public:
    Folder(PowerLossFileSystem& system, std::filesystem::path path)
        : system_(system), path_(std::move(path)) {}
    Status Fsync(const Options&, Context*) override {
        const std::lock_guard lock(system_.mutex_);
        system_.use_power();
        std::erase_if(system_.changes_, [&](const Change& change) {
            if (std::filesystem::path(change.path).parent_path() != path_) return false;
            if (!change.kept.empty()) std::filesystem::remove(change.kept);
            return true;
        });
        return Status::OK();
    }

  private:
    PowerLossFileSystem& system_;
    const std::filesystem::path path_;
};

inline rocksdb::IOStatus PowerLossFileSystem::NewWritableFile(
    const std::string& path, const rocksdb::FileOptions& options,
    std::unique_ptr<rocksdb::FSWritableFile>* file, Context* context) {
    const std::lock_guard lock(mutex_);
    use_power();
    changes_.push_back({Change::Kind::kMade, path, {}, keep(path)});
    files_[path] = {};
    std::unique_ptr<rocksdb::FSWritableFile> target;
    const auto status = FileSystemWrapper::NewWritableFile(path, options, &target, context);
    if (status.ok()) *file = std::make_unique<File>(*this, path, std::move(target));
    return status;
}

inline rocksdb::IOStatus PowerLossFileSystem::ReopenWritableFile(
    const std::string& path, const rocksdb::FileOptions& options,
    std::unique_ptr<rocksdb::FSWritableFile>* file, Context* context) {
    const std::lock_guard lock(mutex_);
    use_power();
    std::error_code error;
    const auto size = std::filesystem::file_size(path, error);
    if (error) return Status::NotSupported("a file that is not there is reopened");
    files_.try_emplace(path, Bytes{size, size});
    std::unique_ptr<rocksdb::FSWritableFile> target;
    const auto status = FileSystemWrapper::ReopenWritableFile(path, options, &target, context);
    if (status.ok()) *file = std::make_unique<File>(*this, path, std::move(target));
    return status;
}

inline rocksdb::IOStatus PowerLossFileSystem::NewDirectory(
    const std::string& path, const Options&, std::unique_ptr<rocksdb::FSDirectory>* folder,
    Context*) {
    *folder = std::make_unique<Folder>(*this, std::filesystem::path(path + "/x").parent_path());
    return Status::OK();
}

/// Moves the content of `path` aside; empty: there is none.
inline std::string PowerLossFileSystem::keep(const std::string& path) {
    if (!std::filesystem::exists(path)) return {};
    const auto kept = (kept_ / fmt::format("{}", kept_files_++)).string();
    std::filesystem::rename(path, kept);
    return kept;
}

inline rocksdb::IOStatus PowerLossFileSystem::DeleteFile(const std::string& path, const Options&,
                                                         Context*) {
    const std::lock_guard lock(mutex_);
    use_power();
    const auto kept = keep(path);
    if (kept.empty()) return Status::PathNotFound(path);
    changes_.push_back({Change::Kind::kDeleted, path, {}, kept});
    return Status::OK();
}

inline rocksdb::IOStatus PowerLossFileSystem::RenameFile(const std::string& from,
                                                         const std::string& to,
                                                         const Options& options, Context* context) {
    const std::lock_guard lock(mutex_);
    use_power();
    changes_.push_back({Change::Kind::kRenamed, to, from, keep(to)});
    if (const auto node = files_.extract(from)) files_[to] = node.mapped();
    return FileSystemWrapper::RenameFile(from, to, options, context);
}

inline rocksdb::IOStatus PowerLossFileSystem::LinkFile(const std::string& from,
                                                       const std::string& to,
                                                       const Options& options, Context* context) {
    const std::lock_guard lock(mutex_);
    use_power();
    changes_.push_back({Change::Kind::kMade, to, {}, {}});
    return FileSystemWrapper::LinkFile(from, to, options, context);
}

inline void PowerLossFileSystem::undo(const Change& change) {
    namespace fs = std::filesystem;
    std::error_code ignored;
    if (change.kind == Change::Kind::kRenamed) {
        fs::rename(change.path, change.from, ignored);
        if (const auto node = files_.extract(change.path)) files_[change.from] = node.mapped();
    } else {
        fs::remove(change.path, ignored);
    }
    if (!change.kept.empty()) fs::rename(change.kept, change.path, ignored);
}

inline void PowerLossFileSystem::lose_bytes(const std::string& path, const Bytes& bytes) {
    std::error_code error;
    if (!std::filesystem::exists(path, error) || bytes.written <= bytes.synced) return;
    const uint64_t loose = bytes.written - bytes.synced;
    const uint64_t left = loss_ == Loss::kAll ? 0 : random_.below(loose + 1);
    std::filesystem::resize_file(path, bytes.synced + left);
    if (loss_ != Loss::kPages) return;
    constexpr uint64_t kPage = 4096;
    for (uint64_t at = bytes.synced; at < bytes.synced + left;) {
        const uint64_t end = std::min((at / kPage + 1) * kPage, bytes.synced + left);
        if (random_.bernoulli(0.5)) {
            FILE* file = std::fopen(path.c_str(), "r+b");
            std::fseek(file, static_cast<long>(at), SEEK_SET);
            for (uint64_t i = at; i < end; ++i) std::fputc(0, file);
            std::fclose(file);
        }
        at = end;
    }
}

inline void PowerLossFileSystem::lose() {
    for (const auto& [path, bytes] : files_) lose_bytes(path, bytes);
    const size_t safe = loss_ == Loss::kAll ? 0 : random_.below(changes_.size() + 1);
    for (size_t i = changes_.size(); i > safe; --i) undo(changes_[i - 1]);
    std::filesystem::remove_all(kept_);
}

}  // namespace rampart::test_support

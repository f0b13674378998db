#include "encrypted_files.hpp"

#include <fmt/format.h>
#include <rocksdb/file_system.h>

#include <algorithm>
#include <array>

#include "encrypted_file.hpp"

namespace rampart::storage {
namespace {

using rocksdb::FileOptions;
using rocksdb::FSReadRequest;
using rocksdb::IODebugContext;
using rocksdb::IOOptions;
using rocksdb::IOStatus;
using rocksdb::Slice;
using Cipher = std::shared_ptr<const base::StreamCipher>;

/// Decrypts what was read at `offset` of the content, in `scratch`.
void decrypt(const base::StreamCipher& cipher, uint64_t offset, Slice& read, char* scratch) {
    if (read.data() != scratch) std::copy_n(read.data(), read.size(), scratch);
    cipher.apply(offset, {scratch, read.size()});
    read = Slice(scratch, read.size());
}

class SequentialFile final : public rocksdb::FSSequentialFileOwnerWrapper {
  public:
    SequentialFile(std::unique_ptr<rocksdb::FSSequentialFile> target, Cipher cipher)
        : FSSequentialFileOwnerWrapper(std::move(target)), cipher_(std::move(cipher)) {}

    IOStatus Read(size_t n, const IOOptions& options, Slice* result, char* scratch,
                  IODebugContext* context) override {
        auto status = FSSequentialFileOwnerWrapper::Read(n, options, result, scratch, context);
        if (!status.ok()) return status;
        decrypt(*cipher_, position_, *result, scratch);
        position_ += result->size();
        return status;
    }
    IOStatus Skip(uint64_t n) override {
        auto status = FSSequentialFileOwnerWrapper::Skip(n);
        if (status.ok()) position_ += n;
        return status;
    }
    IOStatus InvalidateCache(size_t offset, size_t length) override {
        return FSSequentialFileOwnerWrapper::InvalidateCache(offset + kFileHeaderBytes, length);
    }
    IOStatus PositionedRead(uint64_t offset, size_t n, const IOOptions& options, Slice* result,
                            char* scratch, IODebugContext* context) override {
        auto status = FSSequentialFileOwnerWrapper::PositionedRead(
            offset + kFileHeaderBytes, n, options, result, scratch, context);
        if (status.ok()) decrypt(*cipher_, offset, *result, scratch);
        return status;
    }

  private:
    const Cipher cipher_;
    uint64_t position_ = 0;
};

class RandomAccessFile final : public rocksdb::FSRandomAccessFileOwnerWrapper {
  public:
    RandomAccessFile(std::unique_ptr<rocksdb::FSRandomAccessFile> target, Cipher cipher)
        : FSRandomAccessFileOwnerWrapper(std::move(target)), cipher_(std::move(cipher)) {}

    IOStatus Read(uint64_t offset, size_t n, const IOOptions& options, Slice* result, char* scratch,
                  IODebugContext* context) const override {
        auto status = FSRandomAccessFileOwnerWrapper::Read(offset + kFileHeaderBytes, n, options,
                                                           result, scratch, context);
        if (status.ok()) decrypt(*cipher_, offset, *result, scratch);
        return status;
    }
    IOStatus MultiRead(FSReadRequest* requests, size_t count, const IOOptions& options,
                       IODebugContext* context) override {
        for (size_t i = 0; i < count; ++i) requests[i].offset += kFileHeaderBytes;
        auto status = FSRandomAccessFileOwnerWrapper::MultiRead(requests, count, options, context);
        for (size_t i = 0; i < count; ++i) {
            auto& one = requests[i];
            one.offset -= kFileHeaderBytes;
            if (status.ok() && one.status.ok())
                decrypt(*cipher_, one.offset, one.result, one.scratch);
        }
        return status;
    }
    IOStatus Prefetch(uint64_t offset, size_t n, const IOOptions& options,
                      IODebugContext* context) override {
        return FSRandomAccessFileOwnerWrapper::Prefetch(offset + kFileHeaderBytes, n, options,
                                                        context);
    }
    IOStatus InvalidateCache(size_t offset, size_t length) override {
        return FSRandomAccessFileOwnerWrapper::InvalidateCache(offset + kFileHeaderBytes, length);
    }
    /// Reads at once: what comes back later would have to be decrypted then.
    IOStatus ReadAsync(FSReadRequest& request, const IOOptions& options,
                       std::function<void(const FSReadRequest&, void*)> done, void* argument,
                       void** handle, rocksdb::IOHandleDeleter* deleter,
                       IODebugContext* context) override {
        return FSRandomAccessFile::ReadAsync(request, options, std::move(done), argument, handle,
                                             deleter, context);
    }

  private:
    const Cipher cipher_;
};

class WritableFile final : public rocksdb::FSWritableFileOwnerWrapper {
  public:
    WritableFile(std::unique_ptr<rocksdb::FSWritableFile> target, Cipher cipher, uint64_t position)
        : FSWritableFileOwnerWrapper(std::move(target)),
          cipher_(std::move(cipher)),
          position_(position) {}

    IOStatus Append(const Slice& data, const IOOptions& options, IODebugContext* context) override {
        // a part of what failed may be there, so that the next place is not known
        if (failed_) return IOStatus::IOError("an earlier write to the encrypted file failed");
        buffer_.assign(data.data(), data.size());
        cipher_->apply(position_, buffer_);
        auto status = FSWritableFileOwnerWrapper::Append(buffer_, options, context);
        failed_ = !status.ok();
        if (status.ok()) position_ += data.size();
        return status;
    }
    /// Leaves the checksum alone, which is that of the plain bytes.
    IOStatus Append(const Slice& data, const IOOptions& options,
                    const rocksdb::DataVerificationInfo&, IODebugContext* context) override {
        return Append(data, options, context);
    }
    IOStatus PositionedAppend(const Slice&, uint64_t, const IOOptions&, IODebugContext*) override {
        return IOStatus::NotSupported("encrypted files are written in order");
    }
    IOStatus PositionedAppend(const Slice&, uint64_t, const IOOptions&,
                              const rocksdb::DataVerificationInfo&, IODebugContext*) override {
        return IOStatus::NotSupported("encrypted files are written in order");
    }
    IOStatus Truncate(uint64_t size, const IOOptions& options, IODebugContext* context) override {
        auto status =
            FSWritableFileOwnerWrapper::Truncate(size + kFileHeaderBytes, options, context);
        if (status.ok()) position_ = size;
        return status;
    }
    /// Counts for itself: RocksDB's own counts from zero in a file that was opened again.
    uint64_t GetFileSize(const IOOptions&, IODebugContext*) override { return position_; }
    IOStatus InvalidateCache(size_t offset, size_t length) override {
        return FSWritableFileOwnerWrapper::InvalidateCache(offset + kFileHeaderBytes, length);
    }
    IOStatus RangeSync(uint64_t offset, uint64_t length, const IOOptions& options,
                       IODebugContext* context) override {
        return FSWritableFileOwnerWrapper::RangeSync(offset + kFileHeaderBytes, length, options,
                                                     context);
    }
    void PrepareWrite(size_t offset, size_t length, const IOOptions& options,
                      IODebugContext* context) override {
        FSWritableFileOwnerWrapper::PrepareWrite(offset + kFileHeaderBytes, length, options,
                                                 context);
    }
    IOStatus Allocate(uint64_t offset, uint64_t length, const IOOptions& options,
                      IODebugContext* context) override {
        return FSWritableFileOwnerWrapper::Allocate(offset + kFileHeaderBytes, length, options,
                                                    context);
    }

  private:
    const Cipher cipher_;
    uint64_t position_;  // in the content
    bool failed_ = false;
    std::string buffer_;
};

bool stays_plain(const std::string& path) {
    static constexpr std::array<std::string_view, 4> kNames{"CURRENT", "IDENTITY", "LOCK", "LOG"};
    const auto name = std::string_view(path).substr(path.rfind('/') + 1);
    return std::find(kNames.begin(), kNames.end(), name) != kNames.end() ||
           name.starts_with("OPTIONS-") || name.ends_with(".dbtmp");
}

/// What a file is, found out by its first bytes.
struct Found {
    FileHeader header;
    Cipher cipher;  // null: it is plain, or has no content yet
    bool encrypted() const { return header.kind != FileHeader::Kind::kPlain; }
};

class EncryptedFiles final : public rocksdb::FileSystemWrapper {
  public:
    EncryptedFiles(const std::shared_ptr<rocksdb::FileSystem>& target,
                   std::shared_ptr<const FileKeys> keys)
        : FileSystemWrapper(target), keys_(std::move(keys)) {}
    const char* Name() const override { return "rampart.EncryptedFiles"; }

    IOStatus NewSequentialFile(const std::string& path, const FileOptions& options,
                               std::unique_ptr<rocksdb::FSSequentialFile>* file,
                               IODebugContext* context) override {
        Found found;
        auto status = look(path, options, found, context);
        if (!status.ok()) return status;
        std::unique_ptr<rocksdb::FSSequentialFile> target;
        status = FileSystemWrapper::NewSequentialFile(path, options, &target, context);
        if (status.ok() && found.encrypted()) status = target->Skip(kFileHeaderBytes);
        if (!status.ok()) return status;
        if (found.encrypted())
            target = std::make_unique<SequentialFile>(std::move(target), cipher_or_none(found));
        *file = std::move(target);
        return status;
    }
    IOStatus NewRandomAccessFile(const std::string& path, const FileOptions& options,
                                 std::unique_ptr<rocksdb::FSRandomAccessFile>* file,
                                 IODebugContext* context) override {
        Found found;
        auto status = look(path, options, found, context);
        if (!status.ok()) return status;
        if (found.encrypted() && options.use_mmap_reads)
            return IOStatus::NotSupported("encrypted files cannot be mapped into memory", path);
        std::unique_ptr<rocksdb::FSRandomAccessFile> target;
        status = FileSystemWrapper::NewRandomAccessFile(path, options, &target, context);
        if (!status.ok()) return status;
        if (found.encrypted())
            target = std::make_unique<RandomAccessFile>(std::move(target), cipher_or_none(found));
        *file = std::move(target);
        return status;
    }
    IOStatus NewWritableFile(const std::string& path, const FileOptions& options,
                             std::unique_ptr<rocksdb::FSWritableFile>* file,
                             IODebugContext* context) override {
        if (!keys_->current || stays_plain(path))
            return FileSystemWrapper::NewWritableFile(path, options, file, context);
        std::unique_ptr<rocksdb::FSWritableFile> target;
        auto status = FileSystemWrapper::NewWritableFile(path, buffered(options), &target, context);
        return status.ok() ? begin(path, options, std::move(target), file, context) : status;
    }
    IOStatus ReopenWritableFile(const std::string& path, const FileOptions& options,
                                std::unique_ptr<rocksdb::FSWritableFile>* file,
                                IODebugContext* context) override {
        Found found;
        auto status = look(path, options, found, context);
        uint64_t size = 0;
        if (status.ok())
            status = FileSystemWrapper::GetFileSize(path, options.io_options, &size, context);
        if (!status.ok() && !missing(path, options, context)) return status;
        // without content there is nothing to go on with
        if (!status.ok() || size == 0 || found.header.kind == FileHeader::Kind::kCutOff)
            return NewWritableFile(path, options, file, context);
        std::unique_ptr<rocksdb::FSWritableFile> target;
        status = FileSystemWrapper::ReopenWritableFile(path, buffered(options), &target, context);
        if (!status.ok()) return status;
        if (found.cipher)
            target = std::make_unique<WritableFile>(std::move(target), found.cipher,
                                                    size - kFileHeaderBytes);
        *file = std::move(target);
        return status;
    }
    /// Begins a file under the new name: bytes of the one before would be under the same key.
    IOStatus ReuseWritableFile(const std::string& path, const std::string& before,
                               const FileOptions& options,
                               std::unique_ptr<rocksdb::FSWritableFile>* file,
                               IODebugContext* context) override {
        auto status = FileSystemWrapper::DeleteFile(before, options.io_options, context);
        return status.ok() ? NewWritableFile(path, options, file, context) : status;
    }
    /// Refuses: to write a place twice would show what the two contents differ in.
    IOStatus NewRandomRWFile(const std::string& path, const FileOptions& options,
                             std::unique_ptr<rocksdb::FSRandomRWFile>* file,
                             IODebugContext* context) override {
        Found found;
        const auto status = look(path, options, found, context);
        if (!status.ok() && !missing(path, options, context)) return status;
        if (found.encrypted() || (keys_->current && !stays_plain(path)))
            return IOStatus::NotSupported("encrypted files are written once", path);
        return FileSystemWrapper::NewRandomRWFile(path, options, file, context);
    }
    IOStatus NewMemoryMappedFileBuffer(
        const std::string& path,
        std::unique_ptr<rocksdb::MemoryMappedFileBuffer>* result) override {
        if (keys_->current)
            return IOStatus::NotSupported("encrypted files cannot be mapped into memory", path);
        return FileSystemWrapper::NewMemoryMappedFileBuffer(path, result);
    }
    IOStatus Truncate(const std::string& path, size_t size, const IOOptions& options,
                      IODebugContext* context) override {
        Found found;
        const auto status = look(path, FileOptions(), found, context);
        if (!status.ok()) return status;
        return FileSystemWrapper::Truncate(path, size + (found.cipher ? kFileHeaderBytes : 0),
                                           options, context);
    }
    IOStatus GetFileSize(const std::string& path, const IOOptions& options, uint64_t* size,
                         IODebugContext* context) override {
        auto status = FileSystemWrapper::GetFileSize(path, options, size, context);
        if (!status.ok() || *size == 0) return status;
        Found found;
        status = look(path, FileOptions(), found, context);
        if (status.ok() && found.encrypted())
            *size = *size < kFileHeaderBytes ? 0 : *size - kFileHeaderBytes;
        return status;
    }
    IOStatus GetChildrenFileAttributes(const std::string& folder, const IOOptions& options,
                                       std::vector<rocksdb::FileAttributes>* result,
                                       IODebugContext* context) override {
        return FileSystem::GetChildrenFileAttributes(folder, options, result, context);
    }

  private:
    /// Returns options under which bytes come in order and unaligned: only such are encrypted.
    static FileOptions buffered(FileOptions options) {
        options.use_direct_writes = false;
        options.use_mmap_writes = false;
        return options;
    }
    bool missing(const std::string& path, const FileOptions& options, IODebugContext* context) {
        return FileSystemWrapper::FileExists(path, options.io_options, context).IsNotFound();
    }
    /// Returns any cipher for a file that was cut off in its header: nothing of it is read.
    static Cipher cipher_or_none(const Found& found) {
        if (found.cipher) return found.cipher;
        return std::make_shared<const base::StreamCipher>(std::string(kFileKeyBytes, '\0'));
    }
    IOStatus begin(const std::string& path, const FileOptions& options,
                   std::unique_ptr<rocksdb::FSWritableFile> target,
                   std::unique_ptr<rocksdb::FSWritableFile>* file, IODebugContext* context) {
        const auto header = make_header(*keys_->current);
        auto status = target->Append(header, options.io_options, context);
        // The header of a log is there before what comes behind it; of tables and manifests all is
        // synced before they count.
        if (status.ok() && path.ends_with(".log"))
            status = target->Sync(options.io_options, context);
        if (!status.ok()) return status;
        *file = std::make_unique<WritableFile>(std::move(target),
                                               cipher_of(header, *keys_->current), 0);
        return status;
    }
    IOStatus look(const std::string& path, const FileOptions& options, Found& found,
                  IODebugContext* context) {
        std::unique_ptr<rocksdb::FSRandomAccessFile> file;
        auto status = FileSystemWrapper::NewRandomAccessFile(path, FileOptions(), &file, context);
        if (!status.ok()) return status;
        std::string buffer(kFileHeaderBytes, '\0');
        Slice read;
        status = file->Read(0, buffer.size(), options.io_options, &read, buffer.data(), context);
        if (!status.ok()) return status;
        const std::string_view begin(read.data(), read.size());
        found.header = read_header(begin);
        if (found.header.kind == FileHeader::Kind::kDamaged)
            return IOStatus::Corruption(std::string(kBadHeaderText), path);
        if (found.header.kind != FileHeader::Kind::kWhole) return status;
        const auto* key = find_key(*keys_, found.header.key_id);
        if (key == nullptr)
            return IOStatus::InvalidArgument(
                path, fmt::format("{} {}, which is not there", kNoKeyText, found.header.key_id));
        found.cipher = cipher_of(begin, *key);
        return found.cipher ? status : IOStatus::Corruption(std::string(kBadHeaderText), path);
    }

    const std::shared_ptr<const FileKeys> keys_;
};

/// An Env all of whose calls go to the files, also those that RocksDB makes past the file system.
class EncryptedEnv final : public rocksdb::EnvWrapper {
  public:
    EncryptedEnv(std::shared_ptr<rocksdb::Env> base, std::unique_ptr<rocksdb::Env> files)
        : EnvWrapper(files.get()), base_(std::move(base)), files_(std::move(files)) {
        file_system_ = files_->GetFileSystem();
        system_clock_ = base_->GetSystemClock();
    }
    const char* Name() const override { return "rampart.EncryptedEnv"; }

  private:
    std::shared_ptr<rocksdb::Env> base_;
    std::unique_ptr<rocksdb::Env> files_;
};

}  // namespace

std::shared_ptr<rocksdb::Env> with_encryption(std::shared_ptr<rocksdb::Env> base,
                                              std::shared_ptr<const FileKeys> keys) {
    if (!base) base = {rocksdb::Env::Default(), [](rocksdb::Env*) {}};
    auto files = std::make_shared<EncryptedFiles>(base->GetFileSystem(), std::move(keys));
    return std::make_shared<EncryptedEnv>(std::move(base), rocksdb::NewCompositeEnv(files));
}

}  // namespace rampart::storage

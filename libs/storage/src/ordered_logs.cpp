#include "ordered_logs.hpp"

#include <rocksdb/file_system.h>

#include <mutex>

namespace rampart::storage {
namespace {

using rocksdb::IODebugContext;
using rocksdb::IOOptions;
using rocksdb::IOStatus;

class LogFile;

/// The log that is written at present.
struct Latest {
    std::mutex mutex;
    LogFile* file = nullptr;
};

class LogFile final : public rocksdb::FSWritableFileOwnerWrapper {
  public:
    LogFile(std::unique_ptr<rocksdb::FSWritableFile> target, std::shared_ptr<Latest> latest)
        : FSWritableFileOwnerWrapper(std::move(target)), latest_(std::move(latest)) {}
    ~LogFile() override {
        const std::lock_guard lock(latest_->mutex);
        if (latest_->file == this) latest_->file = nullptr;
    }

  private:
    std::shared_ptr<Latest> latest_;
};

class OrderedLogs final : public rocksdb::FileSystemWrapper {
  public:
    explicit OrderedLogs(const std::shared_ptr<rocksdb::FileSystem>& target)
        : FileSystemWrapper(target), latest_(std::make_shared<Latest>()) {}
    const char* Name() const override { return "rampart.OrderedLogs"; }

    IOStatus NewWritableFile(const std::string& path, const rocksdb::FileOptions& options,
                             std::unique_ptr<rocksdb::FSWritableFile>* file,
                             IODebugContext* context) override {
        if (!path.ends_with(".log")) {
            return FileSystemWrapper::NewWritableFile(path, options, file, context);
        }
        const std::lock_guard lock(latest_->mutex);
        if (latest_->file != nullptr) {
            auto synced = latest_->file->Sync(IOOptions(), context);
            if (!synced.ok()) return synced;
        }
        std::unique_ptr<rocksdb::FSWritableFile> target;
        auto made = FileSystemWrapper::NewWritableFile(path, options, &target, context);
        if (!made.ok()) return made;
        auto log = std::make_unique<LogFile>(std::move(target), latest_);
        latest_->file = log.get();
        *file = std::move(log);
        return made;
    }

  private:
    std::shared_ptr<Latest> latest_;
};

class OrderedEnv final : public rocksdb::EnvWrapper {
  public:
    explicit OrderedEnv(std::shared_ptr<rocksdb::Env> base)
        : EnvWrapper(base.get()), base_(std::move(base)) {
        file_system_ = std::make_shared<OrderedLogs>(target()->GetFileSystem());
        system_clock_ = target()->GetSystemClock();
    }
    const char* Name() const override { return "rampart.OrderedEnv"; }

  private:
    std::shared_ptr<rocksdb::Env> base_;
};

}  // namespace

std::shared_ptr<rocksdb::Env> with_ordered_logs(std::shared_ptr<rocksdb::Env> base) {
    if (!base) base = {rocksdb::Env::Default(), [](rocksdb::Env*) {}};
    return std::make_shared<OrderedEnv>(std::move(base));
}

}  // namespace rampart::storage

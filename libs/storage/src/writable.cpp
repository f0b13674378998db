#include "rampart/storage/writable.hpp"

#include <algorithm>
#include <mutex>
#include <string>
#include <vector>

#include "errors.hpp"
#include "rampart/storage/reasons.hpp"
#include "stop_listener.hpp"

namespace rampart::storage {
namespace {

struct Stopped {
    const void* who;
    std::string path, why;
};
std::mutex stopped_mutex;
std::vector<Stopped> stopped;  // in the order in which they did

class StopListener final : public rocksdb::EventListener {
  public:
    StopListener(std::string path, std::shared_ptr<DamageNote> damage, bool derived)
        : path_(std::move(path)), damage_(std::move(damage)), derived_(derived) {}
    ~StopListener() override {
        const std::lock_guard lock(stopped_mutex);
        std::erase_if(stopped, [this](const Stopped& one) { return one.who == this; });
    }

    void OnBackgroundError(rocksdb::BackgroundErrorReason reason,
                           rocksdb::Status* status) override {
        const base::Error error = map_error(*status, path_, "work on");
        damage_->take(error);
        if (derived_ && is_damage(error)) return;
        const bool of_log = reason == rocksdb::BackgroundErrorReason::kWriteCallback;
        if (!of_log && status->severity() < rocksdb::Status::Severity::kFatalError) return;
        const std::lock_guard lock(stopped_mutex);
        const bool known = std::any_of(stopped.begin(), stopped.end(),
                                       [this](const Stopped& one) { return one.who == this; });
        if (!known) stopped.push_back({this, path_, status->ToString()});
    }

    /// RocksDB 7.8 would try to go on by itself when a write-ahead log that had no room has room
    /// again, and aborts the process on an assertion of its own. Failed flushes and compactions for
    /// want of room it does mend.
    void OnErrorRecoveryBegin(rocksdb::BackgroundErrorReason reason, rocksdb::Status,
                              bool* auto_recovery) override {
        if (reason == rocksdb::BackgroundErrorReason::kWriteCallback) *auto_recovery = false;
    }

  private:
    const std::string path_;
    const std::shared_ptr<DamageNote> damage_;
    const bool derived_;
};

}  // namespace

std::shared_ptr<rocksdb::EventListener> stop_listener(const std::filesystem::path& path,
                                                      std::shared_ptr<DamageNote> damage,
                                                      bool derived) {
    return std::make_shared<StopListener>(path.string(), std::move(damage), derived);
}

base::Status all_writable() {
    const std::lock_guard lock(stopped_mutex);
    if (stopped.empty()) return base::ok();
    const auto& first = stopped.front();
    return base::make_error(Reason::kDatabaseStopped,
                            "database '{}' takes no more writes until it is opened anew: {}; what "
                            "was acknowledged is safe: mend the cause, and start this program "
                            "again",
                            first.path, first.why);
}

}  // namespace rampart::storage

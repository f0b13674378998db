#include "rocksdb_log.hpp"

#include <array>
#include <cstdarg>
#include <cstdio>
#include <string>
#include <string_view>

#include "rampart/base/log.hpp"

namespace rampart::storage {
namespace {

constexpr base::Logger kLog("storage");

class RocksdbLog final : public rocksdb::Logger {
  public:
    explicit RocksdbLog(std::string path)
        : rocksdb::Logger(rocksdb::InfoLogLevel::WARN_LEVEL), path_(std::move(path)) {}

    using rocksdb::Logger::Logv;
    void Logv(const char* format, va_list arguments) override {
        Logv(rocksdb::InfoLogLevel::INFO_LEVEL, format, arguments);
    }
    void Logv(const rocksdb::InfoLogLevel level, const char* format, va_list arguments) override {
        using enum rocksdb::InfoLogLevel;
        const bool error = level == ERROR_LEVEL || level == FATAL_LEVEL;
        if (!error && level != WARN_LEVEL) return;  // headers are beyond the highest level
        std::array<char, 1024> text{};
        std::vsnprintf(text.data(), text.size(), format, arguments);
        std::string_view line(text.data());
        while (line.ends_with('\n')) line.remove_suffix(1);
        if (error)
            kLog.error("msg=\"{}\" database={}", line, path_);
        else
            kLog.debug("msg=\"{}\" database={}", line, path_);
    }

  private:
    const std::string path_;
};

}  // namespace

std::shared_ptr<rocksdb::Logger> rocksdb_log(const std::filesystem::path& path) {
    return std::make_shared<RocksdbLog>(path.string());
}

}  // namespace rampart::storage

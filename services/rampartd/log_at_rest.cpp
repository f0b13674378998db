#include "services/rampartd/log_at_rest.hpp"

#include "rampart/runtime/secrets.hpp"
#include "rampart/storage/folder.hpp"

namespace rampart::rampartd {

base::Result<LogAtRest> LogAtRest::open(const std::filesystem::path& store,
                                        std::string decisions_topic) {
    LogAtRest at_rest;
    RAMPART_TRY(at_rest.log_, streaming_local::LocalLog::open_read_only(store / "log"));
    const auto keys = store / "privacy" / "keys", secret_file = store / "keys" / "person";
    std::error_code ignored;  // then it is not there
    if (!storage::is_database(keys) || !std::filesystem::exists(secret_file, ignored)) {
        return at_rest;
    }
    RAMPART_TRY(auto secret, runtime::load_secret(secret_file));
    RAMPART_TRY(at_rest.keys_, privacy::PersonKeys::open_read_only(keys, std::move(secret)));
    at_rest.opened_ = std::make_unique<sealed_log::SealedReader>(*at_rest.log_, *at_rest.keys_,
                                                                 std::move(decisions_topic));
    return at_rest;
}

const streaming::Reader& LogAtRest::reader() const {
    return opened_ ? static_cast<const streaming::Reader&>(*opened_) : *log_;
}

}  // namespace rampart::rampartd

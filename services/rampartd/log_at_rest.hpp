#pragma once

#include <filesystem>
#include <memory>

#include "rampart/privacy/person_keys.hpp"
#include "rampart/sealed_log/sealed_log.hpp"
#include "rampart/streaming_local/local_log.hpp"

namespace rampart::rampartd {

/// The embedded log of a store, for looking at while a service may have it open. Sealed decisions
/// are opened if the store has the keys, and the secret `keys/person` that they are wrapped with.
class LogAtRest {
  public:
    /// `decisions_topic`: what that topic is called in this store. Errors:
    /// LocalLog::open_read_only's, PersonKeys::open_read_only's.
    static base::Result<LogAtRest> open(const std::filesystem::path& store,
                                        std::string decisions_topic);

    const streaming::Reader& reader() const;

  private:
    std::unique_ptr<streaming_local::LocalLog> log_;
    std::unique_ptr<privacy::PersonKeys> keys_;
    std::unique_ptr<sealed_log::SealedReader> opened_;  // nullptr: there are no keys
};

}  // namespace rampart::rampartd

#pragma once

#include <rocksdb/listener.h>

#include <filesystem>
#include <memory>

#include "damage_note.hpp"

namespace rampart::storage {

/// Notifies all_writable() when the database at `path` stops, and when it is gone. Damage goes to
/// `damage`; where the database is `derived`, it is not called.
std::shared_ptr<rocksdb::EventListener> stop_listener(const std::filesystem::path& path,
                                                      std::shared_ptr<DamageNote> damage,
                                                      bool derived);

}  // namespace rampart::storage

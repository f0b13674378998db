#include "services/decision_service/settings.hpp"

#include "rampart/config/table.hpp"

namespace rampart::decision_service {

base::Result<Settings> load_settings(const std::filesystem::path& file) {
    RAMPART_TRY(auto root, config::parse_file(file));
    const auto path = [&](std::string_view key) { return file.parent_path() / root.string(key); };
    Settings settings;
    settings.store = path("store");
    settings.product = path("product");
    settings.registry = path("registry");
    settings.registry_poll =
        base::Duration::seconds(root.integer("registry_poll_seconds", 1, 3600, 5));
    settings.partitions = static_cast<int32_t>(root.integer("partitions", 1, 1024, 4));
    settings.exploration_per_day =
        static_cast<uint64_t>(root.integer("exploration_per_day", 0, 1'000'000'000, 1000));
    settings.cool_off_days = static_cast<int>(
        root.integer("cool_off_days", 1, domain::kMaxCoolOffDays, domain::kDefaultCoolOffDays));
    settings.event_window = serving::read_event_window(root.table("event_time"));
    auto http = root.table("http");
    settings.http.address = http.string("address", "127.0.0.1");
    settings.http.port = static_cast<uint16_t>(http.integer("port", 0, 65535, 8080));
    const auto count = [&](const char* key, int64_t most, size_t usual) {
        return static_cast<size_t>(http.integer(key, 1, most, static_cast<int64_t>(usual)));
    };
    settings.http.threads = count("threads", 256, settings.http.threads);
    settings.http.max_connections =
        count("max_connections", 1'000'000, settings.http.max_connections);
    RAMPART_RETURN_IF_ERROR(root.finish());
    return settings;
}

}  // namespace rampart::decision_service

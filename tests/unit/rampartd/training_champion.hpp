#pragma once

#include <filesystem>

#include "unit/rampartd/followed_champion.hpp"

namespace rampart::rampartd {

/// Has the right to train.
class TrainingChampion : public FollowedChampion {
  protected:
    TrainingChampion() {
        stores_.log.create("leases", 1);
        EXPECT_TRUE((*lease_)->claim());
    }
    ~TrainingChampion() override { std::filesystem::remove(file_); }
    /// Lets a node that has declared `features` decide, and publish its champion.
    void trains_with(ChampionSwitch& trains, const std::string& features) {
        trains.publish_by({log, log, "policies", key_}, **lease_, features);
        trains.follow({log, "policies", {key_.public_key()}}, true, served_);
    }

    support::MemoryLog& log = stores_.log;
    const lease::SteadyTimer timer_{[](base::Duration) { return false; }};
    const std::filesystem::path file_ =
        std::filesystem::path(testing::TempDir()) / ("seat" + base::to_hex(base::random_bytes(8)));
    const base::Result<std::unique_ptr<lease::TrainerLease>> lease_ =
        lease::TrainerLease::create({"leases", "g", "a", base::Duration::seconds(9)},
                                    {stores_.log, stores_.log, stores_.service.clock, timer_},
                                    file_, [] { return uint64_t{0}; });
    support::SmallService trainer_{service_log_};
};

}  // namespace rampart::rampartd

#pragma once

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "node_answers.hpp"
#include "two_nodes.hpp"

namespace rampart::rampartd {

/// Configuration of a node that follows the champion of the learner.
inline const std::string kFollows =
    "enabled = false\ngate_key = \"../learner/store/gate.pub.pem\"\n";

class RolesOnABroker : public TwoNodes {
  protected:
    Settings with_roles(const std::string& name, const std::string& roles,
                        const std::string& partitions, const std::string& training) {
        static_cast<void>(settings(name, partitions, training));
        auto loaded = load_settings(folder_ / name / "rampartd.toml", roles);
        EXPECT_TRUE(loaded) << loaded.error().message;
        loaded->privacy.retention_months = 0;
        return *std::move(loaded);
    }
    Settings learning() { return with_roles("learner", "join,train,monitor", "", ""); }
    Settings decider(const std::string& name, const std::string& own) {
        return with_roles(name, "decide", "own = " + own, kFollows);
    }
    /// Returns the databases in the folder of partitions, as "PARTITION/NAME".
    std::set<std::string> databases(const std::string& name) const {
        std::set<std::string> found;
        const auto partitions = folder_ / name / "store" / "partitions";
        if (!fs::exists(partitions)) return found;
        for (const auto& partition : fs::directory_iterator(partitions))
            for (const auto& one : fs::directory_iterator(partition.path()))
                found.insert((partition.path().filename() / one.path().filename()).string());
        return found;
    }
    std::string read_records(const std::string& topic) const {
        return "rampart_log_read_records_total{topic=\"" + prefix_ + topic + "\"}";
    }
};

}  // namespace rampart::rampartd

#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "rampart/base/digest.hpp"
#include "support/loan_makers.hpp"
#include "support/memory_log.hpp"

/// A topic of decisions in memory and a folder, for tests of what is kept of them.
namespace rampart::support {

class DecisionTopic : public testing::Test {
  protected:
    static constexpr int32_t kPartitions = 2;
    DecisionTopic() { log_.create("decisions", kPartitions); }
    ~DecisionTopic() override { std::filesystem::remove_all(folder_); }

    /// Returns the n-th decision whose id belongs to the partition.
    static domain::Decision decision(int n, streaming::PartitionId partition) {
        for (int i = 0;; ++i) {
            auto one = make_decision(std::to_string(i), day(i));
            if (streaming::partition_of(one.id.value(), kPartitions) != partition) continue;
            if (n-- == 0) return one;
        }
    }

    const std::filesystem::path folder_ = std::filesystem::path(testing::TempDir()) /
                                          ("decisions" + base::to_hex(base::random_bytes(8)));
    MemoryLog log_;
};

}  // namespace rampart::support

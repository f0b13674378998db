#include "services/decision_service/files_needed.hpp"

#include <gtest/gtest.h>

#include <numeric>

namespace rampart::decision_service {
namespace {

uint64_t total(const FilePlan& plan) {
    return std::accumulate(plan.needs.begin(), plan.needs.end(), uint64_t{0},
                           [](uint64_t sum, const auto& need) { return sum + need.count; });
}

TEST(FilesNeeded, AllDatabasesFitWhateverTheHardLimitAsLongAsItCanBe) {
    const http::ServerOptions http;
    for (const size_t partitions : {4, 64, 256}) {
        const size_t databases = 2 * partitions + 6;
        const auto least = plan_files(databases, http, {{"Kafka", 256}}, 1024);
        EXPECT_EQ(least.tables, 16);
        EXPECT_LT(total(least), 32 * databases + 2000);
        const auto just = plan_files(databases, http, {{"Kafka", 256}}, total(least));
        EXPECT_EQ(total(just), total(least));
        const auto middle = plan_files(databases, http, {{"Kafka", 256}}, 3 * total(least));
        EXPECT_GT(middle.tables, 16);
        EXPECT_LE(total(middle), 3 * total(least));
        EXPECT_EQ(plan_files(databases, http, {}, 1 << 20).tables, 256);
    }
    // what Debian and containers allow
    EXPECT_LE(total(plan_files(2 * 64 + 6, http, {{"Kafka", 256}}, 20'000)), 20'000u);
    EXPECT_LE(total(plan_files(2 * 256 + 6, http, {{"Kafka", 256}}, 20'000)), 20'000u);
}

}  // namespace
}  // namespace rampart::decision_service

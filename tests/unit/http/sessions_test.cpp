// A part of the server that it keeps to itself.
#include "sessions.hpp"

#include <gtest/gtest.h>

namespace rampart::http {
namespace {

/// Leaves the list when it ends, as a session does; another owner may let go of it at any moment,
/// here while it is looked at.
struct Watched {
    OpenSessions<Watched>& open;
    std::shared_ptr<Watched> owner{};
    int64_t since = 0;
    bool ends = false;

    ~Watched() { open.remove(this); }
    bool may_close() {
        if (ends) owner.reset();
        return since > 0;
    }
    bool closes_before(const Watched& other) const { return since < other.since; }
};

void add(OpenSessions<Watched>& open, int64_t since, bool ends) {
    auto session = std::make_shared<Watched>(Watched{open});
    session->since = since;
    session->ends = ends;
    session->owner = session;
    open.add(session);
}

TEST(OpenSessions, TheOneThatHasWaitedForLongestIsFoundWhileOthersEnd) {
    OpenSessions<Watched> open;
    for (const int64_t since : {3, 0, 2, 5}) add(open, since, since != 2);
    {
        const auto found = open.one_that_waits();
        ASSERT_NE(found, nullptr);
        EXPECT_EQ(found->since, 2);
        EXPECT_EQ(open.count(), 1u) << "those that ended meanwhile have left";
        found->ends = true;
        EXPECT_EQ(open.one_that_waits(), found);
    }
    EXPECT_TRUE(open.wait_for_none(std::chrono::microseconds(1)));
    EXPECT_EQ(open.one_that_waits(), nullptr);
}

}  // namespace
}  // namespace rampart::http

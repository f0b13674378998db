#include "rampart/access/sessions.hpp"

#include <gtest/gtest.h>

#include "rampart/access/reasons.hpp"

namespace rampart::access {
namespace {

class SetClock final : public base::Clock {
  public:
    base::TimePoint now() const override { return now_; }
    base::TimePoint now_ = base::parse_iso8601("2026-11-28T10:00:00Z").value();
};

/// Knows tokens "t1" … of principals "p1" …, as long as they are not revoked, and one certificate.
class Callers final : public Authenticator {
  public:
    base::Result<Principal> identify(const Caller& caller) const override {
        if (caller.address == "10.0.0.9")
            return base::make_error(Reason::kAddressNotAllowed, "not from there");
        if (caller.token == bound && caller.certificate != "DNS:desk")
            return base::make_error(Reason::kUnauthenticated, "without its certificate");
        if (caller.token.starts_with("t") && caller.token != revoked)
            return Principal{"p" + std::string(caller.token.substr(1)), scopes};
        if (caller.token.empty() && caller.certificate == "DNS:desk") return Principal{"desk", {}};
        return base::make_error(Reason::kUnauthenticated, "unknown");
    }
    std::string revoked, bound = "none";
    Scopes scopes{Scope::kRead};
};

class SessionsTest : public testing::Test {
  protected:
    Caller with(const OpenedSession& opened) { return {.session = opened.id}; }
    Caller writing(const OpenedSession& opened, std::string_view key) {
        return {.session = opened.id, .write_key = key, .writes = true};
    }
    std::string why(const Caller& caller) {
        const auto known = sessions_.identify(caller);
        return known ? "" : std::string(known.error().reason);
    }
    SetClock clock_;
    std::shared_ptr<Callers> callers_ = std::make_shared<Callers>();
    Sessions sessions_{callers_, clock_};
};

TEST_F(SessionsTest, StandsForTheTokenWithTheScopesOfNow) {
    const auto opened = sessions_.open({.token = "t1"}).value();
    EXPECT_EQ(opened.id.size(), 64u);
    EXPECT_NE(opened.id, opened.session.write_key);
    EXPECT_NE(opened.id, sessions_.open({.token = "t1"})->id);
    auto known = sessions_.identify(with(opened)).value();
    EXPECT_EQ(known.name, "p1");
    EXPECT_FALSE(known.scopes.has(Scope::kAudit));
    callers_->scopes.add(Scope::kAudit);
    EXPECT_TRUE(sessions_.identify(with(opened))->scopes.has(Scope::kAudit));
    EXPECT_EQ(sessions_.session_of(with(opened))->ends, clock_.now_ + kSessionLife);
}

TEST_F(SessionsTest, AWrongTokenOpensNone) {
    EXPECT_TRUE(sessions_.open({.token = "x"}).error().is(Reason::kUnauthenticated));
    EXPECT_TRUE(sessions_.open({}).error().is(Reason::kUnauthenticated));
    // nor does a session open another
    const auto opened = sessions_.open({.token = "t1"}).value();
    EXPECT_TRUE(sessions_.open(with(opened)).error().is(Reason::kUnauthenticated));
}

TEST_F(SessionsTest, ATokenGoesBeforeASession) {
    const auto opened = sessions_.open({.token = "t1"}).value();
    EXPECT_EQ(sessions_.identify({.token = "t2", .session = opened.id})->name, "p2");
    EXPECT_EQ(why({.token = "x", .session = opened.id}), "unauthenticated");
}

TEST_F(SessionsTest, AChangeNeedsTheWriteKey) {
    const auto opened = sessions_.open({.token = "t1"}).value();
    const auto other = sessions_.open({.token = "t1"}).value();
    EXPECT_EQ(why(writing(opened, "")), "write_key_missing");
    EXPECT_EQ(why(writing(opened, other.session.write_key)), "write_key_missing");
    EXPECT_EQ(why(writing(opened, opened.session.write_key)), "");
    EXPECT_TRUE(sessions_.close(writing(opened, "")).error().is(Reason::kWriteKeyMissing));
    EXPECT_EQ(why(with(opened)), "");
}

TEST_F(SessionsTest, EndsWhenItIsClosedOrItsTokenIsRevoked) {
    const auto one = sessions_.open({.token = "t1"}).value();
    const auto two = sessions_.open({.token = "t2"}).value();
    EXPECT_TRUE(sessions_.close(writing(one, one.session.write_key)));
    EXPECT_EQ(why(with(one)), "session_ended");
    EXPECT_EQ(why(with(two)), "");
    callers_->revoked = "t2";
    EXPECT_EQ(why(with(two)), "session_ended");
    callers_->revoked = "";
    EXPECT_EQ(why(with(two)), "session_ended") << "it does not come back";
    EXPECT_EQ(why({.session = "guess"}), "session_ended");
}

TEST_F(SessionsTest, EndsByTime) {
    const auto opened = sessions_.open({.token = "t1"}).value();
    const auto idle = sessions_.open({.token = "t1"}).value();
    const auto step = base::Duration::seconds(kSessionIdle.micros() / 1'000'000 - 1);
    const auto start = clock_.now_;
    while (clock_.now_ + step < start + kSessionLife) {
        clock_.now_ = clock_.now_ + step;
        ASSERT_EQ(why(with(opened)), "");
    }
    EXPECT_EQ(why(with(idle)), "session_ended");
    clock_.now_ = start + kSessionLife;
    EXPECT_EQ(why(with(opened)), "session_ended") << "however much it is used";
}

TEST_F(SessionsTest, AnAddressThatIsNotAllowedEndsNoSession) {
    const auto opened = sessions_.open({.token = "t1"}).value();
    EXPECT_EQ(why({.address = "10.0.0.9", .session = opened.id}), "address_not_allowed");
    EXPECT_EQ(why(with(opened)), "");
}

TEST_F(SessionsTest, OfACertificateNeedsTheCertificate) {
    const auto opened = sessions_.open({.certificate = "DNS:desk"}).value();
    EXPECT_EQ(sessions_.identify({.certificate = "DNS:desk", .session = opened.id})->name, "desk");
    EXPECT_EQ(why(with(opened)), "session_ended");
}

TEST_F(SessionsTest, OfATokenThatIsBoundToACertificateNeedsItToo) {
    callers_->bound = "t3";
    const auto opened = sessions_.open({.token = "t3", .certificate = "DNS:desk"}).value();
    const auto known = sessions_.identify({.certificate = "DNS:desk", .session = opened.id});
    ASSERT_TRUE(known) << known.error().message;
    EXPECT_EQ(known->name, "p3");
    EXPECT_EQ(why(with(opened)), "session_ended");
}

TEST_F(SessionsTest, TheirNumberIsBounded) {
    const auto first = sessions_.open({.token = "t1"}).value();
    clock_.now_ = clock_.now_ + base::Duration::seconds(1);
    for (size_t i = 1; i < kMostSessionsOfPrincipal; ++i)
        ASSERT_TRUE(sessions_.open({.token = "t1"}));
    clock_.now_ = clock_.now_ + base::Duration::seconds(1);
    EXPECT_EQ(why(with(first)), "");
    clock_.now_ = clock_.now_ + base::Duration::seconds(1);
    for (size_t i = 1; i < kMostSessionsOfPrincipal; ++i)
        ASSERT_TRUE(sessions_.open({.token = "t1"}));
    EXPECT_EQ(why(with(first)), "") << "the others were not used for longer";
    size_t others = 0;
    while (sessions_.open({.token = fmt::format("t{}", 2 + others)})) ++others;
    EXPECT_EQ(others, kMostSessions - kMostSessionsOfPrincipal);
    EXPECT_TRUE(sessions_.open({.token = "t0"}).error().is(Reason::kTooManySessions));
    clock_.now_ = clock_.now_ + kSessionLife;
    EXPECT_TRUE(sessions_.open({.token = "t0"})) << "those that are over leave room";
}

}  // namespace
}  // namespace rampart::access

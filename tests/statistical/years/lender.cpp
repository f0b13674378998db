#include "statistical/years/lender.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "rampart/base/digest.hpp"
#include "rampart/base/file.hpp"
#include "rampart/protected_attributes/codec.hpp"

namespace rampart::years {
namespace {

using base::Duration;
using base::Status;
using base::TimePoint;
namespace fs = std::filesystem;

constexpr double kReturning = 0.2;  // share of the applications; half of them after a decline
constexpr double kLateSex = 0.05, kNoSex = 0.02;  // shares of the persons
constexpr double kLateReport = 0.005, kNoReport = 0.003, kCorrected = 0.01;
constexpr double kErasure = 0.4, kCrash = 0.2, kReopening = 0.2;  // shares of the weeks

constexpr std::string_view kProduct = R"(name = "years"
[label]
name = "repaid"
horizon_months = 2
grace_days = 10
[impact]
units = "points"
lo = -150
hi = 75
favourable = 75
unfavourable = -150
declined = 0
[[attribute]]
name = "sex"
values = ["female", "male"]
[bootstrap]
feature = "score"
points = [[-1, 0.4], [1, 0.6]]
missing = 0.5
)";

constexpr std::string_view kSchema = R"(label = "repaid"
favourable = "1"
[[feature]]
name = "score"
kind = "numeric"
[[feature]]
name = "income"
kind = "numeric"
)";

// service's defaults but for times (two months to an outcome), small trees, and the weekly runs: a
// run is due once half of a week's decisions have matured
constexpr std::string_view kConfig = R"(product = "product.toml"
schema = "schema.toml"
store = "store"
[http]
port = 0
[clock]
mode = "event"
[event_time]
max_age_days = 40
max_ahead_days = 8
[privacy]
retention_months = 3
[training]
seed = {seed}
threads = 1
every_months = 0
every_matured = {every}
min_examples = 200
trees = 40
leaves = 7
[gate]
commit_log = false
min_power = {min_power}
look_again = {look_again}
[monitor]
action = "{action}"
)";

base::Error failure(std::string_view what, std::string message) {
    return base::Error{base::ErrorCode::kInternal, "years", fmt::format("{}: {}", what, message)};
}

/// Adds the step to an error, so that a failed life says where it ended.
Status in_step(const Status& status, std::string_view step, int week) {
    if (status) return status;
    return status.error().with_context(fmt::format("week {}, {}", week, step));
}

}  // namespace

Life life_of(uint64_t seed) {
    Life life;
    life.seed = seed;
    life.world = kWorlds[(seed - 1) % 4];
    const uint64_t variant = (seed - 1) / 4;
    life.look_again = variant % 2 == 1;
    life.min_power = variant / 2 % 2 == 0 ? 0.5 : 0;
    return life;
}

Status advance_once(const fs::path& config, TimePoint to) {
    RAMPART_TRY(auto settings, rampartd::load_settings(config));
    RAMPART_TRY(const auto node, rampartd::Node::open(std::move(settings)));
    return node->advance(to);
}

Lender::Lender(Life life, fs::path folder)
    : life_(life),
      folder_(std::move(folder)),
      start_(base::parse_iso8601("2020-01-02").value()),  // weeks begin when the monitor looks
      random_(base::mix64(life.seed)),
      chaos_(base::mix64(life.seed ^ 0xC4A05)) {}

Lender::~Lender() {
    node_.reset();
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
}

Status Lender::write_files() {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
    fs::create_directories(folder_ / "store" / "keys", ignored);
    for (const char* name : {"draw", "split", "evidence", "signing", "person", "arm"}) {
        const auto secret = base::sha256(fmt::format("years {} {}", name, life_.seed)).hex();
        RAMPART_RETURN_IF_ERROR(
            base::write_file_atomically(folder_ / "store" / "keys" / name, secret + "\n", 0600));
    }
    RAMPART_RETURN_IF_ERROR(
        base::write_file_atomically(folder_ / "product.toml", std::string(kProduct)));
    RAMPART_RETURN_IF_ERROR(
        base::write_file_atomically(folder_ / "schema.toml", std::string(kSchema)));
    return base::write_file_atomically(
        folder_ / "rampartd.toml",
        fmt::format(fmt::runtime(kConfig), fmt::arg("seed", life_.seed),
                    fmt::arg("every", life_.applications / 2),
                    fmt::arg("min_power", life_.min_power == 0 ? "0.0" : "0.5"),
                    fmt::arg("look_again", life_.look_again),
                    fmt::arg("action", life_.world == World::kTurns ? "rollback" : "alarm")));
}

Status Lender::open() {
    node_.reset();
    RAMPART_TRY(auto settings, rampartd::load_settings(folder_ / "rampartd.toml"));
    RAMPART_TRY(node_, rampartd::Node::open(std::move(settings)));
    return base::ok();
}

size_t Lender::somebody_new(int week) {
    Person person;
    person.name = fmt::format("p-{}", persons_.size());
    person.score = random_.uniform(-1, 1);
    person.male = random_.bernoulli(0.5);
    const double late = random_.uniform();
    person.sex_comes = late < kNoSex              ? life_.weeks
                       : late < kNoSex + kLateSex ? week + 1 + static_cast<int>(random_.below(20))
                                                  : week;
    events_.late_attributes += person.sex_comes > week && person.sex_comes < life_.weeks;
    persons_.push_back(std::move(person));
    return persons_.size() - 1;
}

/// Returns, at even odds, anyone, or one of those whose last application was declined lately.
size_t Lender::someone_who_returns() {
    ++events_.returned;
    if (random_.bernoulli(0.5)) return random_.below(persons_.size());
    const size_t lately =
        std::min<size_t>(booked_.size(), size_t{8} * static_cast<size_t>(life_.applications));
    for (int tries = 0; tries < 50; ++tries) {
        const auto& one = booked_[booked_.size() - 1 - random_.below(lately)];
        const auto& person = persons_[one.person];
        if (booked_[person.booked.back()].decision.action == domain::Action::kDecline)
            return one.person;
    }
    return random_.below(persons_.size());
}

Status Lender::publish(const std::vector<size_t>& persons, int week) {
    http::Request request;
    request.method = "POST";
    request.path = "/v1/protected-attributes";
    request.headers = {{"Authorization", "Bearer t"}};
    for (const size_t i : persons) {
        auto& person = persons_[i];
        if (person.published) continue;
        person.published = true;
        request.body += protected_attributes::to_json({domain::PersonId(person.name),
                                                       clock(week),
                                                       {{"sex", person.male ? "male" : "female"}}});
        request.body += "\n";
    }
    if (request.body.empty()) return base::ok();
    http::Router router(access::one_token("t"));
    node_->add_routes(router);
    const auto response = router.handle(std::move(request));
    if (response.status == 200) return base::ok();
    return failure("attributes", response.body);
}

Status Lender::apply(int week) {
    std::vector<size_t> applicants;
    std::vector<domain::Application> batch;
    for (int i = 0; i < life_.applications; ++i) {
        const bool returns = week > 0 && random_.bernoulli(kReturning);
        const size_t who = returns ? someone_who_returns() : somebody_new(week);
        applicants.push_back(who);
        const auto after = Duration::seconds(static_cast<int64_t>(random_.below(7 * 86'400)));
        batch.push_back({domain::ApplicationId(fmt::format("a-{}-{}", week, i)),
                         domain::PersonId(persons_[who].name),
                         clock(week) + after,
                         {{"score", persons_[who].score}, {"income", random_.normal()}}});
    }
    std::vector<size_t> known;
    for (size_t i = 0; i < persons_.size(); ++i) {
        if (persons_[i].sex_comes <= week && !persons_[i].published) known.push_back(i);
    }
    RAMPART_RETURN_IF_ERROR(publish(known, week));
    RAMPART_TRY(const auto decided, node_->decisions().decide(batch));
    for (size_t i = 0; i < decided.size(); ++i) {
        auto& person = persons_[applicants[i]];
        person.booked.push_back(booked_.size());
        booked_.push_back({decided[i], applicants[i], person.score, person.male, person.published,
                           turned_, std::nullopt});
        expect_reports(booked_.size() - 1);
    }
    return base::ok();
}

/// Draws what will be reported of an approved loan, and when: some too late, some never, some first
/// wrong. Wrong reports are as often too good as too bad where the chance is that of breaking even.
void Lender::expect_reports(size_t booked) {
    const auto& one = booked_[booked];
    base::Random luck(base::mix64(life_.seed ^ base::mix64(booked)));
    const double p = repays(life_.world, one.male, one.score, one.turned);
    const bool repaid = luck.bernoulli(p), late = luck.bernoulli(kLateReport);
    const bool never = luck.bernoulli(kNoReport);
    const bool wrong = luck.bernoulli(repaid ? kCorrected : 2 * kCorrected);
    const auto days = static_cast<int64_t>(late ? 80 + luck.below(60) : 20 + luck.below(40));
    const auto later = static_cast<int64_t>(5 + luck.below(90));
    if (one.decision.action != domain::Action::kApprove || never) return;
    const auto at = one.decision.application.event_time + Duration::days(days);
    events_.reported_late += late, events_.corrected += wrong;
    reports_.emplace(
        at, domain::Outcome{one.decision.id, "repaid", 0, repaid != wrong ? 1.0 : 0.0, at});
    if (!wrong) return;
    const auto then = at + Duration::days(later);
    reports_.emplace(then, domain::Outcome{one.decision.id, "repaid", 1, repaid ? 1.0 : 0.0, then});
}

Status Lender::report(int week) {
    std::vector<domain::Outcome> due;
    const auto end = reports_.lower_bound(clock(week + 1));
    for (auto it = reports_.begin(); it != end; ++it) due.push_back(it->second);
    reports_.erase(reports_.begin(), end);
    if (due.empty()) return base::ok();
    return node_->decisions().submit_outcomes(due);
}

/// Erases someone whose last application is older than has to be kept.
Status Lender::erase_someone(int week) {
    if (!random_.bernoulli(kErasure)) return base::ok();
    const size_t i = random_.below(persons_.size());
    auto& person = persons_[i];
    if (person.booked.empty()) return base::ok();
    const auto& last = booked_[person.booked.back()];
    if (last.erased_at || base::add_months(last.decision.decided_at, 3) > clock(week))
        return base::ok();
    std::set<domain::DecisionId> erased;  // what is still to be reported of them is dropped
    for (const size_t b : person.booked) {
        if (!booked_[b].erased_at) booked_[b].erased_at = clock(week);
        erased.insert(booked_[b].decision.id);
    }
    std::erase_if(reports_, [&](const auto& r) { return erased.contains(r.second.decision); });
    person.published = false;
    person.sex_comes = life_.weeks;  // until the person applies again, who then is not known
    ++events_.erased;
    return node_->erase(domain::PersonId(person.name), "office", "asked for", false)
        .map([](const auto&) {});
}

/// Lets a process of its own do the week's work and kills it on the way, once or twice.
Status Lender::crash(int week) {
    node_.reset();
    for (int n = chaos_.bernoulli(0.3) ? 2 : 1; n > 0; --n) {
        std::string program = "/proc/self/exe", option = "--advance";
        std::string config = (folder_ / "rampartd.toml").string();
        std::string to = std::to_string(clock(week + 1).micros());
        char* const arguments[] = {program.data(), option.data(), config.data(), to.data(),
                                   nullptr};
        pid_t child = 0;
        if (::posix_spawn(&child, program.c_str(), nullptr, nullptr, arguments, environ) != 0)
            return failure("spawn", program);
        const double wait = chaos_.uniform(0, 1.1) * took_;
        std::this_thread::sleep_for(std::chrono::duration<double>(wait));
        ::kill(child, SIGKILL);
        int status = 0;
        ::waitpid(child, &status, 0);
        if (WIFEXITED(status) && WEXITSTATUS(status) != 0)
            return failure("crash", "the process failed before it was killed");
        ++events_.crashes;
        RAMPART_TRY(const auto store,
                    retraining::RunStore::open(folder_ / "store" / "trainer", true));
        RAMPART_TRY(const auto started, store.started());
        events_.crashed_runs += started.has_value();
    }
    return base::ok();
}

Status Lender::advance(int week) {
    const bool crashes = life_.crashes && chaos_.bernoulli(kCrash);
    if (crashes) RAMPART_RETURN_IF_ERROR(crash(week));
    if (crashes || (life_.crashes && chaos_.bernoulli(kReopening))) {
        const auto start = std::chrono::steady_clock::now();
        RAMPART_RETURN_IF_ERROR(open());
        events_.reopened += !crashes;
        RAMPART_RETURN_IF_ERROR(node_->advance(clock(week + 1)));
        if (!crashes) {
            const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
            took_ = took.count();
        }
        return base::ok();
    }
    return node_->advance(clock(week + 1));
}

/// Asks for a new epoch, with the candidate of the last run, where that was refused because the
/// budget is spent.
Status Lender::ask_for_an_epoch(int week) {
    RAMPART_TRY(const auto runs, node_->trainer().runs());
    if (runs.empty() || runs.back().reason != "delta_spent") return base::ok();
    ++events_.requests_for_an_epoch;
    return node_
        ->certify(domain::PolicyId(runs.back().candidate), clock(week + 1), "the budget is spent")
        .map([](const auto&) {});
}

Status Lender::one_week(int week) {
    RAMPART_RETURN_IF_ERROR(in_step(apply(week), "applications", week));
    RAMPART_RETURN_IF_ERROR(in_step(report(week), "reports", week));
    RAMPART_RETURN_IF_ERROR(in_step(erase_someone(week), "erasure", week));
    RAMPART_RETURN_IF_ERROR(in_step(advance(week), "run", week));
    RAMPART_RETURN_IF_ERROR(in_step(ask_for_an_epoch(week), "epoch", week));
    turned_ =
        turned_ || (life_.world == World::kTurns && node_->registry().promotions().size() > 1);
    return base::ok();
}

Status Lender::live() {
    RAMPART_RETURN_IF_ERROR(write_files());
    RAMPART_RETURN_IF_ERROR(open());
    RAMPART_RETURN_IF_ERROR(node_->advance(start_));
    for (int week = 0; week < life_.weeks; ++week) RAMPART_RETURN_IF_ERROR(one_week(week));
    return base::ok();
}

}  // namespace rampart::years

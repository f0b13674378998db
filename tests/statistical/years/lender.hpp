#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "rampart/base/random.hpp"
#include "services/rampartd/node.hpp"
#include "statistical/years/population.hpp"

namespace rampart::years {

/// What a lender lives through. All but the crashes follows from the seed.
struct Life {
    uint64_t seed = 1;
    World world = World::kGood;
    bool look_again = false;
    double min_power = 0.5;
    int weeks = 104;
    int applications = 70;  // a week
    bool crashes = true;
};
/// Returns the life of the n-th seed: the worlds in turn, with further looks or without, with
/// the usual least chance of passing or none.
Life life_of(uint64_t seed);

/// A decision, as the lender's own books have it.
struct Booked {
    domain::Decision decision;
    size_t person = 0;
    double score = 0;
    bool male = false;
    bool sex_known = false;                    // when it was decided
    bool turned = false;                       // decided after the world's turn
    std::optional<base::TimePoint> erased_at;  // time of the person's erasure
};

/// What happened besides the runs.
struct Events {
    int returned = 0, corrected = 0, reported_late = 0, erased = 0, late_attributes = 0;
    int crashes = 0, crashed_runs = 0, reopened = 0, requests_for_an_epoch = 0;
};

/// A node on event time, and all that comes to it, week after week.
class Lender {
  public:
    /// `folder`: for configuration and store, removed in the end.
    Lender(Life life, std::filesystem::path folder);
    ~Lender();
    Lender(const Lender&) = delete;
    Lender& operator=(const Lender&) = delete;

    /// Lives through all weeks. Fails at the first step that the node refuses.
    base::Status live();

    const Life& life() const { return life_; }
    rampartd::Node& node() { return *node_; }
    const std::vector<Booked>& booked() const { return booked_; }
    const Events& events() const { return events_; }
    base::TimePoint start() const { return start_; }

  private:
    struct Person {
        std::string name;
        double score = 0;
        bool male = false;
        int sex_comes = 0;       // week in which the attribute is handed in; weeks or later: never
        bool published = false;  // known to the node
        std::vector<size_t> booked;
    };

    base::Status write_files();
    base::Status open();
    base::TimePoint clock(int week) const { return start_ + base::Duration::days(7 * week); }
    size_t someone_who_returns();
    size_t somebody_new(int week);
    base::Status publish(const std::vector<size_t>& persons, int week);
    base::Status apply(int week);
    void expect_reports(size_t booked);
    base::Status report(int week);
    base::Status erase_someone(int week);
    base::Status crash(int week);
    base::Status advance(int week);
    base::Status ask_for_an_epoch(int week);
    base::Status one_week(int week);

    Life life_;
    std::filesystem::path folder_;
    base::TimePoint start_;
    base::Random random_, chaos_;
    std::unique_ptr<rampartd::Node> node_;
    std::vector<Person> persons_;
    std::vector<Booked> booked_;
    std::multimap<base::TimePoint, domain::Outcome> reports_;
    Events events_;
    bool turned_ = false;
    double took_ = 0.2;  // seconds of the last start and advance
};

/// Opens the node of a configuration and advances it: what a process does that will be killed.
base::Status advance_once(const std::filesystem::path& config, base::TimePoint to);

}  // namespace rampart::years

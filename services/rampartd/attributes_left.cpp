#include "services/rampartd/attributes_left.hpp"

#include "rampart/base/log.hpp"
#include "rampart/base/reasons.hpp"
#include "rampart/lease/trainer_seat.hpp"
#include "rampart/protected_attributes/persons.hpp"
#include "rampart/storage/folder.hpp"
#include "services/rampartd/reasons.hpp"
#include "services/rampartd/store_layout.hpp"

namespace rampart::rampartd {

using base::Status;
namespace fs = std::filesystem;

namespace {

constexpr base::Logger kLog("rampartd");

/// Returns whether anything but an empty database is there: also what cannot be read, or was half
/// deleted.
bool may_hold_persons(const fs::path& folder) {
    std::error_code failure;
    if (!fs::exists(folder, failure) || fs::is_empty(folder, failure)) return bool(failure);
    const auto stop_at_first = [](const auto&, auto) -> Status {
        return base::make_error(base::Reason::kIoError, "a person");
    };
    return !protected_attributes::visit_persons(folder, stop_at_first);
}

}  // namespace

Status remove_attributes_left(const fs::path& store, registry::ModelRegistry& registry,
                              base::TimePoint now) {
    const auto folder = store / "protected";
    if (!may_hold_persons(folder)) return base::ok();
    RAMPART_TRY(const auto seat, lease::read_seat(seat_of(store)));
    // a store that asked to train and did not has an empty database, too
    const bool trained =
        seat.held ? !seat.handed_over : !seat.claimed && storage::is_database(store / "trainer");
    if (trained)
        return base::make_error(Reason::kAttributesLeft,
                                "'{}' has protected attributes that no erasure would reach: this "
                                "node decides group-blind and does not train "
                                "(training.enabled = false, or no role train), but its store "
                                "trained",
                                folder.string());
    RAMPART_RETURN_IF_ERROR(registry.record_operation(
        now, "rampartd", "protected_attributes_removed",
        {{"folder", "protected"}, {"why", "this node decides group-blind and does not train"}}));
    std::error_code failure;
    fs::remove_all(folder, failure);
    if (failure)
        return base::make_error(base::Reason::kIoError, "cannot remove '{}': {}", folder.string(),
                                failure.message());
    kLog.warning(
        "msg=\"deleted the protected attributes that this node reads no more: it decides "
        "group-blind and does not train\" folder={} runbook=ops/runbooks/kafka.md",
        folder.string());
    return base::ok();
}

}  // namespace rampart::rampartd

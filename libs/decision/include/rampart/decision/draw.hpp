#pragma once

#include <string>

#include "rampart/base/clock.hpp"
#include "rampart/domain/decision.hpp"

namespace rampart::decision {

/// The secret of the draws and its id in records. The secret is never logged.
struct DrawKey {
    std::string id;
    std::string secret;
};

/// For how long who applies again has the same draw. Declared before anything is decided.
struct CoolOff {
    std::string product;  // its name; other products have other draws
    int days = domain::kDefaultCoolOffDays;
};

/// Returns the person's window that holds `now`, the time of the service's clock. Its offset is
/// keyed_uniform(secret, field "offset", field person) of the cool-off's length: windows of
/// different persons begin at different times, and none knows when.
domain::DrawWindow draw_window(const DrawKey& key, const domain::PersonId& person,
                               const CoolOff& cool_off, base::TimePoint now);

/// Returns the u of all decisions about the person in the window: keyed_uniform(secret, field
/// "draw", field person, field product, u32 days, i64 number), written as by base/bytes.hpp. The
/// days are part of it, since windows of another length are other windows.
double window_draw(const DrawKey& key, const domain::PersonId& person,
                   const domain::DrawWindow& window);

/// Returns the u of a decision that was drawn before there were windows: keyed_uniform(secret, id).
double draw_by_id(const DrawKey& key, const domain::DecisionId& id);

}  // namespace rampart::decision

#include "rampart/decision/draw.hpp"

#include "rampart/base/bytes.hpp"
#include "rampart/base/check.hpp"
#include "rampart/base/digest.hpp"

namespace rampart::decision {

domain::DrawWindow draw_window(const DrawKey& key, const domain::PersonId& person,
                               const CoolOff& cool_off, base::TimePoint now) {
    RAMPART_CHECK(cool_off.days >= 1 && cool_off.days <= domain::kMaxCoolOffDays,
                  "a cool-off of {} days", cool_off.days);
    std::string message;
    base::append_field(message, "offset");
    base::append_field(message, person.value());
    const auto length = static_cast<double>(base::Duration::days(cool_off.days).micros());
    const auto offset = base::Duration::micros(
        static_cast<int64_t>(base::keyed_uniform(key.secret, message) * length));
    return {cool_off.product, cool_off.days, domain::window_number(now, cool_off.days, offset)};
}

double window_draw(const DrawKey& key, const domain::PersonId& person,
                   const domain::DrawWindow& window) {
    std::string message;
    base::append_field(message, "draw");
    base::append_field(message, person.value());
    base::append_field(message, window.product);
    base::append_u32(message, static_cast<uint32_t>(window.cool_off_days));
    base::append_i64(message, window.number);
    return base::keyed_uniform(key.secret, message);
}

double draw_by_id(const DrawKey& key, const domain::DecisionId& id) {
    return base::keyed_uniform(key.secret, id.value());
}

}  // namespace rampart::decision

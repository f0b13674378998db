#include "rampart/lease/trainer_seat.hpp"

#include <algorithm>
#include <charconv>

#include "rampart/base/digest.hpp"
#include "rampart/base/file.hpp"
#include "rampart/lease/reasons.hpp"

namespace rampart::lease {
namespace {

using base::Result;

constexpr std::string_view kFormat = "rampart trainer seat 1\n";
constexpr std::string_view kHandedOver = "handed over\n";
constexpr size_t kSessionBytes = 16;
constexpr size_t kMaxSeatBytes = 1024;

void append(std::string& out, std::string_view name, const std::optional<Turn>& turn) {
    if (turn) out += fmt::format("{} {} {}\n", name, turn->epoch, base::to_hex(turn->session));
}

/// Takes a line of a turn from the front, if it is there; what is wrong with it stays.
std::optional<Turn> take(std::string_view& text, std::string_view name) {
    if (!text.starts_with(name) || text.size() <= name.size() + 1) return std::nullopt;
    const char* const end = text.data() + text.size();
    Turn turn;
    const auto [last, failure] = std::from_chars(text.data() + name.size() + 1, end, turn.epoch);
    const size_t line = text.find('\n');
    const auto from = static_cast<size_t>(last - text.data()) + 1;
    if (failure != std::errc() || line == text.npos || from > line) return std::nullopt;
    const auto session = base::from_hex(text.substr(from, line - from));
    if (!session || session->size() != kSessionBytes || turn.epoch == 0) return std::nullopt;
    turn.session = *session;
    text.remove_prefix(line + 1);
    return turn;
}

}  // namespace

uint64_t TrainerSeat::latest() const {
    return std::max(held ? held->epoch : 0, claimed ? claimed->epoch : 0);
}

std::string encode(const TrainerSeat& seat) {
    std::string out(kFormat);
    append(out, "held", seat.held);
    append(out, "claimed", seat.claimed);
    if (seat.handed_over) out += kHandedOver;
    return out;
}

Result<TrainerSeat> decode_seat(std::string_view text) {
    TrainerSeat seat;
    std::string_view rest = text;
    if (rest.starts_with(kFormat)) rest.remove_prefix(kFormat.size());
    seat.held = take(rest, "held");
    seat.claimed = take(rest, "claimed");
    seat.handed_over = rest == kHandedOver;
    // one spelling only, so that every changed byte of a name or number is found
    if (encode(seat) != text)
        return base::make_error(Reason::kBadSeat, "not the seat of a trainer: {} bytes",
                                text.size());
    return seat;
}

Result<TrainerSeat> read_seat(const std::filesystem::path& file) {
    const auto text = base::read_file(file, kMaxSeatBytes);
    if (!text && text.error().code == base::ErrorCode::kNotFound) return TrainerSeat();
    if (!text) return text.error();
    auto seat = decode_seat(*text);
    if (!seat) return seat.error().with_context(file.string());
    return seat;
}

base::Status check_not_handed_over(const std::filesystem::path& file) {
    RAMPART_TRY(const auto seat, read_seat(file));
    if (!seat.handed_over) return base::ok();
    return base::make_error(Reason::kTrainerHandedOver,
                            "this store has handed the training over, under epoch {}",
                            seat.latest());
}

base::Status write_seat(const std::filesystem::path& file, const TrainerSeat& seat) {
    return base::write_file_atomically(file, encode(seat), 0600);
}

}  // namespace rampart::lease

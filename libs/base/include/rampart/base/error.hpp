#pragma once

#include <fmt/format.h>

#include <concepts>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace rampart::base {

/// The ten canonical codes. Errors of other libraries are mapped to one of them in the adapter.
enum class ErrorCode {
    kInvalidArgument,     // the input is wrong in any state: correct the input
    kNotFound,            // the thing named does not exist
    kAlreadyExists,       // the thing exists with other content
    kFailedPrecondition,  // the state does not allow it now
    kOutOfRange,          // outside a declared limit or range
    kResourceExhausted,   // quota, queue or disk is full: retry later
    kPermissionDenied,    // not authenticated or not allowed
    kUnavailable,         // a dependency does not answer: retry later
    kDataLoss,            // stored bytes are corrupt or truncated
    kInternal,            // a broken invariant: a defect of ours
};

std::string_view to_string(ErrorCode code);

/// One line of a room's list of reasons.
struct ReasonInfo {
    std::string_view room;        // name of the list: the room's folder
    std::string_view enumerator;  // kUnknownColumn, for the word unknown_column
    ErrorCode code;
    std::string_view word;    // stable name on the wire
    std::string_view remedy;  // instruction for the reader of the error
};

/// A reason of any room's list. Made from the enumerator: functions that take a reason take this.
class AnyReason {
  public:
    /// `reason` is an enumerator of a list made by RAMPART_REASONS.
    template <class Reason>
    requires requires(Reason reason) {
        { reason_info(reason) } -> std::same_as<const ReasonInfo&>;
    }
    constexpr AnyReason(Reason reason) : info_(&reason_info(reason)) {}
    constexpr AnyReason(const ReasonInfo& info) : info_(&info) {}

    constexpr const ReasonInfo* operator->() const { return info_; }
    constexpr const ReasonInfo& operator*() const { return *info_; }

  private:
    const ReasonInfo* info_;
};

/// `reason` is a stable machine-readable word ("unknown_column"); `message` names field, value and
/// remedy for a person. Neither contains a secret or a protected attribute.
struct Error {
    ErrorCode code = ErrorCode::kInternal;
    std::string reason;
    std::string message;

    /// Returns whether the error has this reason's word, whichever process made it.
    bool is(AnyReason other) const { return reason == other->word; }
    /// Returns the same error with `context: ` prepended to the message.
    Error with_context(std::string_view context) const {
        return {code, reason, fmt::format("{}: {}", context, message)};
    }
    bool operator==(const Error&) const = default;
};

/// Returns an error with the code and the word of the reason.
template <class... Args>
Error make_error(AnyReason reason, fmt::format_string<Args...> format, Args&&... args) {
    return {reason->code, std::string(reason->word),
            fmt::format(format, std::forward<Args>(args)...)};
}

#define RAMPART_REASON_ENUMERATOR(enumerator, code, word, remedy) enumerator,
#define RAMPART_REASON_INFO(enumerator, code, word, remedy) \
    {kRoom, #enumerator, ::rampart::base::ErrorCode::code, word, remedy},

/// Makes of a room's list LIST(X), with lines X(enumerator, code, word, remedy), the enumeration
/// `Reason` and the table `reasons::kAll`, in the namespace where it stands.
#define RAMPART_REASONS(room, LIST)                                                    \
    enum class Reason { LIST(RAMPART_REASON_ENUMERATOR) };                             \
    namespace reasons {                                                                \
    inline constexpr std::string_view kRoom = room;                                    \
    inline constexpr ::rampart::base::ReasonInfo kAll[] = {LIST(RAMPART_REASON_INFO)}; \
    }                                                                                  \
    constexpr const ::rampart::base::ReasonInfo& reason_info(Reason reason) {          \
        return reasons::kAll[static_cast<size_t>(reason)];                             \
    }

}  // namespace rampart::base

#pragma once

#include <functional>

#include "rampart/domain/ids.hpp"
#include "rampart/http/router.hpp"
#include "rampart/notices/notice.hpp"

namespace rampart::rampartd {

/// GET /v1/decisions/{id}/notice: the data of an adverse-action notice.
class NoticeRoutes {
  public:
    /// As notice_of().
    using NoticeOf = std::function<base::Result<notices::Notice>(const domain::DecisionId& id,
                                                                 std::string_view language)>;
    /// Answers what has failed; `decision` says about whom was asked.
    using Failed =
        std::function<http::Response(const base::Error& error, const domain::DecisionId& id)>;

    NoticeRoutes(NoticeOf notice_of, Failed failed)
        : notice_of_(std::move(notice_of)), failed_(std::move(failed)) {}
    void add_to(http::Router& router) const;

  private:
    http::Response handle_notice(const http::Request& request) const;

    NoticeOf notice_of_;
    Failed failed_;
};

}  // namespace rampart::rampartd

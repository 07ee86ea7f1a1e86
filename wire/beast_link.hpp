// The server's half of making a link, for http_server alone: the one header that shows Beast.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/string_body.hpp>
#include <memory>

#include "wire/link.hpp"

namespace hedgerow::wire {

boost::asio::awaitable<result<std::shared_ptr<Link>>> accept_link(
    boost::beast::tcp_stream stream, boost::beast::http::request<boost::beast::http::string_body> upgrade,
    LinkSettings settings);

}  // namespace hedgerow::wire

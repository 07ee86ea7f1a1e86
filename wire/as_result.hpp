// co_await something(…, as_result) gives the error code as a value beside the result; nothing throws.
#pragma once

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace hedgerow::wire {

inline constexpr auto as_result = boost::asio::as_tuple(boost::asio::use_awaitable);

}  // namespace hedgerow::wire

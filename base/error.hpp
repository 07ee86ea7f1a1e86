// Expected failures: one error type for the whole project, carried by result<T>.
//
// The code says what kind of failure it is, so that a caller can decide; the context says, in words, what was being
// done to what, so that a person can act. Programmer mistakes are assertions, not errors; exceptions of foreign
// libraries are translated where they are called.
#pragma once

#include <boost/system/result.hpp>
#include <string>
#include <string_view>

namespace hedgerow {

enum class Errc {
  invalid_argument,  // the caller asked for something that makes no sense
  not_found,         // the thing asked for does not exist
  unsupported,       // understood, but not offered (yet)
  corrupt,           // data that should be ours does not hold together
  input,             // a document or file of the user's cannot be read as what it claims to be
  io,                // the operating system refused
  too_large,         // beyond a stated bound
  refused,           // a full queue or an admission limit: not now
  expired,           // the time for it was over
  cancelled,         // nobody wants it any more
  unavailable,       // a link is down or a peer is gone
  protocol,          // a peer sent what the protocol does not allow
  internal,          // a failure of ours that has no better name
};

// The code as a word, for logs and JSON: "invalid_argument".
std::string_view to_string(Errc code);

struct Error {
  Errc code = Errc::internal;
  std::string context;
};

// "corrupt: manifest.json: no field 'generation'".
std::string to_string(const Error& error);

// What result<T>::value() throws when it holds an error: for start-up code, where there is nobody to return to.
[[noreturn]] void throw_exception_from_error(const Error& error, const boost::source_location& where);

template <class T>
using result = boost::system::result<T, Error>;

}  // namespace hedgerow

// Translates what Xapian throws into errors of ours, at the border of every public function of the index.
#pragma once

#include <xapian.h>

#include <exception>
#include <new>
#include <string>

#include "base/error.hpp"

namespace hedgerow {

// Runs work and turns an exception of the engine, of the file system or of allocation into an Error whose context
// starts with what. Result is a result<T>.
template <class Work>
auto translating_exceptions(const std::string& what, Work&& work) -> decltype(work()) {
  try {
    return work();
  } catch (const Xapian::DatabaseCorruptError& error) {
    return Error{Errc::corrupt, what + ": " + error.get_msg()};
  } catch (const Xapian::DatabaseVersionError& error) {
    return Error{Errc::corrupt, what + ": " + error.get_msg()};
  } catch (const Xapian::DatabaseOpeningError& error) {
    return Error{Errc::corrupt, what + ": " + error.get_description()};
  } catch (const Xapian::DatabaseError& error) {
    return Error{Errc::io, what + ": " + error.get_description()};
  } catch (const Xapian::Error& error) {
    return Error{Errc::internal, what + ": " + error.get_description()};
  } catch (const std::bad_alloc&) {
    return Error{Errc::internal, what + ": out of memory"};
  } catch (const std::exception& error) {
    return Error{Errc::internal, what + ": " + error.what()};
  }
}

}  // namespace hedgerow

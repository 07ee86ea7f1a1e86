#include "base/sha256.hpp"

#include <doctest/doctest.h>

#include <fstream>

TEST_CASE("the digest of 'abc' is that of FIPS 180-2, and a missing file is an error") {
  const auto path = std::filesystem::temp_directory_path() / "hedgerow-sha256-test";
  std::ofstream(path) << "abc";
  CHECK(hedgerow::sha256_of_file(path).value() == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  std::filesystem::remove(path);
  CHECK(hedgerow::sha256_of_file(path).error().code == hedgerow::Errc::io);
}

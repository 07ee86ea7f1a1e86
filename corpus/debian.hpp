// The Debian package catalogue as a corpus, from the lists that apt keeps: Packages, joined with the long descriptions
// of Translation-en on Description-md5.
//
// A package is one document, however many lists and versions it is in (updates and security repeat the main list): the
// newest version by Debian's order counts, and of equal ones the first by list and place.
//   id      the package's name
//   title   "vim - Vi IMproved - enhanced vi editor": the name and the short description
//   text    the long description: paragraphs parted by empty lines, verbatim lines on lines of their own
//   url     the homepage
//   facets  section, priority, installed_size (kB), and implemented-in, role and interface from its debtags
//
// Memory: one stanza, the newest version of each package (some 150 bytes each), and the long descriptions of those
// (some 30 MB for Debian 12). The Packages lists are streamed, twice: opening reads them all once to find the versions.
//
// No part of the catalogue goes missing unnoticed: a list that breaks off is a fatal error, the Translation lists too
// (next() reports their faults first), and so are lists that apt replaced between the two readings.
#pragma once

#include "corpus/reader.hpp"

namespace hedgerow {

// folder: one list folder to read in place of those of the settings; empty for those.
// Errors: not_found where no folder has a package list, io.
result<std::unique_ptr<Reader>> open_debian(const std::string& folder, const CorpusSettings& settings);

}  // namespace hedgerow

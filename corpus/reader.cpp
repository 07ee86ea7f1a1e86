#include "corpus/reader.hpp"

#include "corpus/checked_reader.hpp"
#include "corpus/debian.hpp"
#include "corpus/jsonl.hpp"
#include "corpus/synthetic.hpp"
#include "corpus/trec.hpp"
#include "corpus/tree.hpp"
#include "corpus/tsv.hpp"
#include "corpus/wikipedia.hpp"

namespace hedgerow {

namespace {

// The table of formats: a corpus is named by the format's word, or by the word, a colon and an argument.
struct Format {
  std::string_view word;
  std::string_view usage;
  std::string_view purpose;
  result<std::unique_ptr<Reader>> (*open)(const std::string& argument, const CorpusSettings& settings);
};

constexpr Format formats[] = {
    {"debian", "debian[:FOLDER]", "the Debian package catalogue, from apt's lists", open_debian},
    {"jsonl", "jsonl:FILE", "one JSON object a line: id, title, text, url; other fields are facets", open_jsonl},
    {"synthetic", "synthetic:N", "N made-up documents, the same for the same seed", open_synthetic},
    {"trec", "trec:PATH", "TREC's <DOC> form: a file, or a folder of them", open_trec},
    {"tree", "tree:PATH", "a folder or archive of text, Markdown, reStructuredText and HTML", open_tree},
    {"tsv", "tsv:FILE", "columns with tabs: with a heading, or id-text, id-title-text, id-url-title-text", open_tsv},
    {"wikipedia", "wikipedia:FILE", "the articles of a MediaWiki XML dump, plain or compressed", open_wikipedia},
};

}  // namespace

std::string to_string(const ReadError& error) {
  std::string text = error.file;
  if (error.line > 0) text += (text.empty() ? "line " : ":") + std::to_string(error.line);
  return text.empty() ? error.what : text + ": " + error.what;
}

std::string corpus_names() {
  std::string names;
  for (const Format& format : formats) {
    names.append(format.usage).append(18 - format.usage.size(), ' ').append(format.purpose).append("\n");
  }
  return names;
}

result<std::unique_ptr<Reader>> open_corpus(const std::string& name, const CorpusSettings& settings) {
  const std::size_t colon = name.find(':');
  const std::string_view word = std::string_view(name).substr(0, colon);
  const std::string argument = colon == std::string::npos ? "" : name.substr(colon + 1);
  std::string known;
  for (const Format& format : formats) {
    if (format.word == word) {
      auto reader = format.open(argument, settings);
      if (!reader) return reader.error();
      return std::unique_ptr<Reader>(std::make_unique<CheckedReader>(std::move(*reader)));
    }
    known.append(known.empty() ? "" : ", ").append(format.usage);
  }
  return Error{Errc::invalid_argument, "unknown corpus '" + name + "'; there are " + known};
}

}  // namespace hedgerow

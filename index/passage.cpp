#include "index/passage.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <vector>

namespace hedgerow {

namespace {

// So many different words of texts are remembered with what they speak: nearly all of any language, and little memory.
constexpr std::size_t most_known_words = 16'384;
// The flag is read once in so many words.
constexpr std::size_t words_between_looks = 1024;

constexpr std::string_view ellipsis = "…";

bool is_blank(char32_t c) {
  return c <= 0x20 || (c >= 0x7f && c <= 0xa0) || c == 0x2028 || c == 0x2029 || (c >= 0x202a && c <= 0x202e) ||
         (c >= 0x2066 && c <= 0x2069) || (c >= 0xfff9 && c <= 0xfffb) || (c > 0x7f && Xapian::Unicode::is_whitespace(c));
}

// The length of the well-formed character at the place; 0 if there is none.
std::size_t well_formed_length(std::string_view text, std::size_t place) {
  const auto lead = static_cast<unsigned char>(text[place]);
  if (lead < 0x80) return 1;
  const std::size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || place + length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((static_cast<unsigned char>(text[place + i]) & 0xc0u) != 0x80) return 0;
  }
  const char32_t character = character_at(text, place).character;
  const bool overlong = (length == 3 && character < 0x800) || (length == 4 && character < 0x10000);
  const bool surrogate = character >= 0xd800 && character <= 0xdfff;
  return overlong || surrogate || character > 0x10ffff ? 0 : length;
}

bool is_combining(char32_t c) {
  if (c < 0x300) return false;
  const auto category = Xapian::Unicode::get_category(c);
  return category == Xapian::Unicode::NON_SPACING_MARK || category == Xapian::Unicode::ENCLOSING_MARK ||
         category == Xapian::Unicode::COMBINING_SPACING_MARK || c == 0x200d;
}

// A place of the text that speaks the query.
struct Mark {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::size_t word_number = 0;
  QueryWords::Spoken spoken;
};

struct Range {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::size_t length() const { return end - begin; }
};

// The marks within the best range so far, moving on with every mark that is pushed.
class BestRange {
 public:
  BestRange(const QueryWords& query, std::size_t longest)
      : longest_(longest), total_weight_(query.total_weight()), times_(query.size(), 0) {}

  // In the order of the text; none is longer than the range may be.
  void push(const Mark& mark) {
    marks_.push_back(mark);
    for (std::size_t i = 0; i < mark.spoken.count; ++i) {
      if (times_[mark.spoken.terms[i].number]++ == 0) weight_ += mark.spoken.terms[i].weight;
    }
    while (mark.end - marks_.front().begin > longest_ || front_adds_nothing()) pop();
    const std::size_t words = mark.word_number - marks_.front().word_number;
    if (weight_ < best_weight_ || (weight_ == best_weight_ && words >= best_words_)) return;
    best_weight_ = weight_;
    best_words_ = words;
    best_ = {marks_.front().begin, mark.end};
    // Everything, side by side, each once: no range can be better.
    unbeatable_ = weight_ == total_weight_ && words + 1 == marks_.size();
  }

  bool found() const { return best_weight_ > 0; }
  bool unbeatable() const { return unbeatable_; }
  Range best() const { return best_; }

 private:
  bool front_adds_nothing() const {
    const auto& spoken = marks_.front().spoken;
    return marks_.size() > 1 && std::all_of(spoken.terms, spoken.terms + spoken.count,
                                            [&](const auto& term) { return times_[term.number] > 1; });
  }

  void pop() {
    const auto& spoken = marks_.front().spoken;
    for (std::size_t i = 0; i < spoken.count; ++i) {
      if (--times_[spoken.terms[i].number] == 0) weight_ -= spoken.terms[i].weight;
    }
    marks_.pop_front();
  }

  const std::size_t longest_;
  const std::uint64_t total_weight_;
  std::vector<std::size_t> times_;  // of each term, in marks_
  std::deque<Mark> marks_;
  std::uint64_t weight_ = 0;
  std::uint64_t best_weight_ = 0;
  std::size_t best_words_ = 0;
  Range best_;
  bool unbeatable_ = false;
};

struct MarkedText {
  std::vector<Range> marks;  // in the order of the text; all that lie within reach of the best range
  std::optional<Range> best;
};

std::optional<MarkedText> find_marks(std::string_view text, QueryWords& query, std::size_t longest,
                                     const std::atomic<bool>* stop) {
  MarkedText found;
  if (query.size() == 0) return found;
  BestRange range(query, longest);
  const auto push = [&](const Mark& mark) {
    if (mark.end - mark.begin > longest) return;
    found.marks.push_back({mark.begin, mark.end});
    if (!range.unbeatable()) range.push(mark);
  };

  WordReader words(text);
  TextWord word;
  TextWord before;
  for (std::size_t number = 0; words.next(word); ++number) {
    if (number % words_between_looks == 0 && stop != nullptr && stop->load(std::memory_order_relaxed)) {
      return std::nullopt;
    }
    // What stands behind the best range may still be shown.
    if (range.unbeatable() && word.begin > range.best().end + longest) break;
    if (word.is_ideograph && before.is_ideograph && before.end == word.begin) {
      const auto pair = query.spoken_by_pair(before.term + word.term);
      if (pair.count > 0) push({before.begin, word.end, number, pair});
    }
    const auto spoken = query.spoken_by(word);
    if (spoken.count > 0) push({word.begin, word.end, number, spoken});
    std::swap(before, word);
  }
  if (range.found()) found.best = range.best();
  return found;
}

// Where a text may be cut, from the places that tear nothing apart to those that are better than none.
enum class Border { blank, no_word, character };

bool begins_character(std::string_view text, std::size_t place) {
  return (static_cast<unsigned char>(text[place]) & 0xc0u) != 0x80u;
}

bool is_border(std::string_view text, std::size_t place, Border border) {
  if (place == 0 || place == text.size()) return true;
  if (!begins_character(text, place)) return false;
  std::size_t place_before = place - 1;
  while (!begins_character(text, place_before)) --place_before;
  const char32_t before = character_at(text, place_before).character;
  const char32_t after = character_at(text, place).character;
  if (is_combining(after) || before == 0x200d) return false;
  if (before == ' ' || after == ' ') return true;
  switch (border) {
    case Border::blank: return is_ideograph(before) || is_ideograph(after);
    case Border::no_word: return !is_word_character(before) || !is_word_character(after);
    case Border::character: return true;
  }
  return true;
}

// The last border from lowest to highest, the first one from lowest to highest: of the best kind that is there.
std::optional<std::size_t> last_border(std::string_view text, std::size_t lowest, std::size_t highest, Border border) {
  for (std::size_t place = highest; place > lowest; --place) {
    if (is_border(text, place, border)) return place;
  }
  return std::nullopt;
}

std::optional<std::size_t> first_border(std::string_view text, std::size_t lowest, std::size_t highest, Border border) {
  for (std::size_t place = lowest; place < highest; ++place) {
    if (is_border(text, place, border)) return place;
  }
  return std::nullopt;
}

// A border between words that costs more than half of the room is taken only if there is no other.
std::size_t end_of_passage(std::string_view text, std::size_t lowest, std::size_t highest) {
  if (highest >= text.size()) return text.size();
  for (const std::size_t low : {lowest + (highest - lowest) / 2, lowest}) {
    for (const Border border : {Border::blank, Border::no_word}) {
      if (const auto place = last_border(text, low, highest, border)) return *place;
    }
  }
  if (lowest > 0) return lowest;
  if (const auto place = last_border(text, lowest, highest, Border::character)) return *place;
  while (highest > 0 && !begins_character(text, highest)) --highest;
  return highest;
}

std::size_t begin_of_passage(std::string_view text, std::size_t lowest, std::size_t highest) {
  for (const std::size_t high : {highest - (highest - lowest) / 2, highest}) {
    for (const Border border : {Border::blank, Border::no_word}) {
      if (const auto place = first_border(text, lowest, high, border)) return *place;
    }
  }
  return highest;
}

// Where the first sentence begins that begins from lowest to highest.
std::optional<std::size_t> first_sentence(std::string_view text, std::size_t lowest, std::size_t highest) {
  for (std::size_t place = std::max<std::size_t>(lowest, 2); place <= highest; ++place) {
    const char mark = text[place - 2];
    if (text[place - 1] == ' ' && (mark == '.' || mark == '!' || mark == '?')) return place;
  }
  return std::nullopt;
}

// The core with what stands around it: a third of the room goes to what leads to it, more if that is a sentence.
Range with_surroundings(std::string_view text, Range core, std::size_t longest) {
  if (text.size() <= longest) return {0, text.size()};
  const std::size_t room = longest - core.length();
  std::size_t begin = 0;
  if (core.begin > room / 2) {
    const auto sentence = first_sentence(text, core.begin - room / 2, core.begin);
    begin = sentence ? *sentence : begin_of_passage(text, core.begin - room / 3, core.begin);
  }
  const std::size_t end = end_of_passage(text, core.end, begin + longest);
  if (end == text.size()) begin = begin_of_passage(text, std::min(begin, text.size() - longest), core.begin);
  return {begin, end};
}

}  // namespace

std::string shown_text(std::string_view text) {
  std::string shown;
  shown.reserve(text.size());
  bool blank_waits = false;
  for (std::size_t place = 0; place < text.size();) {
    const std::size_t length = well_formed_length(text, place);
    if (length > 0 && is_blank(character_at(text, place).character)) {
      blank_waits = !shown.empty();
      place += length;
      continue;
    }
    if (blank_waits) shown += ' ';
    blank_waits = false;
    shown.append(length > 0 ? text.substr(place, length) : std::string_view("\xef\xbf\xbd"));
    place += std::max<std::size_t>(length, 1);
  }
  return shown;
}

void append_escaped(std::string& html, std::string_view text) {
  for (const char c : text) {
    switch (c) {
      case '&': html += "&amp;"; break;
      case '<': html += "&lt;"; break;
      case '>': html += "&gt;"; break;
      case '"': html += "&quot;"; break;
      case '\'': html += "&#39;"; break;
      default: html += c;
    }
  }
}

void QueryWords::add(std::string_view term, double weight) {
  const bool is_stem = term.starts_with('Z');
  if (is_stem) term.remove_prefix(1);
  if (term.starts_with('S')) term.remove_prefix(1);
  // Words are in lower case: this is another prefix.
  if (term.empty() || (term.front() >= 'A' && term.front() <= 'Z')) return;
  // Whole numbers, so that a sum does not depend on the order in which it was made.
  const auto whole = static_cast<std::uint64_t>(std::llround(std::clamp(weight, 0.0, 1e6) * (1 << 20))) + 1;
  Terms& terms = is_stem ? stems_ : words_;
  const auto [entry, is_new] = terms.try_emplace(std::string(term), Term{size_, 0});
  size_ += is_new ? 1 : 0;
  if (whole > entry->second.weight) {
    total_weight_ += whole - entry->second.weight;
    entry->second.weight = whole;
  }
  known_.clear();
  if (is_stem) return;
  const auto [first, next] = character_at(term, 0);
  if (is_ideograph(first) && next < term.size()) {
    parts_of_pairs_.emplace(term.substr(0, next));
    parts_of_pairs_.emplace(term.substr(next));
  }
}

QueryWords::Spoken QueryWords::spoken_by(const TextWord& word) {
  if (const auto found = known_.find(word.term); found != known_.end()) return found->second;
  const Spoken spoken = look_up(word);
  if (known_.size() < most_known_words) known_.emplace(word.term, spoken);
  return spoken;
}

QueryWords::Spoken QueryWords::spoken_by_pair(const std::string& pair) {
  Spoken spoken;
  if (const auto found = words_.find(pair); found != words_.end()) spoken.terms[spoken.count++] = found->second;
  return spoken;
}

QueryWords::Spoken QueryWords::look_up(const TextWord& word) {
  Spoken spoken;
  if (word.term.size() > longest_word_bytes) return spoken;
  // A query for a word of two ideographs is no query for each of them.
  if (word.is_ideograph && parts_of_pairs_.contains(word.term)) return spoken;
  const auto add = [&](const Terms& terms, const std::string& term) {
    if (const auto found = terms.find(term); found != terms.end()) spoken.terms[spoken.count++] = found->second;
  };
  add(words_, word.term);
  if (!stems_.empty() && !stemmer_.is_none() && has_stem(word.term)) add(stems_, stemmer_(word.term));
  return spoken;
}

std::optional<std::string> best_passage(std::string_view text, QueryWords& query, std::size_t length_bytes,
                                        const std::atomic<bool>* stop) {
  const std::string shown = shown_text(text);
  const auto found = find_marks(shown, query, length_bytes, stop);
  if (!found) return std::nullopt;
  const Range passage = found->best ? with_surroundings(shown, *found->best, length_bytes)
                                    : Range{0, end_of_passage(shown, 0, length_bytes)};

  std::string html;
  const std::string_view view = shown;
  std::size_t begin = passage.begin;
  std::size_t end = passage.end;
  while (begin < end && view[begin] == ' ') ++begin;
  while (end > begin && view[end - 1] == ' ') --end;
  if (begin > 0) html.append(ellipsis).append(" ");
  std::size_t written = begin;
  const auto is_shown = [&](const Range& mark) { return mark.begin >= begin && mark.end <= end; };
  for (std::size_t i = 0; i < found->marks.size();) {
    Range mark = found->marks[i++];
    if (!is_shown(mark)) continue;
    // Ideographs that overlap or touch are one mark.
    const auto is_written_in_them = [&](const Range& other) {
      return is_ideograph(character_at(view, other.begin).character);
    };
    while (is_written_in_them(mark) && i < found->marks.size() && found->marks[i].begin <= mark.end &&
           is_written_in_them(found->marks[i]) && is_shown(found->marks[i])) {
      mark.end = std::max(mark.end, found->marks[i++].end);
    }
    append_escaped(html, view.substr(written, mark.begin - written));
    html += "<b>";
    append_escaped(html, view.substr(mark.begin, mark.length()));
    html += "</b>";
    written = mark.end;
  }
  append_escaped(html, view.substr(written, end - written));
  if (end < view.size()) html.append(" ").append(ellipsis);
  return html;
}

}  // namespace hedgerow

/// A set of page numbers, with one bit for each page of the file.
struct PageSet {
  private var end: UInt64
  private var words: [UInt64]
  /// All words before this one are 0.
  private var lowest = 0

  init(upTo end: Int) {
    self.end = UInt64(end)
    words = [UInt64](repeating: 0, count: end / 64 + 1)
  }

  /// Returns false if the file has no such page.
  mutating func insert(_ page: UInt64) -> Bool {
    guard page < end else { return false }
    let word = Int(page / 64)
    words[word] |= 1 << (page % 64)
    lowest = min(lowest, word)
    return true
  }

  mutating func remove(_ page: UInt64) {
    if page < end { words[Int(page / 64)] &= ~(1 << (page % 64)) }
  }

  /// Makes room for all pages before `end`.
  mutating func grow(upTo end: UInt64) {
    guard end > self.end else { return }
    self.end = end
    let missing = Int(end / 64) + 1 - words.count
    guard missing > 0 else { return }
    // Half as much again, so that a growing file does not cost a copy with each commit.
    words.append(contentsOf: repeatElement(0, count: max(missing, words.count / 2)))
  }

  func contains(_ page: UInt64) -> Bool {
    page < end && words[Int(page / 64)] & 1 << (page % 64) != 0
  }

  /// A page that is in both sets.
  func first(in others: PageSet) -> UInt64? {
    for (index, (word, other)) in zip(words, others.words).enumerated() where word & other != 0 {
      return UInt64(index * 64 + (word & other).trailingZeroBitCount)
    }
    return nil
  }

  /// Returns false if the set is empty.
  mutating func removeLowest() -> Bool {
    while lowest < words.count, words[lowest] == 0 { lowest += 1 }
    guard lowest < words.count else { return false }
    words[lowest] &= words[lowest] - 1
    return true
  }

  func hasRun(of length: Int) -> Bool {
    var run = 0
    for word in words[lowest...] {
      var rest = word
      var left = 64
      while left > 0 {
        let zeros = min(rest.trailingZeroBitCount, left)
        if zeros > 0 { run = 0 }
        rest = zeros == 64 ? 0 : rest >> UInt64(zeros)
        left -= zeros
        let ones = min((~rest).trailingZeroBitCount, left)
        run += ones
        if run >= length { return true }
        rest = ones == 64 ? 0 : rest >> UInt64(ones)
        left -= ones
      }
    }
    return false
  }
}

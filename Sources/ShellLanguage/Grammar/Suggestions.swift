/// Names that are close to a misspelt one.
package enum Suggestions {
  /// A longer word is no misspelt name. To compare one of megabytes with each name would take minutes.
  private static let longestWord = 256

  /// The names nearest to a word, at most three of the same rank: one edit away, else begun by it,
  /// else two edits away.
  package static func all(_ word: String, among names: [String]) -> [String] {
    guard word.utf8.count <= longestWord else { return [] }
    let word = word.lowercased()
    let ranked = names.compactMap { name -> (rank: Int, name: String)? in
      let distance = distance(word, name.lowercased())
      if distance <= 1, word.count > 1 { return (0, name) }
      if word.count > 1, name.lowercased().hasPrefix(word) { return (1, name) }
      // Two edits of a short word can reach any other.
      return distance == 2 && word.count > 4 ? (2, name) : nil
    }
    let best = ranked.map(\.rank).min()
    return ranked.filter { $0.rank == best }.prefix(3).map(\.name)
  }

  package static func near(_ word: String, among names: [String]) -> String? {
    all(word, among: names).first
  }

  /// "did you mean `keys` or `get`?", each with its mark in front.
  package static func question(_ word: String, among names: [String], mark: String = "")
    -> SafeText?
  {
    let near = all(word, among: names).map { "`\(mark)\($0)`" }
    guard let last = near.last else { return nil }
    let list = near.count == 1 ? last : near.dropLast().joined(separator: ", ") + " or " + last
    return "did you mean \(list)?"
  }

  /// Insertions, deletions, replacements and swaps of neighbours.
  package static func distance(_ a: String, _ b: String) -> Int {
    let a = Array(a)
    let b = Array(b)
    guard abs(a.count - b.count) <= 2 else { return abs(a.count - b.count) }
    var beforeLast: [Int] = []
    var last = Array(0...b.count)
    for i in 0..<a.count {
      var row = [i + 1]
      for j in 0..<b.count {
        var best = min(last[j] + (a[i] == b[j] ? 0 : 1), last[j + 1] + 1, row[j] + 1)
        if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] {
          best = min(best, beforeLast[j - 1] + 1)
        }
        row.append(best)
      }
      beforeLast = last
      last = row
    }
    return last[b.count]
  }
}

/// Names that resemble a misspelt name.
package enum Suggestions {
  /// The longest word that gets suggestions. To compare a word of megabytes with each name would take minutes.
  private static let longestWord = 256

  /// At most three names, all of the best rank. The ranks, best first: one edit away, begins with the word, two edits away.
  package static func all(_ word: String, among names: [String]) -> [String] {
    guard word.utf8.count <= longestWord else { return [] }
    let word = word.lowercased()
    let ranked = names.compactMap { name -> (rank: Int, name: String)? in
      let distance = distance(word, name.lowercased())
      if distance <= 1, word.count > 1 { return (0, name) }
      if word.count > 1, name.lowercased().hasPrefix(word) { return (1, name) }
      // Two edits can turn a short word into almost any other word, so two edits are too many for a short word.
      let isAlike = word.count > 4 && (word.count > 6 || word.first == name.lowercased().first)
      return distance == 2 && isAlike ? (2, name) : nil
    }
    let best = ranked.map(\.rank).min()
    return ranked.filter { $0.rank == best }.prefix(3).map(\.name)
  }

  /// A question such as "did you mean `keys` or `get`?". `form` turns a name into the text that a person types.
  package static func question(
    _ word: String, among names: [String], form: (String) -> String = { $0 }
  ) -> SafeText? {
    let near = all(word, among: names).map { "`\(form($0))`" }
    guard let last = near.last else { return nil }
    let list = near.count == 1 ? last : near.dropLast().joined(separator: ", ") + " or " + last
    return "did you mean \(list)?"
  }

  /// The number of edits: insertions, deletions, replacements, swaps of neighbours. A result above 2 may be too small.
  package static func distance(_ a: String, _ b: String) -> Int {
    let (a, b) = (Array(a), Array(b))
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

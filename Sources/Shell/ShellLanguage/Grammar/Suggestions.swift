import LarderSystem

/// Names that resemble a misspelt name.
package enum Suggestions {
  /// The longest word that can be a misspelt name. Comparing a word of megabytes with each name would take minutes.
  private static let longestWord = 256

  /// At most three names of the best rank: one edit away, else names that begin with the word, else two edits away.
  package static func all(_ word: String, among names: [String]) -> [String] {
    guard word.utf8.count <= longestWord else { return [] }
    let word = word.lowercased()
    let ranked = names.compactMap { name -> (rank: Int, name: String)? in
      let distance = distance(word, name.lowercased())
      if distance <= 1, word.count > 1 { return (0, name) }
      if word.count > 1, name.lowercased().hasPrefix(word) { return (1, name) }
      // Two edits can turn a short word into almost any other: `nosuch` is not a misspelt `touch`.
      let isAlike = word.count > 4 && (word.count > 6 || word.first == name.lowercased().first)
      return distance == 2 && isAlike ? (2, name) : nil
    }
    let best = ranked.map(\.rank).min()
    return ranked.filter { $0.rank == best }.prefix(3).map(\.name)
  }

  package static func near(_ word: String, among names: [String]) -> String? {
    all(word, among: names).first
  }

  /// A question such as "did you mean `keys` or `get`?", with each name as it is typed.
  package static func question(
    _ word: String, among names: [String], form: (String) -> String = { $0 }
  ) -> SafeText? {
    let near = all(word, among: names).map { "`\(form($0))`" }
    guard let last = near.last else { return nil }
    let list = near.count == 1 ? last : near.dropLast().joined(separator: ", ") + " or " + last
    return "did you mean \(list)?"
  }

  /// The number of edits: insertions, deletions, replacements, swaps of neighbours. Above 2, the result may be too small.
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

struct UnknownOption {
  let option: OptionWord
  let next: Argument?
  let command: CommandSpec
  let line: CommandLine

  var error: ShellError {
    ShellError(
      .unknownOption, "\(command.name) has no option \(Array(option.spelling.utf8))",
      at: option.range, hint: hint)
  }

  private var hint: SafeText {
    if line.source == .command, let moved = ProgramOptions.option(named: option.spelling),
      !ProgramOptions.excludingCommand.contains(moved.name),
      moved.kind == nil || option.value != nil || nextWord != nil
    {
      return "put program options before the command: `\(reordered(moved.kind != nil))`"
    }
    if option.spelling == "--ttl", command.selection != nil {
      return "use `--expiring\(text(of: option.value.map(\.bytes) ?? nextWord))`"
    }
    if ["--help", "-h"].contains(option.spelling) { return "`help \(command.name)`" }
    if option.spelling == "--output" {
      let mode = option.value.map(\.bytes) ?? nextWord ?? Array("MODE".utf8)
      return "use `output\(text(of: mode))` before the command"
    }
    if option.spelling == "--json" { return "use `-o json` before the command, or `output json`" }
    let names = command.options.map(\.name)
    if option.isShort {
      if let long = long(option.name) { return "did you mean `\(long)`?" }
    } else if let near = Suggestions.question(option.spelling, among: names) {
      return near
    }
    return command.ownOptions.isEmpty
      ? "`help \(command.name)`; quote a key that begins with -"
      : "it has \(command.ownOptions.map(\.name).joined(separator: " ")); quote a key that begins with -"
  }

  /// The command's option for which other tools use this letter: `--long` for `-l`, `--yes` for `-f`.
  private func long(_ letter: String) -> String? {
    let own = command.ownOptions.map(\.name)
    if let name = own.first(where: { $0.hasPrefix("--\(letter)") }) { return name }
    return letter == "f" ? own.first { $0 == "--yes" } : nil
  }

  private var nextWord: [UInt8]? { if case .word(let word) = next { word.bytes } else { nil } }

  private func text(of value: [UInt8]?) -> SafeText { value.map { " \(Quoting.typed($0))" } ?? "" }

  /// The line with the option at its right place: `larder S -o json keys @a` for `larder S keys @a -o json`.
  private func reordered(_ takesValue: Bool) -> String {
    var moved = [option.range]
    if takesValue, option.value == nil, case .word(let word) = next { moved.append(word.range) }
    func text(_ ranges: [Range<Int>]) -> String {
      ranges.map { String(decoding: line.text[$0], as: UTF8.self).shellWord }.joined(separator: " ")
    }
    let rest = line.arguments.map(\.range).filter { !moved.contains($0) }
    return "larder STORE \(text(moved)) \(text(rest))"
  }
}

import Larder
import ShellLanguage

struct BrowseChange: Equatable {
  enum Verb: String { case evict, pin, unpin, expire }

  let verb: Verb
  let entries: [Store.Entry]
  /// The time that follows `expire`; nil for the other verbs.
  var time: String?

  /// The question of the bulk command: `Evict 3 entries (107 B) in departures, such as "a", "b", "c"?`
  var question: SafeText {
    var summary = ChangeSummary(time.map { "expire at \($0):" } ?? verb.rawValue)
    for entry in entries { summary.add(entry) }
    return Confirmation.question(summary)
  }

  /// The commands that make the change, one for each namespace, with `--yes`: the person has confirmed the change.
  func commands() throws -> [CommandLine] {
    let groups = Dictionary(grouping: entries, by: \.namespace).sorted { $0.key < $1.key }
    let time = time.map { [Array($0.utf8)] } ?? []
    return try groups.map { namespace, entries in
      try CommandReader.command(
        verb.rawValue, in: namespace, options: ["--yes"], data: entries.map(\.key.bytes) + time)
    }
  }

  func check(_ clock: WallClock) throws(ShellError) {
    guard let time else { return }
    _ = try Word(Array(time.utf8), isBare: false, at: 0..<0).expiryChange(clock)
  }
}

struct EntryID: Hashable {
  let namespace: String
  let key: [UInt8]

  init(_ entry: Store.Entry) {
    namespace = entry.namespace
    key = entry.key.bytes
  }
}

import Larder
import LarderSystem
import ShellLanguage

/// The counts of a change, and the answer to the change in each output mode.
struct ChangeSummary {
  let verb: String
  /// The verb of questions and previews, such as `expire at 09:00:`.
  let phrase: String
  /// The counts by namespace, in the order in which the namespaces were added.
  private(set) var tallies: [(namespace: String, tally: Tally)] = []
  /// The index in `tallies` of each namespace, because a list of many namespaces takes too long to search for each entry.
  private var places: [ExactString: Int] = [:]
  private(set) var samples: [[UInt8]] = []
  /// The number of entries that the command applies to, with those that need no change. Only ``EntryChange`` counts them.
  var matched = 0
  /// The keys that `--verbose` shows; nil without `--verbose`.
  private var keys: [Cell]?
  /// The number of keys from standard input that do not exist. Nil if the command reads no keys from standard input.
  var absent: Int?

  private static let mostSamples = 3

  /// - Parameters:
  ///   - phrase: The verb of questions and previews; if nil, `verb`.
  ///   - namespaces: Namespaces that the answer lists even if nothing changes in these namespaces.
  init(
    _ verb: String, phrase: String? = nil, in namespaces: [String] = [], listsKeys: Bool = false
  ) {
    self.verb = verb
    self.phrase = phrase ?? verb
    keys = listsKeys ? [] : nil
    for name in namespaces { add(Tally(), in: name) }
  }

  init(_ verb: String, _ tally: Tally, in namespace: String) {
    self.init(verb)
    add(tally, in: namespace)
  }

  var total: Tally { tallies.reduce(into: Tally()) { $0 += $1.tally } }

  var unchanged: Int { matched - total.entries }

  mutating func add(_ tally: Tally, in namespace: String) {
    let index = places[ExactString(namespace), default: tallies.count]
    if index == tallies.count {
      places[ExactString(namespace)] = index
      tallies.append((namespace, Tally()))
    }
    tallies[index].tally += tally
  }

  mutating func add(_ entry: Store.Entry) {
    add(Tally(entry), in: entry.namespace)
    if samples.count < Self.mostSamples { samples.append(entry.key.bytes) }
    keys?.append(.entry(namespace: entry.namespace, key: entry.key.bytes))
  }

  typealias Field = (name: String, cell: Cell)

  /// - Parameter fields: Fields of the JSON answer after the counts.
  func reply(_ sentence: SafeText, _ fields: [Field] = []) -> Reply {
    reply(only: counts + fields, sentence)
  }

  /// The answer to `--dry-run`. Without a `sentence`, the answer names the first keys.
  func preview(_ fields: [Field]? = nil, _ sentence: SafeText? = nil) -> Reply {
    let keys = samples.map { SafeText(quoting: $0) }.joined()
    let more = total.entries > samples.count ? ", \u{2026}" : ""
    let list: SafeText = samples.isEmpty ? "" : ": \(keys)\(more)"
    return reply(
      only: [("dry_run", .bool(true))] + (fields ?? counts),
      sentence ?? "would \(phrase) \(total.inBrackets)\(list)", verb: "would \(verb)")
  }

  /// The answer whose JSON has `fields` instead of the counts.
  func reply(only fields: [Field], _ sentence: SafeText, verb: String? = nil) -> Reply {
    var all = fields + keyFields
    if let absent { all.append(("absent", .number(absent))) }
    let remark: [SafeText] = absent.map { $0 == 0 ? [] : [Self.notFound($0)] } ?? []
    let lines = tallies.map { namespace, tally -> [Cell] in
      [.text(verb ?? self.verb), .text(namespace), .number(tally.entries), .number(tally.bytes)]
    }
    return Reply(
      .object(all.map { Column($0.name, in: .data) }, all.map(\.cell)),
      in: [.plain: .rows(["verb", "namespace", "count", "bytes"], lines)],
      sentences: [sentence] + remark)
  }

  var keyFields: [Field] { keys.map { [("keys", .list($0))] } ?? [] }

  static func notFound(_ count: Int) -> SafeText {
    "\(Wording.count(count, "key", "keys")) not found"
  }

  var counts: [Field] { [("count", .number(total.entries)), ("bytes", .size(total.bytes))] }
}

/// A number of entries, and the number of bytes that their stored values need.
struct Tally: Sendable, Hashable {
  var entries = 0
  var bytes = 0

  mutating func add(_ entry: Store.Entry) { self += Tally(entry) }

  static func += (left: inout Tally, right: Tally) { left = left + right }

  static func + (left: Tally, right: Tally) -> Tally {
    Tally(entries: left.entries + right.entries, bytes: left.bytes + right.bytes)
  }

  /// `left` minus `right`, but at least zero: the two tallies may have been counted at different times.
  static func - (left: Tally, right: Tally) -> Tally {
    Tally(entries: max(left.entries - right.entries, 0), bytes: max(left.bytes - right.bytes, 0))
  }

  /// Words such as `40 entries, 31 kB`.
  var words: SafeText { "\(Wording.entries(entries)), \(Wording.size(bytes))" }

  /// Words such as `40 entries (31 kB)`.
  var inBrackets: SafeText { "\(Wording.entries(entries)) (\(Wording.size(bytes)))" }
}

extension Tally {
  init(_ entry: Store.Entry) { self.init(entries: 1, bytes: entry.valueSize) }

  init(_ removal: RemovalResult) { self.init(entries: removal.entries, bytes: removal.bytes) }

  init(_ info: NamespaceInfo) { self.init(entries: info.entries, bytes: info.bytes) }
}

extension [NamespaceInfo] { var tally: Tally { reduce(into: Tally()) { $0 += Tally($1) } } }

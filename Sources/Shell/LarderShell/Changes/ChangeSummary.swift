import Larder
import LarderSystem
import ShellLanguage

/// The counts of a change, and its answer in every form: a line for each namespace in plain output,
/// one object in JSON, a sentence for a person.
struct ChangeSummary {
  let verb: String
  /// By namespace, in the order in which they were changed.
  private(set) var tallies: [(namespace: String, tally: Tally)] = []
  /// The first keys, for a preview or a question.
  private(set) var samples: [[UInt8]] = []
  /// The number of keys from standard input that do not exist; nil if none came from there.
  var absent: Int?

  private static let mostSamples = 3

  init(_ verb: String) { self.verb = verb }

  var total: Tally { tallies.reduce(into: Tally()) { $0 += $1.tally } }

  /// Lists a namespace even if nothing changes there.
  mutating func begin(_ namespace: String) { add(Tally(), in: namespace) }

  mutating func add(_ tally: Tally, in namespace: String) {
    if let index = tallies.firstIndex(where: { $0.namespace.isExactly(namespace) }) {
      tallies[index].tally += tally
    } else {
      tallies.append((namespace, tally))
    }
  }

  mutating func add(_ entry: Store.Entry) {
    var tally = Tally()
    tally.add(entry)
    add(tally, in: entry.namespace)
    if samples.count < Self.mostSamples { samples.append(entry.key.bytes) }
  }

  // MARK: Answers

  typealias Field = (name: String, cell: Cell)

  /// - Parameter fields: The fields in JSON.
  func reply(_ fields: [Field], _ sentence: SafeText, for presentation: Presentation) -> Reply {
    reply(fields, sentence, verb: verb, for: presentation)
  }

  /// The answer to `--dry-run`.
  func preview(_ fields: [Field], for presentation: Presentation) -> Reply {
    let keys = samples.map { SafeText(quoting: $0) }.joined()
    let more = total.entries > samples.count ? ", \(presentation.ellipsis)" : ""
    let sentence: SafeText =
      samples.isEmpty
      ? "would \(verb) \(total.inBrackets)" : "would \(verb) \(total.inBrackets): \(keys)\(more)"
    return reply(
      [("dry_run", .bool(true))] + fields, sentence, verb: "would \(verb)", for: presentation)
  }

  private func reply(
    _ fields: [Field], _ sentence: SafeText, verb: String, for presentation: Presentation
  ) -> Reply {
    guard presentation.mode != .plain else {
      return Reply(
        .rows(
          [Column("verb"), Column("namespace"), Column("count"), Column("bytes")],
          tallies.map { namespace, tally in
            [.text(verb), .text(namespace), .number(tally.entries), .number(tally.bytes)]
          }))
    }
    let all = fields + (absent.map { [("absent", .number($0))] } ?? [])
    let remark: [SafeText] = absent.map { $0 == 0 ? [] : [Self.notFound($0)] } ?? []
    return Reply(
      .object(all.map { Column($0.name, in: .data) }, all.map(\.cell)),
      sentences: [sentence] + remark)
  }

  static func notFound(_ count: Int) -> SafeText {
    "\(Wording.count(count, "key", "keys")) not found"
  }

  /// The fields that most verbs have in JSON.
  var counts: [Field] { [("count", .number(total.entries)), ("bytes", .size(total.bytes))] }
}

import ShellLanguage

/// What a changing command did, in every form: a line for each namespace in plain output, one object
/// in JSON, a sentence for a person.
struct Acknowledgement {
  let verb: String
  /// By namespace, in the order in which they were changed.
  private(set) var tallies: [(namespace: String, tally: Tally)] = []

  /// How many keys that were asked for are nowhere; nil where they were not given from outside.
  var absent: Int?

  init(_ verb: String) { self.verb = verb }

  var total: Tally { tallies.reduce(into: Tally()) { $0 += $1.tally } }

  /// Says that a namespace is concerned, even if nothing changes there.
  mutating func begin(_ namespace: String) { add(Tally(), in: namespace) }

  mutating func add(_ tally: Tally, in namespace: String) {
    if let index = tallies.firstIndex(where: { $0.namespace == namespace }) {
      tallies[index].tally += tally
    } else {
      tallies.append((namespace, tally))
    }
  }

  /// - Parameters:
  ///   - fields: What JSON says.
  ///   - sentences: What a person reads.
  func reply(
    _ fields: [(name: String, cell: Cell)], _ sentences: SafeText..., for mode: OutputMode
  ) -> Reply {
    guard mode != .plain else {
      return Reply(
        .rows(
          [Column("verb"), Column("namespace"), Column("count"), Column("bytes")],
          tallies.map { namespace, tally in
            [.text(verb), .text(namespace), .number(tally.entries), .number(tally.bytes)]
          }))
    }
    let all = fields + (absent.map { [("absent", .number($0))] } ?? [])
    let remark: SafeText? = absent.flatMap {
      $0 == 0 ? nil : "\(Wording.count($0, "key was", "keys were")) not there"
    }
    return Reply(
      .object(all.map { Column($0.name, in: .data) }, all.map(\.cell)),
      sentences: sentences + [remark].compactMap(\.self))
  }

  /// What most verbs say in JSON.
  var counts: [(name: String, cell: Cell)] {
    [("count", .number(total.entries)), ("bytes", .size(total.bytes))]
  }
}

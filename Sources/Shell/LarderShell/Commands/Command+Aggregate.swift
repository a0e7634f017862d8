import ShellLanguage

extension Command {
  static let count = CommandSpec(
    "count", .looking, .reads, "Counts the entries of a selection and their bytes.",
    selection: .optional, options: [.value("--by", .operand, "count the entries for each value")],
    rules: groupRules, plain: ["": "entries bytes expired", "--by OPERAND": "value entries bytes"],
    examples: [
      "count @departures": "a namespace",
      "count @* --older 30d": "entries written a month ago or earlier",
      "count @departures --by .track": "for each value of a field",
    ]
  ).running { call, session in
    let scope = try Scope(of: call, in: session)
    if let group = call.operand("--by") { return try countGroups(scope, by: group) }
    let tally = try scope.tally()
    // Expired entries have a count of their own. With `--expired`, the first count also includes the expired entries.
    let counted = scope.selection.wantsExpired ? tally.fresh + tally.expired : tally.fresh
    let expired = tally.expired.entries
    let rest: SafeText = expired == 0 ? "" : ", \(Wording.count(expired)) expired"
    let fields: KeyValuePairs<Column, Cell> = [
      "entries": .number(counted.entries), "bytes": .size(counted.bytes),
      "expired": .number(expired),
    ]
    try session.output.answer(Reply(fields, sentences: [counted.words + rest]))
  }

  static let sumUp = aggregate(.sum, "Adds up numbers.", "sum .track @departures")
  static let minimum = aggregate(.min, "Shows the smallest value.", "min written @articles")
  static let maximum = aggregate(.max, "Shows the largest value.", "max size @*")
  static let average = aggregate(.avg, "Shows the average of numbers.", "avg .track @departures")

  /// Groups have a fixed order, so `--by` excludes the options for the order of entries.
  private static let groupRules: [CommandSpec.Rule] = [
    .atMostOne(["--by", "--sort"]), .atMostOne(["--by", "--reverse"]),
  ]

  private static func aggregate(
    _ kind: Aggregate.Kind, _ summary: String, _ example: String
  ) -> Command {
    CommandSpec(
      kind.rawValue, .looking, .reads, summary, parameters: [.one("OPERAND", .operand)],
      selection: .optional, options: [.value("--by", .operand, "one result for each value")],
      rules: groupRules,
      plain: ["": "result values skipped", "--by OPERAND": "group result values skipped"],
      examples: [
        example: "over a selection",
        "\(kind.rawValue) size @departures --by .track": "for each value of a field",
      ]
    ).running { call, session in
      let operand = call.operand("OPERAND")!
      let group = call.operand("--by")
      if let group, group.operand.takesEach, operand.operand.takesEach {
        throw ShellError(
          .usage, "\(kind.rawValue) and --by cannot both take every element",
          at: call.range("--by"), hint: "only one of them may have []")
      }
      let scope = try Scope(of: call, in: session)
      var groups: [QueryValue: Aggregate] = [:]
      let operands = [operand.operand] + (group.map { [$0.operand] } ?? [])
      try (group == nil ? scope : scope.unlimited).forEachQueried(operands) { _, values in
        let names = group == nil ? [.null] : Set(values[1].map(\.normalized))
        for name in names {
          for value in values[0] { groups[name, default: Aggregate(kind)].add(value) }
        }
        try Aggregate.check(groups.count)
      }
      guard let group else {
        let result = groups[.null] ?? Aggregate(kind)
        return try session.output.answer(
          reply(kind, of: operand.label, result, session.output.presentation))
      }
      let columns = [Column("by", title: group.label), Column(kind.rawValue), "values", "skipped"]
      let sorted = groups.sorted { isBefore($0.key, $1.key) }
      let rows = sorted.prefix(scope.selection.most).map { group, result -> [Cell] in
        [group.cell, result.result.cell, .number(result.values), .number(result.skipped)]
      }
      try session.output.answer(.rows(columns, rows))
    }
  }

  private static func countGroups(_ scope: Scope, by group: QueryColumn) throws {
    var groups: [QueryValue: Tally] = [:]
    // The limit applies to the groups, because a limit of entries would make the sums wrong.
    try scope.unlimited.forEachQueried([group.operand]) { entry, values in
      for group in Set(values[0].map(\.normalized)) { groups[group, default: Tally()].add(entry) }
      try Aggregate.check(groups.count)
    }
    let sorted = groups.sorted {
      $0.value.entries != $1.value.entries
        ? $0.value.entries > $1.value.entries : isBefore($0.key, $1.key)
    }
    let columns = [Column("value", title: group.label), "entries", Column("bytes", title: "size")]
    let rows = sorted.prefix(scope.selection.most).map { group, tally -> [Cell] in
      [group.cell, .number(tally.entries), .size(tally.bytes)]
    }
    try scope.session.output.answer(.rows(columns, rows))
  }

  /// The order of groups. Equal numbers in different notations, such as `1` and `1.0`, are ordered by their text.
  private static func isBefore(_ a: QueryValue, _ b: QueryValue) -> Bool {
    a.precedes(b) || !b.precedes(a) && a.json < b.json
  }

  private static func reply(
    _ kind: Aggregate.Kind, of label: String, _ result: Aggregate, _ presentation: Presentation
  ) -> Reply {
    let skipped = result.skipped > 0 ? ", \(Wording.count(result.skipped)) skipped" : ""
    let shown =
      if case .integer(let sum) = result.result, let sum = Int(exactly: sum) {
        Wording.count(sum)
      } else { result.result.cell.shown(presentation) }
    return Reply(
      [
        Column(kind.rawValue): result.result.cell, Column("field", in: .data): .text(label),
        "values": .number(result.values), "skipped": .number(result.skipped),
      ],
      sentences: [
        "\(kind.rawValue) of \(label)   \(shown)   (\(Wording.count(result.values, "value", "values"))\(skipped))"
      ])
  }
}

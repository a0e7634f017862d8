import Larder

extension CommandSpec {
  static let namespaces = CommandSpec(
    "namespaces", aliases: ["ns", "ls"], .looking, .reads,
    "Lists the namespaces with their entries, size, next expiry and limit.",
    options: [.value("--sort", .choice(["size", "entries", "name"]), "the order")],
    examples: [
      Example("namespaces", "all of them, by name"),
      Example("ns --sort size", "the largest first"),
    ],
    run: listNamespaces)

  private static func listNamespaces(_ call: Invocation, in session: Session) throws -> Outcome {
    var namespaces = try session.store.namespaces()
    switch call.choice("--sort") {
    case "size": namespaces.sort { ($1.bytes, $0.name) < ($0.bytes, $1.name) }
    case "entries": namespaces.sort { ($1.entries, $0.name) < ($0.entries, $1.name) }
    default: break
    }
    let bytes = max(namespaces.map(\.bytes).reduce(0, +), 1)
    let columns = [
      Column("namespace"),
      Column("entries"),
      Column("bytes", title: "size"),
      Column("stored", in: .data),
      Column("share", in: [.table, .data]),
      Column("bar", title: "", in: .table),
      Column("next_expiry", title: "next expiry", in: [.table, .data]),
      Column("lifetime", in: .data),
      Column("limit", in: .table),
      Column("limit_entries", in: .data),
      Column("limit_bytes", in: .data),
      Column("largest_value", in: .data),
    ]
    let next = try session.store.nextExpiries()
    let rows = namespaces.map { namespace -> [Cell] in
      let share = Double(namespace.bytes) / Double(bytes)
      let limits = namespace.rules.limits
      return [
        .text(namespace.name), .number(namespace.entries), .size(namespace.bytes),
        .size(namespace.storedSize), .share(share), .bar(share),
        next[namespace.name].map { .expiry($0) } ?? .null, .lifetime(namespace.rules.expires),
        limits.words.map { .text($0) } ?? .null, limits.entries.map { .number($0) } ?? .null,
        limits.bytes.map { .size($0) } ?? .null, .size(namespace.rules.largestValue),
      ]
    }
    try session.answer(Reply(.rows(columns, rows)))
    return .done
  }
}

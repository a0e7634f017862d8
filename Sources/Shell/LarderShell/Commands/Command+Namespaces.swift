import Larder
import LarderSystem
import ShellLanguage

extension Command {
  static let namespaces = CommandSpec(
    "namespaces", aliases: ["ns", "ls"], .looking, .reads,
    "Lists the namespaces with their entries, size, next expiry and limit.", namespaces: .any,
    options: [.value("--sort", .choice(["size", "entries", "name"]), "the order")],
    plain: ["": "namespace entries bytes"],
    examples: ["namespaces": "all of them, by name", "ns --sort size": "the largest first"]
  ).running { call, session in
    let names =
      call.meansStore
      ? nil : Set(try session.namespaces(call.namespaces).map { ExactString($0.name) })
    var namespaces = try session.livingNamespaces()
      .filter { names?.contains(ExactString($0.name)) ?? true }
    switch call.choice("--sort") {
    case "size": namespaces.sort { ($1.bytes, $0.name) < ($0.bytes, $1.name) }
    case "entries": namespaces.sort { ($1.entries, $0.name) < ($0.entries, $1.name) }
    default: break
    }
    let bytes = max(namespaces.map(\.bytes).reduce(0, +), 1)
    let columns: [Column] = [
      "namespace", "entries", Column("bytes", title: "size"), Column("stored", in: .data),
      Column("share", in: [.table, .data]), Column("bar", title: "", in: .table),
      Column("next_expiry", title: "next expiry", in: [.table, .data]),
      Column("lifetime", in: .data), Column("limit", in: .table),
      Column("limit_entries", in: .data), Column("limit_bytes", in: .data),
      Column("largest_value", in: .data),
    ]
    let next = try session.store.nextExpiries()
    let rows = namespaces.map { namespace -> [Cell] in
      let share = Double(namespace.bytes) / Double(bytes)
      let limits = namespace.rules.limits
      return [
        .text(namespace.name), .number(namespace.entries), .size(namespace.bytes),
        .size(namespace.storedSize), .share(share), .bar(share),
        next[ExactString(namespace.name)].map { .expiry($0.unix) } ?? .null,
        .lifetime(namespace.rules.expires), .optional(limits.words, Cell.prose),
        .optional(limits.entries, Cell.number), .optional(limits.bytes, Cell.size),
        .size(namespace.rules.largestValue),
      ]
    }
    try session.output.answer(.rows(columns, rows))
    if rows.isEmpty, !session.output.presentation.mode.isStructured {
      let error = NamespaceChoice.emptyStore
      try session.host.notify("note: \(error.message)\(error.hint.map { "; \($0)" } ?? "")")
    }
  }

  static let use = CommandSpec(
    "use", .shell, .reads, "Sets the namespace that commands mean when they name none.",
    parameters: [.optional("NS", .namespace)],
    examples: [
      "use departures": "keys, get and the others now mean departures", "use": "none again",
    ],
  ).running { call, session in
    let name = call.namespaceNames("NS").first
    session.current = try name.map { try session.namespace(.named([$0])).name }
    try session.output.answer(
      Reply([Column("namespace", in: .data): session.current.map { .text($0) } ?? .null]))
  }

  static let rename = CommandSpec(
    "rename", .store, .changes, "Gives a namespace another name, for every process at once.",
    parameters: [.one("@OLD", .namespace), .one("@NEW", .namespace)], plain: ["": "verb old new"],
    examples: [
      "rename @articles @news": "entries, rules and counts stay",
      "rename @thumbs @pictures": "the new name must be free",
    ]
  ).running { call, session in
    let old = call.namespaceNames("@OLD")[0]
    let new = call.namespaceNames("@NEW")[0].text
    let existing = try session.store.namespaces().map(\.name)
    guard existing.contains(where: old.text.isExactly) else {
      throw NamespaceChoice.absent(old, existing: existing)
    }
    try session.store.rename(old.text, to: new)
    session.undo.hasChanged = true
    if old.text.isExactly(session.current) { session.current = new }
    try session.output.acknowledge(
      ["old": .text(old.text), "new": .text(new)],
      plain: ["verb": .text("rename"), "old": .text(old.text), "new": .text(new)],
      sentences: ["renamed \(old.text) to \(new)"])
  }
}

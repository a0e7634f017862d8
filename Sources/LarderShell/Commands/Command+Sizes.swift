import Larder
import ShellLanguage

extension Command {
  static let sizes = Command(
    "sizes", aliases: ["du"], .looking, .reads, "Shows what takes the space, the largest first.",
    selection: .optional,
    options: [
      .value(
        "--by", .choice(SizeReport.Grouping.allCases.map(\.rawValue)),
        "what is summed up; else namespaces, or the prefixes of one"),
      .value("--depth", .count, "how many parts a prefix has; 1"),
      .value("--separator", .data, "what ends a part; /", placeholder: "TEXT"),
      .value("--top", .limit, "how many rows; 20"),
    ],
    examples: [
      Example("sizes", "the namespaces, at once"),
      Example("sizes @articles --by key --top 3", "the largest values"),
      Example("sizes @departures --by prefix --separator :", "by what keys begin with"),
    ],
    run: showSizes)

  private static func showSizes(_ call: Invocation, in session: Session) throws -> Outcome {
    let selection = call.selection!
    // What eats the space is asked of the whole, unless a part is named or in use.
    let isWhole = selection.namespaces == .unnamed && session.current == nil
    let namespaces = try session.namespacesOrAll(selection)
    let grouping =
      call.choice("--by").flatMap(SizeReport.Grouping.init)
      ?? (isWhole || namespaces.count > 1 ? .namespace : .prefix)
    let depth = call.number("--depth") ?? 1
    let separator = call.bytes("--separator") ?? Array("/".utf8)
    guard depth > 0, !separator.isEmpty else {
      throw ShellError(
        .usage, depth > 0 ? "the separator is empty" : "a prefix has at least one part",
        hint: "say --depth 1 --separator /")
    }
    let top: Int? =
      switch call.limit("--top") {
      case .all: nil
      case .count(let count): count
      case nil: 20
      }
    var report = SizeReport(
      by: grouping, depth: depth, separator: separator, top: top,
      namesNamespaces: namespaces.count > 1)
    if grouping == .namespace, selection.isEverything {
      for namespace in namespaces { report.add(try session.facts(of: namespace.name)) }
    } else {
      try report.add(selection, in: namespaces, of: session)
    }
    let limit = isWhole ? try session.store.limits().effective.bytes : nil
    try session.answer(report.reply(for: session.presentation, limit: limit))
    return .done
  }
}

extension Selection {
  /// Whole namespaces, so that their counts say all.
  var isEverything: Bool {
    patterns.isEmpty && filters.isEmpty && input == nil && limit == nil && after == nil
  }
}

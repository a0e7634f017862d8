import Larder
import ShellLanguage

extension Command {
  static let sizes = Command(
    "sizes", aliases: ["du"], .looking, .reads, "Shows what uses space, the largest first.",
    selection: .optional,
    options: [
      .value(
        "--by", .choice(SizeReport.Grouping.allCases.map(\.rawValue)),
        "group by (default: namespace, or prefix within one)"),
      .value("--depth", .number(1...Int.max), "parts of a prefix; default: 1"),
      .value("--separator", .data, "the end of a part; default: /", placeholder: "TEXT"),
      .value("--top", .limit, "at most so many rows; default: 20"),
    ],
    plain: [
      "": "namespace entries bytes", "--by prefix": "[namespace] prefix entries bytes",
      "--by key": "[namespace] key bytes",
    ],
    examples: [
      Example("sizes", "the namespaces, at once"),
      Example("sizes @articles --by key --top 3", "the largest values"),
      Example("sizes @departures --by prefix --separator :", "by what keys begin with"),
    ],
    run: showSizes)

  private static func showSizes(_ call: Invocation, in session: Session) throws -> Outcome {
    let isWhole = call.namespaces == .unnamed && session.current == nil
    let (selection, namespaces) = try session.scope(of: call, wholeByDefault: true)
    let grouping =
      call.choice("--by").flatMap(SizeReport.Grouping.init)
      ?? (isWhole || namespaces.count > 1 ? .namespace : .prefix)
    let depth = call.number("--depth") ?? 1
    let separator = call.bytes("--separator") ?? Array("/".utf8)
    guard !separator.isEmpty else {
      throw ShellError(
        .usage, "the separator is empty", at: call.range("--separator"),
        hint: "use `--separator /`")
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
    // Compressed entries have to be read for their share.
    let isCounted = try !session.holdsCompressed(namespaces)
    if grouping == .namespace, selection.isEverything, isCounted {
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
  /// Whole namespaces: their counters are the answer.
  var isEverything: Bool {
    patterns.isEmpty && filters.isEmpty && input == nil && limit == nil && after == nil
  }
}

extension Session {
  /// Whether one of the namespaces has compressed entries, as far as the first hundred of each tell.
  fileprivate func holdsCompressed(_ namespaces: [Store.Namespace]) throws -> Bool {
    for namespace in namespaces
    where try namespace.page(limit: 100).items.contains(where: { $0.transforms.contains(.zstd) }) {
      return true
    }
    return false
  }
}

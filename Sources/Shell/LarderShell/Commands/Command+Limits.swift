import Larder
import LarderSystem
import ShellLanguage

extension Command {
  static let limits = CommandSpec(
    "limits", .store, .mayChange, "Shows or changes the limits of the store or a namespace.",
    namespaces: .oneOrAll,
    options: [
      .value("--entries", .countOrNone, "most entries"),
      .value("--bytes", .sizeOrNone, "most bytes of values"),
      .value("--entry-size", .sizeOrNone, "the largest value; of a namespace"),
      .value(
        "--guaranteed", .sizeOrNone,
        "bytes that writes of other namespaces never evict; of a namespace"),
      .value(
        "--policy", .choice(Eviction.allCases.map(\.rawValue)),
        "the rule when it is full; of a namespace"),
      .value(
        "--priority", .choice(Priority.allCases.map(\.rawValue)),
        "low is evicted first when the store is full; of a namespace"),
      .value("--disk", .sizeOrNone, "the size of the data file; of the store"),
      .value("--memory", .sizeOrNone, "decoded values in each process; of the store"),
      .flag("--reset", "discard overrides; limits declared in code apply again"),
      BulkOptions.dryRun, BulkOptions.yes,
    ],
    plain: ["": "namespace limit used allowed", "--entries N": "verb namespace entries bytes"],
    examples: [
      "limits": "the store, and the namespaces that have a limit",
      "limits @thumbs --bytes 50MB --policy fifo": "over what code declared",
      "limits @thumbs --guaranteed 10MB": "a share that other namespaces cannot take",
      "limits --disk 1GB": "the data file never grows beyond it",
    ]
  ).running { call, session in
    if let wrong = (call.meansStore ? ofNamespace : ofStore).first(where: call.has) {
      throw ShellError(
        .usage, "\(wrong) belongs to \(call.meansStore ? "a namespace" : "the store")",
        at: call.range(wrong),
        hint: call.meansStore ? "`limits @NS \(wrong) ...`" : "`limits \(wrong) ...`")
    }
    let isChange = (ofBoth + ofNamespace + ofStore).contains(where: call.has)
    // A change may name a namespace that does not exist yet.
    let namespace = isChange ? session.namespaceToWrite : session.namespace
    let name = call.meansStore ? nil : try namespace(call.namespaces).name
    guard isChange else {
      return try session.output.answer(LimitReport(of: name, in: session).reply())
    }
    guard !session.isReadOnly || call.isPreview else { throw ShellError.readOnly("limits") }
    let before = try usage(name, in: session)
    let excess = try Excess(over: call, name, before, in: session)
    if call.isPreview {
      let found = ChangeSummary("evict", excess.tally, in: name ?? "@*")
      return try session.output.answer(found.preview(nil, "would evict \(excess.words)"))
    }
    if !excess.isEmpty {
      try Confirmation(call: call, session: session, isSweeping: name == nil)
        .require("evict \(excess.words)") { "Evict \(excess.words) of \(name ?? "the store")?" }
    }
    let evicted = try override(call, name, from: before, in: session)
    let done = ChangeSummary("limits", evicted, in: name ?? "@*")
    try session.afterCommit { try LimitReport(of: name, in: session) }
      .map { try session.output.acknowledge($0.reply(evicted: evicted, plain: done)) }
  }

  private static let ofNamespace = ["--entry-size", "--guaranteed", "--policy", "--priority"]
  private static let ofStore = ["--disk", "--memory"]
  private static let ofBoth = ["--entries", "--bytes", "--reset"]

  /// Changes the limits. The result, `before` minus the present entries and bytes, includes removals by other processes.
  private static func override(
    _ call: Invocation, _ name: String?, from before: Tally, in session: Session
  ) throws -> Tally {
    func evicted() throws -> Tally { try before - usage(name, in: session) }
    func shouldContinue() -> Bool { !session.host.isInterrupted() }
    let isDone: Bool
    do {
      if let name {
        let namespace = session.store.namespace(name)
        if try namespace.info() == nil {
          try session.write { try $0.declare(Rules(), for: namespace) }
        }
        let info = try session.info(of: name)
        isDone = try session.store.override(
          call.overrides(over: info.overrides), for: name, while: shouldContinue)
      } else {
        isDone = try session.store.override(
          call.overrides(over: session.store.limits().overrides), while: shouldContinue)
      }
    } catch let error as LarderError where error.code == .full {
      let gone = try evicted().entries
      session.undo.hasChanged = gone > 0
      let full = ShellError(error)
      guard gone > 0 else { throw full }
      throw ShellError(
        full.code, "\(full.message); evicted \(Wording.entries(gone))", hint: full.hint)
    }
    session.undo.hasChanged = true
    guard isDone else {
      throw ShellError.interrupted("evicted \(try evicted().words); the limit is what is left")
    }
    return try session.afterCommit(evicted) ?? Tally()
  }

  private static func usage(_ name: String?, in session: Session) throws -> Tally {
    try session.store.namespaces().filter { name == nil || $0.name.isExactly(name) }.tally
  }
}

/// The entries and bytes beyond the new limits. For a limit of entries, the number of bytes is unknown before the eviction.
private struct Excess {
  /// The entries beyond the limit of entries, and the bytes beyond the limit of bytes. The bytes are at least `file`.
  private(set) var tally = Tally()
  /// The bytes of the file beyond the limit of the disk.
  private var file = 0
  private let usage: Tally

  /// Throws if the policy `refuse` keeps the entries beyond a limit.
  init(over call: Invocation, _ name: String?, _ usage: Tally, in session: Session) throws {
    self.usage = usage
    let limits: Limits
    var isRefused = false
    if let name {
      guard var info = try session.store.namespace(name).info() else { return }
      info.overrides = call.overrides(over: info.overrides)
      limits = info.rules.limits
      isRefused = info.rules.eviction == .refuse
    } else {
      var info = try session.store.limits()
      info.overrides = call.overrides(over: info.overrides)
      limits = Limits(entries: info.effective.entries, bytes: info.effective.bytes)
      let used = try session.store.statistics().file
      let disk = info.effective.usableDisk(pageSize: used.pageSize) ?? .max
      file = max((used.pages - used.freePages) * used.pageSize - disk, 0)
    }
    tally = usage - Tally(entries: limits.entries ?? .max, bytes: limits.bytes ?? .max)
    if isRefused, !isEmpty {
      throw ShellError(
        .overLimit, "\(name ?? "") holds \(usage.words), and policy refuse evicts none",
        hint: "evict entries first, or choose another policy")
    }
    // To shrink the file by `file` bytes, the store must evict values of at least `file` bytes.
    if file > tally.bytes { tally.bytes = file }
  }

  var isEmpty: Bool { tally == Tally() && file == 0 }

  /// Words such as `54 of 64 entries`, `at least 9.8 kB of 31 kB` or `no entries`.
  var words: SafeText {
    var parts: [SafeText] = []
    if tally.entries > 0 {
      parts.append("\(Wording.count(tally.entries)) of \(Wording.entries(usage.entries))")
    }
    if tally.bytes > file {
      parts.append("at least \(Wording.size(tally.bytes)) of \(Wording.size(usage.bytes))")
    }
    if file > 0 { parts.append("entries until the file has \(Wording.size(file)) less") }
    return parts.isEmpty ? "no entries" : parts.joined(separator: " and ")
  }
}

extension Invocation {
  fileprivate func overrides(over present: Rules.Overrides) -> Rules.Overrides {
    var overrides = present
    if has("--reset") {
      // `limits` cannot set the expiry, the stale window and the jitter, so `--reset` keeps the overrides of these rules.
      overrides = Rules.Overrides(
        expires: present.expires, stale: present.stale, jitter: present.jitter)
    }
    var limits = overrides.limits ?? Limits()
    if let entries = number("--entries") { limits.entries = entries }
    if let bytes = number("--bytes") { limits.bytes = bytes }
    if let guaranteed = number("--guaranteed") { limits.guaranteed = guaranteed }
    overrides.limits = limits == Limits() ? nil : limits
    if let size = number("--entry-size") {
      // A batch allows no value above `largestPossibleValue`, so `none` means this size.
      overrides.largestValue = size == Limits.unlimited ? Rules.largestPossibleValue : size
    }
    if let policy = choice("--policy") { overrides.eviction = Eviction(rawValue: policy) }
    if let priority = choice("--priority") { overrides.priority = Priority(rawValue: priority) }
    return overrides
  }

  fileprivate func overrides(over present: StoreLimits) -> StoreLimits {
    var limits = has("--reset") ? StoreLimits() : present
    if let entries = number("--entries") { limits.entries = entries }
    if let bytes = number("--bytes") { limits.bytes = bytes }
    if let disk = number("--disk") { limits.disk = disk }
    if let memory = number("--memory") { limits.memory = memory }
    return limits
  }
}

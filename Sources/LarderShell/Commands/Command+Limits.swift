import Larder
import ShellLanguage

extension Command {
  static let limits = Command(
    "limits", .store, .reads, "Shows what the store or a namespace may hold, or changes it.",
    namespaces: .oneOrAll,
    options: [
      .value("--entries", .countOrNone, "how many entries"),
      .value("--bytes", .sizeOrNone, "how many bytes of values"),
      .value("--entry-size", .sizeOrNone, "the largest value; of a namespace"),
      .value(
        "--policy", .choice(Eviction.allCases.map(\.rawValue)),
        "what happens when it is full; of a namespace"),
      .value(
        "--priority", .choice(Priority.allCases.map(\.rawValue)),
        "whether it gives way first when the store is full; of a namespace"),
      .value("--disk", .sizeOrNone, "the size of the data file; of the store"),
      .value("--memory", .sizeOrNone, "decoded values in each process; of the store"),
      .flag("--reset", "let what code declared hold again, but for what is set now"),
    ],
    examples: [
      Example("limits", "the store, and the namespaces that have a limit"),
      Example("limits @thumbs --bytes 50MB --policy fifo", "over what code declared"),
      Example("limits @thumbs --entries none", "no limit, whatever code declared"),
      Example("limits --disk 1GB", "the data file never grows beyond it"),
    ],
    run: showOrSetLimits)

  private static let ofNamespace = ["--entry-size", "--policy", "--priority"]
  private static let ofStore = ["--disk", "--memory"]
  private static let ofBoth = ["--entries", "--bytes", "--reset"]

  private static func showOrSetLimits(_ call: Invocation, in session: Session) throws -> Outcome {
    let isStore = call.meansStore
    if let wrong = (isStore ? ofNamespace : ofStore).first(where: call.has) {
      throw ShellError(
        .usage, isStore ? "\(wrong) is a rule of a namespace" : "\(wrong) is a limit of the store",
        hint: isStore ? "name one: limits @NS \(wrong) ..." : "leave @ out: limits \(wrong) ...")
    }
    let name = isStore ? nil : try session.namespace(call.namespaces).name
    guard (ofBoth + ofNamespace + ofStore).contains(where: call.has) else {
      let report = try LimitReport(of: name, in: session)
      try session.answer(report.reply(for: session.presentation))
      return .done
    }
    guard !session.isReadOnly else { throw ShellError.readOnly("limits") }
    let before = try held(name, in: session)
    if let name {
      let facts = try session.facts(of: name)
      try session.store.override(call.overrides(over: facts.overrides), for: name)
    } else {
      try session.store.override(call.overrides(over: session.store.limits().overrides))
    }
    let after = try held(name, in: session)
    // Lowering a limit removes what is too much; what others removed meanwhile counts as well.
    var done = Acknowledgement("limits")
    var gone = Tally()
    gone.entries = max(before.entries - after.entries, 0)
    gone.bytes = max(before.bytes - after.bytes, 0)
    done.add(gone, in: name ?? "@*")
    let report = try LimitReport(of: name, in: session)
    try session.acknowledge(
      session.presentation.mode == .plain
        ? done.reply(done.counts, for: .plain)
        : report.reply(for: session.presentation, evicted: gone))
    return .done
  }

  private static func held(_ name: String?, in session: Session) throws -> Tally {
    var tally = Tally()
    for facts in try session.store.namespaces() where name == nil || facts.name == name {
      tally.entries += facts.entries
      tally.bytes += facts.bytes
    }
    return tally
  }
}

extension Invocation {
  /// A limit that may be `none`.
  private func bound(_ name: String) -> Int? {
    switch limit(name) {
    case .all: Limits.unlimited
    case .count(let count): count
    case nil: nil
    }
  }

  fileprivate func overrides(over present: Rules.Overrides) -> Rules.Overrides {
    var overrides = present
    if has("--reset") {
      // What only code can have set is no limit.
      overrides = Rules.Overrides(
        expires: present.expires, stale: present.stale, jitter: present.jitter)
    }
    var limits = overrides.limits ?? Limits()
    if let entries = bound("--entries") { limits.entries = entries }
    if let bytes = bound("--bytes") { limits.bytes = bytes }
    overrides.limits = limits == Limits() ? nil : limits
    if let size = bound("--entry-size") {
      // There is always a largest value: a batch holds no more.
      overrides.largestValue = size == Limits.unlimited ? Rules.largestPossibleValue : size
    }
    if let policy = choice("--policy") { overrides.eviction = Eviction(rawValue: policy) }
    if let priority = choice("--priority") { overrides.priority = Priority(rawValue: priority) }
    return overrides
  }

  fileprivate func overrides(over present: StoreLimits) -> StoreLimits {
    var limits = has("--reset") ? StoreLimits() : present
    if let entries = bound("--entries") { limits.entries = entries }
    if let bytes = bound("--bytes") { limits.bytes = bytes }
    if let disk = bound("--disk") { limits.disk = disk }
    if let memory = bound("--memory") { limits.memory = memory }
    return limits
  }
}

import Larder
import LarderSystem
import ShellLanguage

extension Command {
  static let limits = Command(
    "limits", .store, .reads, "Shows or changes the limits of the store or a namespace.",
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
        "the rule when it is full; of a namespace"
      ),
      .value(
        "--priority", .choice(Priority.allCases.map(\.rawValue)),
        "low is evicted first when the store is full; of a namespace"),
      .value("--disk", .sizeOrNone, "the size of the data file; of the store"),
      .value("--memory", .sizeOrNone, "decoded values in each process; of the store"),
      .flag("--reset", "discard overrides; limits declared in code apply again"),
      BulkOptions.dryRun, BulkOptions.yes,
    ],
    plain: [
      "": "namespace limit used allowed", "--entries N": "verb namespace entries bytes",
    ],
    examples: [
      Example("limits", "the store, and the namespaces that have a limit"),
      Example("limits @thumbs --bytes 50MB --policy fifo", "over what code declared"),
      Example("limits @thumbs --guaranteed 10MB", "a share that other namespaces cannot take"),
      Example("limits --disk 1GB", "the data file never grows beyond it"),
    ],
    run: showOrSetLimits)

  private static let ofNamespace = ["--entry-size", "--guaranteed", "--policy", "--priority"]
  private static let ofStore = ["--disk", "--memory"]
  private static let ofBoth = ["--entries", "--bytes", "--reset"]

  private static func showOrSetLimits(_ call: Invocation, in session: Session) throws -> Outcome {
    try checkOptions(call)
    let name = call.meansStore ? nil : try session.namespace(call.namespaces).name
    guard (ofBoth + ofNamespace + ofStore).contains(where: call.has) else {
      let report = try LimitReport(of: name, in: session)
      try session.output.answer(report.reply(for: session.output.presentation))
      return .done
    }
    guard !session.isReadOnly || call.isPreview else { throw ShellError.readOnly("limits") }
    let before = try usage(name, in: session)
    let (excess, isRefused) = try excess(over: call, name, before, in: session)
    if isRefused {
      throw ShellError(
        .overLimit,
        "\(name ?? "") holds \(Wording.entries(before.entries)), \(Wording.size(before.bytes)), and policy refuse evicts none",
        hint: "evict entries first, or choose another policy")
    }
    if call.isPreview {
      try session.output.answer(preview(excess, of: before, name, for: session.output.presentation))
      return .done
    }
    if excess.entries > 0 || excess.bytes > 0 {
      let confirmation = Confirmation(call: call, session: session, isSweeping: name == nil)
      try confirmation.require("evict \(words(excess, of: before))") {
        "Evict \(words(excess, of: before)) of \(name ?? "the store")?"
      }
    }
    let evicted = try override(call, name, from: before, in: session)
    var done = ChangeSummary("limits")
    done.add(evicted, in: name ?? "@*")
    let report = try LimitReport(of: name, in: session)
    try session.output.acknowledge(
      session.output.presentation.mode == .plain
        ? done.reply(done.counts, "", for: session.output.presentation)
        : report.reply(for: session.output.presentation, evicted: evicted))
    return .done
  }

  /// Throws if an option belongs to what the command is not about.
  private static func checkOptions(_ call: Invocation) throws(ShellError) {
    let isStore = call.meansStore
    guard let wrong = (isStore ? ofNamespace : ofStore).first(where: call.has) else { return }
    throw ShellError(
      .usage, isStore ? "\(wrong) belongs to a namespace" : "\(wrong) belongs to the store",
      at: call.range(wrong), hint: isStore ? "`limits @NS \(wrong) ...`" : "`limits \(wrong) ...`")
  }

  /// Changes the limits.
  ///
  /// - Returns: the entries that are gone since `before`, those that other processes removed meanwhile included.
  private static func override(
    _ call: Invocation, _ name: String?, from before: Tally, in session: Session
  ) throws -> Tally {
    func evicted() throws -> Tally {
      let after = try usage(name, in: session)
      return Tally(
        entries: max(before.entries - after.entries, 0), bytes: max(before.bytes - after.bytes, 0))
    }
    do {
      if let name {
        let info = try session.info(of: name)
        try session.store.override(call.overrides(over: info.overrides), for: name)
      } else {
        try session.store.override(call.overrides(over: session.store.limits().overrides))
      }
    } catch let error as LarderError where error.code == .full {
      let gone = try evicted().entries
      throw ShellError(
        .full,
        gone == 0 ? "\(error.message)" : "\(error.message); evicted \(Wording.entries(gone))",
        hint: error.hint.map { SafeText($0) })
    }
    return try evicted()
  }

  private static func usage(_ name: String?, in session: Session) throws -> Tally {
    var tally = Tally()
    for facts in try session.store.namespaces() where name == nil || facts.name.isExactly(name) {
      tally += Tally(entries: facts.entries, bytes: facts.bytes)
    }
    return tally
  }

  /// The entries beyond the new limits, estimated by their average sizes in bytes and in the data file, and whether the policy keeps them.
  private static func excess(
    over call: Invocation, _ name: String?, _ usage: Tally, in session: Session
  ) throws -> (Tally, isRefused: Bool) {
    let limits: Limits
    var (disk, used) = (Int?.none, 1)
    var policy: Eviction?
    if let name {
      var info = try session.info(of: name)
      info.overrides = call.overrides(over: info.overrides)
      limits = info.rules.limits
      policy = info.rules.eviction
    } else {
      var info = try session.store.limits()
      info.overrides = call.overrides(over: info.overrides)
      limits = Limits(entries: info.effective.entries, bytes: info.effective.bytes)
      let file = try session.store.statistics().file
      disk = info.effective.usableDisk(pageSize: file.pageSize)
      used = max((file.pages - file.freePages) * file.pageSize, 1)
    }
    let average = Double(usage.bytes) / Double(max(usage.entries, 1))
    var excess = Tally()
    if let most = limits.entries, most < usage.entries {
      excess.entries = usage.entries - most
      excess.bytes = Int(Double(excess.entries) * average)
    }
    var bytes = limits.bytes.map { usage.bytes - $0 } ?? 0
    if let disk, disk < used {
      bytes = max(bytes, Int(Double(usage.bytes) * Double(used - disk) / Double(used)))
    }
    if bytes > excess.bytes {
      excess.bytes = bytes
      excess.entries = max(excess.entries, Int((Double(bytes) / max(average, 1)).rounded(.up)))
    }
    excess.entries = min(excess.entries, usage.entries)
    excess.bytes = min(excess.bytes, usage.bytes)
    return (excess, policy == .refuse && excess.entries > 0)
  }

  /// `54 of 64 entries (9.8 kB)`
  private static func words(_ excess: Tally, of usage: Tally) -> SafeText {
    "\(Wording.count(excess.entries)) of \(Wording.entries(usage.entries)) (\(Wording.size(excess.bytes)))"
  }

  private static func preview(
    _ excess: Tally, of usage: Tally, _ name: String?, for presentation: Presentation
  ) -> Reply {
    var found = ChangeSummary("evict")
    found.add(excess, in: name ?? "@*")
    guard presentation.mode.isForPerson else {
      return found.preview(found.counts, for: presentation)
    }
    return Reply(
      .object([], []),
      sentences: [
        excess.entries == 0 ? "would evict no entries" : "would evict \(words(excess, of: usage))"
      ])
  }
}

extension Invocation {
  /// A limit that may be `none`.
  private func bound(_ name: String) -> Int? {
    switch limit(name) {
    case .unbounded: Limits.unlimited
    case .count(let count): count
    case nil: nil
    }
  }

  fileprivate func overrides(over present: Rules.Overrides) -> Rules.Overrides {
    var overrides = present
    if has("--reset") {
      // Rules that the shell cannot set are not limits.
      overrides = Rules.Overrides(
        expires: present.expires, stale: present.stale, jitter: present.jitter)
    }
    var limits = overrides.limits ?? Limits()
    if let entries = bound("--entries") { limits.entries = entries }
    if let bytes = bound("--bytes") { limits.bytes = bytes }
    if let guaranteed = bound("--guaranteed") { limits.guaranteed = guaranteed }
    overrides.limits = limits == Limits() ? nil : limits
    if let size = bound("--entry-size") {
      // There is always a largest value: that of a batch.
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

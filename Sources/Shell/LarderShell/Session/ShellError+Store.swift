package import Larder
package import ShellLanguage

extension ShellError {
  package init(_ error: LarderError) {
    let (code, hint): (Code, SafeText?) =
      switch error.code {
      case .notFound: (.noSuchStore, nil)
      case .cannotOpen, .foreign, .newerFormat, .needsRecovery: (.cannotOpen, nil)
      case .damaged: (.damaged, "`verify` lists the damage")
      case .undecodable: (.damaged, nil)
      case .unreadable: (.unreadable, Self.unreadableHint)
      case .busy: (.busy, nil)
      case .full: (.full, nil)
      case .failed, .closed, .forked, .insideWrite, .timedOut, .notStored, .loadCycle,
        .unreachable, .unanswered, .pending:
        (.io, nil)
      case .readOnly: (.readOnly, Self.readOnlyHint)
      case .overLimit: (.overLimit, nil)
      case .exists: (.exists, nil)
      case .noSuchNamespace: (.noSuchNamespace, "`namespaces` lists them")
      case .badCursor, .invalidArgument, .noSuchOwner, .unencodable: (.usage, nil)
      }
    self.init(code, "\(error.message)", hint: hint ?? error.hint.map { SafeText($0) })
  }

  /// Runs `body`. Turns an error of the library into an error of the shell.
  package static func translating<Result>(_ body: () throws -> Result) throws -> Result {
    do { return try body() } catch let error as LarderError { throw ShellError(error) }
  }

  /// The hint for a value that this program cannot read. The library has another hint, for programs that have the key.
  static let unreadableHint: SafeText =
    "`keys`, `info`, `count`, `sizes`, `expire`, `evict` and others that read no value work; the application that wrote the values can read them"

  static let readOnlyHint: SafeText =
    "start the shell without --read-only, as the user that owns the store"

  static func readOnly(_ command: String) -> ShellError {
    ShellError(
      .readOnly, "the store is open read-only, and \(command) changes it", hint: readOnlyHint)
  }

  /// The error of a command that ^C has stopped. `state` tells in which state the command leaves the store.
  static func interrupted(_ state: SafeText, hint: SafeText? = nil) -> ShellError {
    ShellError(.interrupted, "interrupted: \(state)", hint: hint)
  }

  /// Runs the steps of a change. If ^C or an error ends the change, the thrown error says what the earlier steps have done.
  ///
  /// - Parameters:
  ///   - done: The number of changed entries, and the changes in words.
  ///   - rest: Words for what ^C leaves.
  static func reporting(
    _ done: () -> (entries: Int, words: SafeText),
    rest: () -> SafeText = { "the rest is unchanged" }, _ steps: () throws -> Void
  ) throws {
    do { try translating(steps) } catch is Interruption {
      throw interrupted("\(done().words); \(rest())")
    } catch let error as ShellError where done().entries > 0 {
      throw ShellError(error.code, error.message, hint: "before it: \(done().words)")
    }
  }

  static func removedMeanwhile(_ namespace: String) -> ShellError {
    ShellError(
      .noSuchNamespace, "namespace \(namespace) was removed meanwhile",
      hint: "`namespaces` lists them")
  }

  /// The error for a store that could not be opened. A full disk gets an error of its own, because the store has no fault.
  package static func opening(_ error: LarderError) -> ShellError {
    ShellError(
      error.code == .full ? .full : .cannotOpen, "\(error.message)",
      hint: error.hint.map { SafeText($0) })
  }
}

extension Session {
  func noSuchKey(
    _ key: [UInt8], in namespaces: [Store.Namespace], verb: String = "keys"
  ) throws -> ShellError {
    if let error = try damage(of: [key], in: namespaces) { return error }
    guard namespaces.count == 1 else {
      return ShellError(
        .noSuchKey, "no entry \(key) in \(namespaces.count) namespaces",
        hint: "`keys @*` lists the keys")
    }
    return ShellError(
      .noSuchKey, "no entry \(key) in \(namespaces[0].name)",
      hint: try hint(for: key, in: namespaces[0], verb))
  }

  /// The error for the first key whose entry is damaged; nil if no entry is damaged.
  func damage(of keys: [[UInt8]], in namespaces: [Store.Namespace]) throws -> ShellError? {
    for key in keys {
      for namespace in namespaces where try namespace.isDamaged(key) {
        return ShellError(
          .unreadable, "the entry \(key) in \(namespace.name) is damaged",
          hint: "`verify` lists the damage; `verify --repair` removes damaged entries")
      }
    }
    return nil
  }

  private func hint(
    for key: [UInt8], in namespace: Store.Namespace, _ verb: String
  ) throws -> SafeText {
    // In `get @ns .path`, the key before the path is missing, so the path was read as a key.
    if key.count > 1, key[0] == UInt8(ascii: "."),
      let path = String(validating: key, as: UTF8.self), let command = line?.words.first?.bareText,
      CommandTable.standard.command(named: command)?.name == "get"
    {
      let all = line?.source == .command ? "'*'" : "*"
      return
        "`get \(Quoting.namespace(namespace.name)) \(all) \(path)` shows this field of each value"
    }
    if key.contains(.backslash), let meant = try? Quoting.unescaped(plain: key),
      try namespace.entry(for: meant) != nil
    {
      return "plain output escapes the key \(meant): `--stdin` reads it back"
    }
    return try namespace.hint(for: key, verb: verb)
  }

  func noSuchKeys(
    _ missing: [[UInt8]], of all: Int, in namespaces: [Store.Namespace], verb: String
  ) throws -> ShellError {
    if let error = try damage(of: missing, in: namespaces) { return error }
    if all == 1 || missing.count == 1 && namespaces.count == 1 {
      return try noSuchKey(missing[0], in: namespaces, verb: verb)
    }
    let list = missing.prefix(3).map { SafeText(quoting: $0) }.joined()
    let more = missing.count > 3 ? ", ..." : ""
    return ShellError(
      .noSuchKey,
      "\(missing.count) of \(Wording.count(all, "key", "keys")) not found: \(list)\(more)",
      hint: "`keys` lists the keys")
  }
}

extension Store.Entry {
  var hasValue: Bool { state != .expired && !isNegative }

  /// Words such as `expires in 15 min (21:55)`, `expired already` or `never expires`.
  func end(_ clock: WallClock) -> String {
    guard let time = expires?.unix else { return "never expires" }
    return time <= clock.now ? "expired already" : "expires \(clock.expiryAndClock(time))"
  }

  /// Throws if a read of the entry finds no value. Without this check, the stored bytes of such an entry would look like a value.
  func checkValue(_ clock: WallClock) throws(ShellError) {
    guard state != .expired else {
      throw ShellError(
        .noSuchKey, "\(key.bytes) in \(namespace) \(clock.expiry((staleUntil ?? expires)?.unix))",
        hint:
          "`keys \(Quoting.namespace(namespace)) --expired` lists entries still in the file; `set` stores a new one"
      )
    }
    guard isNegative else { return }
    throw ShellError(
      .noSuchKey,
      "\(key.bytes) in \(namespace) is a negative entry: it records that there is no value",
      hint: "written \(clock.distance(to: written.unix)), \(end(clock)); `info` shows it")
  }
}

import ShellLanguage

/// The keys that came from standard input, and how many of them no namespace has.
struct PipedKeys {
  var count = 0
  var absent = 0

  /// Throws if there were keys that no namespace has.
  func check() throws(ShellError) {
    guard absent > 0 else { return }
    throw ShellError(
      .noSuchKey,
      "\(Wording.count(absent)) of \(Wording.count(count, "key", "keys")) not found",
      hint: "the others are above")
  }
}

/// Keys that come from outside, one after the other.
///
/// A line is read as `plain` output writes a key, so that what one shell lists another can take; with
/// a NUL behind each the bytes are the key's own.
struct IncomingKeys {
  private var number = 0
  private var seen = SeenKeys()
  private let end: UInt8
  private let input: Host.Input

  init(_ kind: Selection.KeyInput, from host: Host) throws(ShellError) {
    guard let input = host.input else { throw .inputIsTaken }
    self.input = input
    end = kind == .lines ? .newline : 0
  }

  /// The next key that is not empty and has not come before. A line's carriage return belongs to its end.
  mutating func next() throws -> [UInt8]? {
    while var key = try input.item(end, .max) {
      number += 1
      if end == .newline {
        if key.last == .carriageReturn { key.removeLast() }
        key = try unescaped(key)
      }
      if !key.isEmpty, seen.insert(key) { return key }
    }
    return nil
  }

  private func unescaped(_ line: [UInt8]) throws(ShellError) -> [UInt8] {
    do throws(ShellError) {
      return try Quoting.unescaped(plain: line)
    } catch {
      throw ShellError(
        .usage, "line \(number) of standard input is no key: \(error.message)",
        hint: "a backslash is written twice; with -0 bytes are taken as they are")
    }
  }
}

/// The keys that have come, as digests of 128 bits with a secret of this process: 16 bytes for a key of any length.
struct SeenKeys {
  struct Digest: Hashable {
    let first: Int
    let second: Int

    init(_ key: [UInt8]) {
      func hash(_ part: Int) -> Int {
        var hasher = Hasher()
        hasher.combine(part)
        hasher.combine(key)
        return hasher.finalize()
      }
      (first, second) = (hash(0), hash(1))
    }
  }

  private var digests: Set<Digest> = []

  /// False for a key that has come before.
  mutating func insert(_ key: [UInt8]) -> Bool { digests.insert(Digest(key)).inserted }
}

extension ShellError {
  static let inputIsTaken = ShellError(
    .usage, "standard input is where the commands come from",
    hint: "give the commands with --eval or in a file: -f FILE")
}

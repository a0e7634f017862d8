/// Keys that come from outside, one after the other.
struct IncomingKeys {
  private let end: UInt8
  private let input: Host.Input

  init(_ kind: Selection.KeyInput, from host: Host) throws(ShellError) {
    guard let input = host.input else { throw .inputIsTaken }
    self.input = input
    end = kind == .lines ? .newline : 0
  }

  /// The next key that is not empty. A line's carriage return belongs to its end.
  func next() throws -> [UInt8]? {
    while var key = try input.item(end) {
      if end == .newline, key.last == .carriageReturn { key.removeLast() }
      if !key.isEmpty { return key }
    }
    return nil
  }
}

extension ShellError {
  static let inputIsTaken = ShellError(
    .usage, "standard input is where the commands come from",
    hint: "give the commands with --eval or in a file: -f FILE")
}

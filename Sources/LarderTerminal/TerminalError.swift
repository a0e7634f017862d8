#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Why bytes could not be read from or written to a stream of the process.
package enum TerminalError: Error, Equatable {
  /// The reader is gone (`EPIPE`): stop quietly.
  case closed

  /// The operating system refused, with its `errno`.
  case failed(operation: String, code: Int32)

  /// libedit cannot work with this terminal.
  case noLineEditor
}

extension TerminalError: CustomStringConvertible {
  package var description: String {
    switch self {
    case .closed: "the reader of the output is gone"
    case .failed(let operation, let code): "\(operation): \(Self.reason(code))"
    case .noLineEditor: "no lines can be edited on this terminal; set TERM=dumb to go without"
    }
  }

  private static func reason(_ code: Int32) -> String {
    var text = [CChar](repeating: 0, count: 256)
    let known = unsafe strerror_r(code, &text, text.count)
    guard known == 0 else { return "error \(code)" }
    let bytes = text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:))
    return String(decoding: bytes, as: UTF8.self)
  }
}

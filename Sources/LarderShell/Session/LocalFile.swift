package import ShellLanguage

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Why a file could not be read or written.
package enum FileProblem: Error, Sendable, Hashable {
  case absent
  case exists
  case notPermitted
  case directory
  case diskFull
  /// In the system's words.
  case failed(String)
}

/// A file that a command names.
package struct LocalFile {
  package let path: String
  private let host: Host

  package init(_ bytes: [UInt8], of session: Session) throws(ShellError) {
    guard let path = String(validating: bytes, as: UTF8.self), !path.isEmpty,
      !path.utf8.contains(0)
    else {
      throw ShellError(
        .usage, "\(bytes) is not the name of a file", hint: "say where: ./value.json")
    }
    self.path = path
    host = session.host
  }

  package static func exists(_ path: String) -> Bool {
    FileManager.default.fileExists(atPath: path)
  }

  /// All that is in it; a pipe or a device is read to its end.
  package func contents() throws -> [UInt8] {
    let next = try reader().next
    var bytes: [UInt8] = []
    while case let piece = try next(), !piece.isEmpty { bytes += piece }
    return bytes
  }

  /// What gives the next bytes, and nothing at the end.
  func reader() throws -> Host.Reader {
    let reader = try explaining("read") { try host.read(path) }
    return Host.Reader(size: reader.size) { try explaining("read") { try reader.next() } }
  }

  /// Replaces what was there.
  func write(_ bytes: [UInt8]) throws {
    let writer = try writer(replaces: true)
    try writer.write(bytes)
    try writer.finish()
  }

  func writer(replaces: Bool) throws -> Host.Writer {
    let writer = try explaining("written") { try host.make(path, replaces) }
    return Host.Writer(
      write: { bytes in try explaining("written") { try writer.write(bytes) } },
      finish: { try explaining("written") { try writer.finish() } })
  }

  /// Where a directory of that name is made.
  func directory() throws -> String { try explaining("made") { try host.directory(path) } }

  private func explaining<Result>(_ verb: String, _ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch let problem as FileProblem {
      throw error(verb, problem)
    }
  }

  private func error(_ verb: String, _ problem: FileProblem) -> ShellError {
    func error(_ code: ShellError.Code, _ reason: String, _ hint: SafeText) -> ShellError {
      ShellError(code, "\(Array(path.utf8)) cannot be \(verb): \(reason)", hint: hint)
    }
    return switch problem {
    case .absent:
      error(
        .io, verb == "read" ? "there is no such file" : "there is no such directory",
        "files are named from where the shell was started")
    case .exists: error(.exists, "it is there already", "with --force it is replaced")
    case .notPermitted: error(.io, "it is not permitted", "look at its owner and mode")
    case .directory: error(.io, "it is a directory", "name a file in it")
    case .diskFull: error(.full, "no space is left on the device", "name a file elsewhere")
    case .failed(let reason): error(.io, reason, "the system refused")
    }
  }
}

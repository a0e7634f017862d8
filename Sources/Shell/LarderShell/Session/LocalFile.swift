package import LarderSystem
package import ShellLanguage

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

package enum FileProblem: Error, Sendable, Hashable {
  case absent
  case danglingLink(DanglingLink, path: String)
  case exists
  case notPermitted
  case directory
  case diskFull
  case failed(String)
}

package struct LocalFile {
  package let path: String
  private let host: Host

  package init(_ bytes: [UInt8], of session: Session) throws(ShellError) {
    guard let path = String(validating: bytes, as: UTF8.self), !path.isEmpty,
      !path.utf8.contains(0)
    else {
      throw ShellError(.usage, "\(bytes) is not the name of a file", hint: "use `./value.json`")
    }
    self.path = path
    host = session.host
  }

  package static func exists(_ path: String) -> Bool {
    FileManager.default.fileExists(atPath: path)
  }

  package static func names(in directory: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: directory)
  }

  /// The paths that begin with these bytes. The path of a directory ends with a slash.
  static func completions(of prefix: [UInt8], atMost most: Int) throws -> Completer.Found {
    let text = String(decoding: prefix, as: UTF8.self)
    let directory = text.lastIndex(of: "/").map { String(text[...$0]) } ?? ""
    let fitting = try names(in: directory.isEmpty ? "." : directory)
      .map { directory + $0 }.filter { $0.hasPrefix(text) }.sorted()
    let paths = fitting.prefix(most).map { path in
      var isDirectory = false
      _ = FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory)
      return Array((isDirectory ? path + "/" : path).utf8)
    }
    return Completer.Found(paths, isCut: fitting.count > paths.count)
  }

  package func contents() throws -> [UInt8] { try reader().rest(.max) }

  func reader() throws -> Host.Input { try host.read(path) }

  func writer(replaces: Bool) throws -> Host.Sink { try host.make(path, replaces) }

  /// The path at which the directory with this name can be created.
  func directory() throws -> String { try host.directory(path) }
}

extension FileProblem {
  package enum Access { case reading, writing }

  package func error(_ access: Access, _ message: SafeText) -> ShellError {
    func error(_ code: ShellError.Code, _ reason: SafeText, _ hint: SafeText?) -> ShellError {
      ShellError(code, "\(message): \(reason)", hint: hint)
    }
    return switch self {
    case .absent:
      error(
        .io, access == .reading ? "no such file" : "no such directory",
        "names are relative to the directory where the shell was started")
    case .danglingLink(let link, let path): error(.io, link.words(for: path), DanglingLink.hint)
    case .exists: error(.exists, "it exists", "pass `--force` to replace it")
    case .notPermitted: error(.io, "permission denied", "check its owner and mode")
    case .directory: error(.io, "it is a directory", "name a file")
    case .diskFull: error(.full, "no space left on the device", nil)
    case .failed(let reason): error(.io, "\(reason)", nil)
    }
  }
}

extension DanglingLink {
  package static let hint: SafeText = "create the target or remove the link"

  /// - Parameter path: The path that the person named: the link itself, or a path that contains the link.
  package func words(for path: String) -> SafeText {
    let link: SafeText = self.path == path ? "it" : "\(Array(self.path.utf8))"
    return "\(link) is a symbolic link to \(Array(target.utf8)), which does not exist"
  }
}

import ShellLanguage

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

package enum LocalFile {
  static func path(_ name: [UInt8]) throws(ShellError) -> String {
    guard let path = String(validating: name, as: UTF8.self), !path.isEmpty, !path.utf8.contains(0)
    else {
      throw ShellError(.usage, "\(name) is not the name of a file", hint: "use `./value.json`")
    }
    return path
  }

  package static func exists(_ path: String) -> Bool {
    FileManager.default.fileExists(atPath: path)
  }

  package static func names(in directory: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: directory)
  }

  /// The paths that begin with `prefix`. The path of a directory ends with a slash.
  static func completions(of prefix: [UInt8], atMost most: Int) throws -> Completer.Found {
    let text = String(decoding: prefix, as: UTF8.self)
    let slash = text.unicodeScalars.lastIndex(of: "/")
    let directory = slash.map { String(text.unicodeScalars[...$0]) } ?? ""
    let fitting = try names(in: directory.isEmpty ? "." : directory)
      .map { directory + $0 }.filter { $0.utf8.starts(with: prefix) }.sorted()
    let paths = fitting.prefix(most).map { path in
      var isDirectory = false
      _ = FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory)
      return Array((isDirectory ? path + "/" : path).utf8)
    }
    return (paths, fitting.count > paths.count)
  }
}

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

extension Terminal {
  /// The words this program was started with, without its own name; nil for one whose bytes are not UTF-8.
  ///
  /// Swift's own list puts other characters in place of such bytes, and a command would silently be about another key.
  package static var arguments: [String?] {
    (1..<max(Int(CommandLine.argc), 1)).map { index in
      guard let word = unsafe CommandLine.unsafeArgv[index] else { return nil }
      return unsafe String(validatingCString: word)
    }
  }
}

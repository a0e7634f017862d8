#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

extension Terminal {
  /// The arguments of this process without its name, byte for byte.
  ///
  /// Swift's own list replaces bytes that are not UTF-8, so that a command would concern another key.
  package static var arguments: [[UInt8]] {
    (1..<max(Int(CommandLine.argc), 1)).map { index in
      guard let word = unsafe CommandLine.unsafeArgv[index] else { return [] }
      return unsafe Array(UnsafeRawBufferPointer(start: word, count: strlen(word)))
    }
  }
}

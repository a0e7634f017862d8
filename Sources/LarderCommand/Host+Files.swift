import LarderShell
import LarderTerminal
import ShellLanguage

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

extension Host.Reader {
  init(_ file: ByteFile) {
    self.init(size: file.size) {
      try FileProblem.explaining {
        guard let bytes = try file.read() else { throw Interruption() }
        return bytes
      }
    }
  }
}

extension Host.Writer {
  init(_ file: ByteFile) {
    self.init(
      write: { bytes in try FileProblem.explaining { try file.write(bytes.span) } },
      finish: { try FileProblem.explaining { try file.finish() } })
  }
}

extension FileProblem {
  /// Says what the system refused in the shell's words.
  static func explaining<Result>(_ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch TerminalError.failed(_, EINTR) {
      throw Interruption()
    } catch let error as TerminalError {
      throw FileProblem(error)
    }
  }

  private init(_ error: TerminalError) {
    guard case .failed(_, let code) = error else {
      self = .failed(error.description)
      return
    }
    self =
      switch code {
      case ENOENT, ENOTDIR: .absent
      case EEXIST: .exists
      case EACCES, EPERM, EROFS: .notPermitted
      case EISDIR: .directory
      case ENOSPC, EDQUOT: .diskFull
      default: .failed(error.description)
      }
  }
}

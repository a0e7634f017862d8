import ArgumentParser
import Larder
import LegoCache

/// What ends the program early: what is wrong, what to do about it, and the exit code.
struct Failure: Error {
  /// The same as those of `larder`.
  enum Code: Int32 {
    case noSuchKey = 1
    case usage, cannotOpen, failed, refused
  }

  var code: Code
  var message: String
  var hint: String?

  init(_ code: Code, _ message: String, hint: String? = nil) {
    self.code = code
    self.message = message
    self.hint = hint
  }

  init(_ error: any Error) {
    switch error {
    case let failure as Failure: self = failure
    case let error as LarderError: self.init(Self.code(of: error), error.message, hint: error.hint)
    case let error as DumpError:
      self.init(
        .failed, "\(error)",
        hint:
          "what was loaded before that stays, nothing was removed; repair the folder and run it again"
      )
    default: self.init(.failed, "\(error)")
    }
  }

  func exit() -> Never {
    Console.complain("error: \(message)" + (hint.map { "\nhint: \($0)" } ?? ""))
    LarderLego.exit(withError: ExitCode(code.rawValue))
  }

  private static func code(of error: LarderError) -> Code {
    switch error.code {
    case .notFound, .cannotOpen, .foreign, .newerFormat: .cannotOpen
    case .readOnly, .overLimit, .exists, .noSuchNamespace, .badCursor, .invalidArgument: .refused
    default: .failed
    }
  }
}

extension Store {
  /// Opens a store; whatever keeps it from opening has the same exit code.
  static func opened(at path: String, options: Options) throws(Failure) -> Store {
    do throws(LarderError) {
      return try Store(at: path, options: options)
    } catch {
      throw Failure(.cannotOpen, error.message, hint: error.hint)
    }
  }
}

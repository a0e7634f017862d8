public import ArgumentParser
public import Larder

/// What ends a program early: what is wrong, what to do about it, and the exit code.
public struct Failure: Error {
  /// The same as those of `larder`.
  public enum Code: Int32, Sendable {
    case noSuchKey = 1
    case usage, cannotOpen, failed, refused
  }

  public var code: Code
  public var message: String
  public var hint: String?

  public init(_ code: Code, _ message: String, hint: String? = nil) {
    self.code = code
    self.message = message
    self.hint = hint
  }

  public init(_ error: any Error) {
    switch error {
    case let failure as Failure: self = failure
    case let error as LarderError: self.init(Self.code(of: error), error.message, hint: error.hint)
    default: self.init(.failed, "\(error)")
    }
  }

  private static func code(of error: LarderError) -> Code {
    switch error.code {
    case .notFound, .cannotOpen, .foreign, .newerFormat: .cannotOpen
    case .readOnly, .overLimit, .exists, .noSuchNamespace, .badCursor, .invalidArgument: .refused
    default: .failed
    }
  }
}

extension Failure {
  /// Runs a program to its end; errors go to standard error, and their codes become the program's.
  ///
  /// - Parameter failure: words for errors that `Failure` does not know.
  public static func run(
    _ root: any ParsableCommand.Type, failure: @Sendable (any Error) -> Failure = { Failure($0) }
  ) async {
    do {
      var command = try root.parseAsRoot()
      if var command = command as? any AsyncParsableCommand {
        try await command.run()
      } else {
        try command.run()
      }
    } catch let failure as Failure {
      failure.exit(from: root)
    } catch let code as ExitCode {
      // What was wrong has been said already.
      root.exit(withError: code)
    } catch  where root.exitCode(for: error).isSuccess {
      root.exit(withError: error)
    } catch  where root.exitCode(for: error) == .validationFailure {
      Console.complain(root.fullMessage(for: error))
      root.exit(withError: ExitCode(Code.usage.rawValue))
    } catch {
      failure(error).exit(from: root)
    }
  }

  private func exit(from root: any ParsableCommand.Type) -> Never {
    Console.complain("error: \(message)" + (hint.map { "\nhint: \($0)" } ?? ""))
    root.exit(withError: ExitCode(code.rawValue))
  }
}

extension Store {
  /// Opens a store; whatever keeps it from opening has the same exit code.
  public static func opened(at path: String, options: Options = Options()) throws(Failure) -> Store
  {
    do throws(LarderError) {
      return try Store(at: path, options: options)
    } catch {
      throw Failure(.cannotOpen, error.message, hint: error.hint)
    }
  }
}

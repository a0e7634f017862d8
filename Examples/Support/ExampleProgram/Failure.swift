public import ArgumentParser
import Foundation
import Larder
import Service

/// Ends a program with a message, a hint and an exit code.
public struct Failure: Error {
  /// The exit codes, which equal the exit codes of `larder`.
  public enum Code: Int32, Sendable {
    case noSuchKey = 1
    case usage, cannotOpen, failed, refused
  }

  public var code: Code
  public var message: String
  public var hint: String?

  public init(_ code: Code, _ message: String, hint: String? = nil) {
    (self.code, self.message, self.hint) = (code, message, hint)
  }

  /// - Parameter credential: its option and variable, `--token or READECK_TOKEN`; nil for a service without a credential.
  public init(_ error: any Error, credential: String?) {
    switch error {
    case let failure as Failure: self = failure
    case let error as LarderError: self.init(Self.code(of: error), error.message, hint: error.hint)
    case ServiceError.refused(status: 401, _), ServiceError.refused(status: 403, _):
      self.init(.refused, "\(error)", hint: credential.map { "give a valid credential: \($0)" })
    case let error as ServiceError where error.isRefusal:
      self.init(.refused, "\(error)", hint: "check the address of the service")
    case let error as ServiceError where error.isOffline:
      self.init(
        .failed, "\(error)",
        hint: "check the network and the address; --no-network uses what is stored alone")
    default: self.init(.failed, error is CocoaError ? error.localizedDescription : "\(error)")
    }
  }

  /// Calls `body`, which asks a service for one thing. A 404 becomes a failure with the code ``Code/noSuchKey``.
  public static func orNoSuchKey<Result>(_ body: () async throws -> Result) async throws -> Result {
    do { return try await body() } catch let error as ServiceError where error.status == 404 {
      throw Failure(.noSuchKey, "\(error)")
    }
  }

  private static func code(of error: LarderError) -> Code {
    switch error.code {
    case .notFound, .cannotOpen, .foreign, .newerFormat: .cannotOpen
    case .readOnly, .overLimit, .exists, .noSuchNamespace: .refused
    case .badCursor, .invalidArgument: .usage
    default: .failed
    }
  }

  /// Runs a program to its end. Errors go to standard error; their codes are the program's exit codes.
  ///
  /// - Parameter failure: the failure for an error that only the program knows; nil for other errors.
  public static func run(
    _ root: any ParsableCommand.Type, credential: String?,
    failure: @Sendable (any Error) -> Failure? = { _ in nil }
  ) async {
    do {
      var command = try root.parseAsRoot()
      if var command = command as? any AsyncParsableCommand {
        try await command.run()
      } else {
        try command.run()
      }
    } catch  where error is ExitCode || root.exitCode(for: error).isSuccess {
      // No message is added: the program has already printed its message, or the user asked for the help or the version.
      root.exit(withError: error)
    } catch  where root.exitCode(for: error) == .validationFailure {
      Console.write(root.fullMessage(for: error) + "\n")
      root.exit(withError: ExitCode(Code.usage.rawValue))
    } catch {
      let failure = failure(error) ?? Failure(error, credential: credential)
      Console.complain("error: \(failure.message)")
      if let hint = failure.hint { Console.complain("hint: \(hint)") }
      root.exit(withError: ExitCode(failure.code.rawValue))
    }
  }
}

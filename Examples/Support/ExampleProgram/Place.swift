public import ArgumentParser
import Foundation
public import Larder
import LarderCurl
public import LarderHTTP
import Service

/// The transport of a program to the network. Not `URLSession`: on Linux a response cut within its fields can end the process.
public func networkTransport() -> any HTTPTransport {
  CurlTransport(userAgent: "\(Place.program)/\(Store.version)")
}

/// The store of a program, and the source of its answers: options that all commands have.
public struct Place: ParsableArguments {
  @Option(name: .customLong("store"), help: "The store; created if it does not exist.")
  public var path = Place.program.replacing("larder-", with: "") + ".larder"

  @Flag(help: "Send no request: a recording answers instead of the service.")
  public var offline = false

  @Flag(help: "Send no request: use what is stored, stale too unless the service forbids it.")
  public var noNetwork = false

  @Flag(name: .customLong("log"), help: "Print a line for each lookup: hit or miss, and the age.")
  private var isLogged = false

  /// The address of a recording, which belongs to no user, so its data stay apart from the data of the user.
  public static let recording = "https://recording.invalid"

  public init() {}

  public func validate() throws {
    if path.isEmpty { throw ValidationError("the store has no name: give --store a path") }
  }

  fileprivate static let program = URL(filePath: CommandLine.arguments.first ?? "")
    .lastPathComponent

  /// Writes the lines of `--log`; nil without that option.
  public var log: (@Sendable (String) -> Void)? {
    isLogged ? { @Sendable in Console.complain($0) } : nil
  }

  /// Opens the store, calls `body`, and closes the store.
  ///
  /// - Parameter file: a source file of the program. The folder `Sample` beside the sources has the recording.
  public func open<Result>(
    _ options: Store.Options = Store.Options(), of file: String = #filePath,
    _ body: (Store, any HTTPTransport) async throws -> Result
  ) async throws -> Result {
    let sample = URL(filePath: file).deletingLastPathComponent().appending(path: "../Sample").path
    let transport: any HTTPTransport =
      try noNetwork
      ? Disconnected() : offline ? Recording(folder: sample) : networkTransport()
    let store: Store
    do throws(LarderError) { store = try Store(at: path, options: options) } catch {
      throw Failure(error.code == .full ? .failed : .cannotOpen, error.message, hint: error.hint)
    }
    let result = try await body(store, transport)
    try store.close()
    return result
  }

  /// Prints rows, and then `larder` commands that show what the program has stored.
  ///
  /// - Parameter commands: in the command language of `larder`, such as `keys @lego.parts --limit 5`.
  public func show(_ rows: [String], closing commands: [String] = []) throws {
    let looks = commands.map { "  larder \(path.larderWord) -e \($0.larderWord)" }
    let lines = rows.map(\.inOneLine) + (looks.isEmpty ? [] : ["Look at it:"] + looks)
    if !lines.isEmpty { try Output.write(lines.joined(separator: "\n")) }
  }
}

public import ArgumentParser
public import Foundation
public import Larder
public import LarderHTTP
import Service

#if os(Linux)
  import LarderCurl
#else
  import LarderURLSession
#endif

/// The transport of a program to the network.
///
/// On Linux a server can end a process that uses `URLSession`, by a response that breaks off within its header fields.
public func networkTransport() -> any HTTPTransport {
  #if os(Linux)
    CurlTransport(userAgent: "\(Place.program)/\(exampleVersion)")
  #else
    URLSessionTransport()
  #endif
}

/// The version of all example programs, which is the version of Larder.
public let exampleVersion = Store.version

/// The store of a program, and the source of its answers: options that all commands have.
public struct Place: ParsableArguments {
  @Option(name: .customLong("store"), help: "The store; created if it does not exist.")
  public var path = Place.standard

  @Flag(help: "Send no request: a recording answers instead of the service.")
  public var offline = false

  @Flag(help: "Send no request: use what is stored, stale too unless the service forbids it.")
  public var noNetwork = false

  @Flag(name: .customLong("log"), help: "Print a line for each lookup: hit or miss, and the age.")
  private var isLogged = false

  /// The address of a recording. It belongs to no user, so its data stay apart from the data of the user.
  public static let recording = "https://recording.invalid"

  public init() {}

  public func validate() throws {
    if path.isEmpty { throw ValidationError("the store has no name: give --store a path") }
  }

  fileprivate static let program = URL(filePath: CommandLine.arguments.first ?? "")
    .lastPathComponent
  /// The program's name without `larder-`: `larder-lego` uses `lego.larder` in the current folder.
  private static let standard = program.replacing("larder-", with: "") + ".larder"

  /// Writes the lines of `--log`; nil without that option.
  public var log: (@Sendable (String) -> Void)? {
    isLogged ? { @Sendable in Console.complain($0) } : nil
  }

  /// - Parameters:
  ///   - sample: the folder with the recording, beside the folder of the program's sources.
  ///   - file: a source file of the program.
  public func transport(
    sample: String = "Sample", of file: String = #filePath
  ) throws -> any HTTPTransport {
    if noNetwork { return Disconnected() }
    if !offline { return networkTransport() }
    return try Recording(folder: Self.folder(sample, of: file).path)
  }

  /// A folder beside the folder of the program's sources.
  public static func folder(_ name: String = "Sample", of file: String = #filePath) -> URL {
    URL(filePath: file).deletingLastPathComponent().deletingLastPathComponent()
      .appending(path: name)
  }

  /// Opens the store, calls `body`, and closes the store.
  ///
  /// - Parameter file: a source file of the program.
  public func open<Result>(
    _ options: Store.Options = Store.Options(), of file: String = #filePath,
    _ body: (Store, any HTTPTransport) async throws -> Result
  ) async throws -> Result {
    let transport = try transport(of: file)
    let store: Store
    do throws(LarderError) {
      store = try Store(at: path, options: options)
    } catch { throw Failure(opening: error) }
    let result = try await body(store, transport)
    try store.close()
    return result
  }

  /// Prints rows, and then `larder` commands that show what the program has stored.
  ///
  /// - Parameter commands: in the command language of `larder`, `keys @lego.parts --limit 5`.
  public func show(_ rows: [String], closing commands: [String] = []) throws {
    let looks = commands.map { "  larder \(path.larderWord) -e \($0.larderWord)" }
    let lines = rows.map(\.inOneLine) + (looks.isEmpty ? [] : ["Look at it:"] + looks)
    if !lines.isEmpty { try Output.write(lines.joined(separator: "\n")) }
  }
}

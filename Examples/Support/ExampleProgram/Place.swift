public import ArgumentParser
import Foundation
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
/// On Linux any server can end a process that uses `URLSession`: by a response that breaks off within its header fields.
public func networkTransport() -> any HTTPTransport {
  #if os(Linux)
    CurlTransport(userAgent: "\(StoreOption.program)/\(exampleVersion)")
  #else
    URLSessionTransport()
  #endif
}

/// The version of all example programs: that of Larder.
public let exampleVersion = Store.version

/// The options `--store` and `--json`, the same for all commands of a program.
public struct StoreOption: ParsableArguments {
  @Option(name: .customLong("store"), help: "The store; created if it does not exist.")
  public var path = StoreOption.standard

  @Flag(help: "Print JSON.") public var json = false

  public init() {}

  public func validate() throws {
    if path.isEmpty { throw ValidationError("the store has no name: give --store a path") }
  }

  /// The program's name without `larder-`: `larder-lego` uses `lego.larder` in the current folder.
  public static let standard: String =
    (program.hasPrefix("larder-") ? String(program.dropFirst(7)) : program) + ".larder"

  fileprivate static let program = URL(filePath: CommandLine.arguments.first ?? "")
    .lastPathComponent

  public func open(_ options: Store.Options = Store.Options()) throws(Failure) -> Store {
    do throws(LarderError) {
      return try Store(at: path, options: options)
    } catch {
      throw Failure(opening: error)
    }
  }

  /// The last lines of a program's output: `larder` commands that show what it stored.
  ///
  /// - Parameter commands: in the command language of `larder`, `keys @lego.parts --limit 5`.
  public func closing(_ commands: [String]) -> String {
    (["Look at it:"] + commands.map { "  larder \(path.shellWord) -e \($0.shellWord)" })
      .joined(separator: "\n")
  }

  /// Prints the result of a command: with `--json` the value, else rows and the closing lines.
  ///
  /// - Parameter rows: text of a service in a row cannot break its line.
  public func show(
    _ value: some Encodable, closing commands: [String] = [],
    _ rows: @autoclosure () throws -> [String]
  ) throws {
    if json { return try Output.write(JSONOutput.text(value)) }
    let lines = try rows().map(\.inOneLine) + (commands.isEmpty ? [] : [closing(commands)])
    if !lines.isEmpty { try Output.write(lines.joined(separator: "\n")) }
  }
}

/// The options that choose between the service and a recording of it.
public struct RecordingOption: ParsableArguments {
  @Flag(help: "Send no request: a recording answers instead of the service.")
  public var offline = false

  /// The address of a recording. It is nobody's: an adapter that tells services or users apart keeps its data from the user's.
  public static let address = "https://recording.invalid"

  @Flag(help: "Send no request: use what is stored, stale too unless the service forbids it.")
  public var noNetwork = false

  @Option(
    help: "The recording: a folder with answers.json. Default: that of the program's source folder."
  )
  var recording: String?

  public init() {}

  /// - Parameters:
  ///   - network: the transport without `--offline`.
  ///   - sample: the folder beside the program's source folder that has the recording.
  ///   - file: a source file of the program.
  public func transport(
    over network: @autoclosure () -> any HTTPTransport = networkTransport(),
    sample: String = "Sample", of file: String = #filePath
  ) throws(Failure) -> any HTTPTransport {
    if noNetwork { return Disconnected() }
    guard offline else { return network() }
    let folder = folder(sample: sample, of: file)
    do {
      return try Recording(folder: folder)
    } catch {
      throw Failure(
        .usage, "there is no recording in \(folder)",
        hint: "name a folder with answers.json, such as \(Self.own(sample, of: file))")
    }
  }

  public func folder(sample: String = "Sample", of file: String = #filePath) -> String {
    recording ?? Self.own(sample, of: file)
  }

  private static func own(_ sample: String, of file: String) -> String {
    URL(filePath: file).deletingLastPathComponent().deletingLastPathComponent()
      .appending(path: sample).path
  }
}

/// The store of a program, and the source of its answers.
public struct Place: ParsableArguments {
  @OptionGroup public var store: StoreOption
  @OptionGroup public var recording: RecordingOption

  @Flag(name: .customLong("log"), help: "Print a line for each lookup: hit or miss, and the age.")
  private var isLogged = false

  public init() {}

  /// Writes the lines of `--log`; nil without it.
  public var log: (@Sendable (String) -> Void)? {
    isLogged ? { @Sendable in Console.complain($0) } : nil
  }

  /// Opens the store, calls `body`, and closes the store.
  ///
  /// - Parameter file: a source file of the program.
  public func open<Result>(
    of file: String = #filePath, _ body: (Store, any HTTPTransport) async throws -> Result
  ) async throws -> Result {
    let transport = try recording.transport(of: file)
    let store = try store.open()
    let result = try await body(store, transport)
    try store.close()
    return result
  }

  /// The closing lines on standard error, for a document that was printed at a terminal.
  public func closeAtTerminal(_ commands: String...) {
    if Console.isTerminal { Console.write(store.closing(commands) + "\n") }
  }
}

/// A name, an address or a text as an argument; an empty one is a usage error.
public struct NonEmpty: ExpressibleByArgument, Sendable {
  public let text: String
  public var defaultValueDescription: String { text }

  /// A default.
  public init(_ text: String) { self.text = text }

  public init?(argument: String) {
    guard argument.contains(where: { !$0.isWhitespace }) else { return nil }
    text = argument
  }
}

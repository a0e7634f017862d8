public import ArgumentParser
public import Larder
public import LarderHTTP

/// Where a program keeps things, and who answers it.
public struct Place: ParsableArguments {
  @Option(help: "The store; made if there is none.")
  public var store: String

  @OptionGroup public var answers: Answers

  public init() {}

  /// Opens the store, lets `body` work with it, and closes it.
  ///
  /// - Parameter file: a source of the program.
  public func open<Result>(
    of file: String = #filePath, _ body: (Store, any HTTPTransport) async throws -> Result
  ) async throws -> Result {
    let transport = try answers.transport(of: file)
    let store = try Store.opened(at: store)
    let result = try await body(store, transport)
    try store.close()
    return result
  }

  public func closing(_ commands: String...) -> String {
    Closing(store: store, commands: commands).text
  }
}

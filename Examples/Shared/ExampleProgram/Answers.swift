public import ArgumentParser
import Foundation
public import LarderHTTP
public import LarderURLSession
import Service

/// Who answers a program: its service, or with `--offline` a recording in the place of that.
public struct Answers: ParsableArguments {
  @Flag(help: "Ask no service: a recording answers in its place.")
  public var offline = false

  @Option(
    help: """
      The recording: a folder with answers.json. Without it the one of the checkout that the program was built from.
      """)
  var recording: String?

  public init() {}

  /// - Parameters:
  ///   - network: what carries requests to the service.
  ///   - sample: see ``folder(sample:of:)``.
  public func transport(
    over network: @autoclosure () -> any HTTPTransport = URLSessionTransport(),
    sample: String = "Sample", of file: String = #filePath
  ) throws(Failure) -> any HTTPTransport {
    guard offline else { return network() }
    let folder = folder(sample: sample, of: file)
    do {
      return try Recording(folder: folder)
    } catch {
      let own = Self.own(sample, of: file)
      throw Failure(
        .usage, "there is no recording in \(folder): \(error.localizedDescription)",
        hint: "name a folder that has answers.json, such as \(own)")
    }
  }

  /// Where the recording is.
  ///
  /// - Parameters:
  ///   - sample: the folder beside the program's that has its own.
  ///   - file: a source of the program.
  public func folder(sample: String = "Sample", of file: String = #filePath) -> String {
    recording ?? Self.own(sample, of: file)
  }

  private static func own(_ sample: String, of file: String) -> String {
    URL(filePath: file).deletingLastPathComponent().deletingLastPathComponent()
      .appending(path: sample).path
  }
}

import Foundation

/// The library that records what a process does to the files of a store, and lets syncs fail. Linux only.
package enum PowerRecorder {
  struct NotBuilt: Error {}

  /// The path of the library. A script builds the library if its source is newer than the last build.
  package static let library = Result<String, any Error> {
    let script = Process()
    let output = Pipe()
    script.executableURL = Repository.root.appending(path: "Scripts/power-recorder")
    script.standardOutput = output
    try script.run()
    let printed = output.fileHandleForReading.readDataToEndOfFile()
    script.waitUntilExit()
    guard script.terminationStatus == 0 else { throw NotBuilt() }
    return String(decoding: printed.dropLast(), as: UTF8.self)
  }
}

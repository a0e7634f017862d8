import Foundation

/// The library that records what a process does to the files of a store, and lets syncs fail. Linux only.
package enum PowerRecorder {
  struct NotBuilt: Error {}

  /// The path of the library. A script builds the library if its source is newer than the last build.
  package static let library = Result<String, any Error> {
    let script = Repository.root.appending(path: "Scripts/power-recorder").path
    let (status, text) = try Process.output(of: [script], errors: .standardError)
    guard status == 0 else { throw NotBuilt() }
    return String(text.dropLast())
  }
}

import ExampleTesting
import Foundation

extension Folders {
  /// The sample that is part of the repository.
  static let sample = examples.appending(path: "Lego/Sample").path
}

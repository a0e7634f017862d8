package import LarderSystem

extension SharedTable {
  /// A table in the environment's directory, protected by its locks.
  package convenience init(_ format: Format, of environment: Environment) {
    self.init(
      format, in: environment.path, replacing: environment.locks.maps,
      owner: environment.locks.owner)
  }
}

extension Store {
  /// The version of Larder, which the shell and the example programs print; `-dev` until it is released.
  package static let version = "1.0-dev"
}

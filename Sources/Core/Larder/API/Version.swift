extension Store {
  /// The version of Larder, such as `1.0`. The version ends with `-dev` until its release.
  public static let version = "1.0-dev"
}

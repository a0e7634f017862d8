extension Store {
  /// The version of Larder, such as `1.0`; it ends with `-dev` before the release.
  public static let version = "1.0-dev"
}

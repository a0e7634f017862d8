extension CommandTable {
  /// Every command of the shell.
  package static let standard = CommandTable([
    .namespaces, .keys, .more, .count, .get, .info, .exists, .ttl, .set, .touch, .expire, .persist,
    .evict, .purge, .clear, .pin, .unpin, .sizes, .stats, .limits, .rename, .export, .import,
    .verify, .use, .output,
    .echo, .help, .quit,
  ])
}

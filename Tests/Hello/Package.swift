// swift-tools-version: 6.2
import PackageDescription

// The smallest program that uses a cache. `Scripts/hello` checks that a build fetches no package, and measures the size.
let package = Package(
  name: "hello", platforms: [.macOS(.v15)],
  dependencies: [.package(name: "larder", path: "../..", traits: [])],
  targets: [
    .executableTarget(
      name: "hello", dependencies: [.product(name: "Larder", package: "larder")], path: "Sources")
  ]
)
